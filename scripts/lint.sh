#!/usr/bin/env bash
# golangci-lint at the pinned version. Without it: skipped with a notice, or,
# with LINT=1, built from its module first (that takes some minutes).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=v2.15.0
tools="${FAIRLEAD_TOOLS:-$(go env GOPATH)/bin}"

linter=$(command -v golangci-lint || true)
if [ -z "$linter" ] && [ -x "$tools/golangci-lint" ]; then
	linter="$tools/golangci-lint"
fi
if [ -z "$linter" ]; then
	if [ "${LINT:-0}" != 1 ]; then
		echo "lint: golangci-lint is not installed: skipped (make lint installs $version)"
		exit 0
	fi
	echo "lint: building golangci-lint $version into $tools"
	# Outside the module, so that the tool's dependencies stay out of go.mod.
	(cd / && GOBIN="$tools" GOFLAGS= go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version")
	linter="$tools/golangci-lint"
fi

"$linter" run --allow-parallel-runners --timeout 20m "${@:-./...}"
