#!/usr/bin/env bash
# Everything that `make test` promises, in the order in which a fault is cheapest
# to find: vet, lint (where the linter is installed; LINT=1 installs it), all Go
# tests with the race detector on SQLite and Postgres, the coverage gate of the
# pure layer, and the scenarios, each of which a test must name (STRICT=0 only lists).
# With packages as arguments: vet, lint and tests of those alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${FAIRLEAD_TEST_POSTGRES:-}" ]; then
	exec bash scripts/with-postgres.sh bash scripts/test.sh "$@"
fi

packages=("${@:-./...}")

step() { printf '\n== %s\n' "$*"; }

export GOFLAGS="-buildvcs=false ${GOFLAGS:-}"

step "go vet"
go vet "${packages[@]}"

step "lint"
bash scripts/lint.sh "${packages[@]}"

step "go test -race, SQLite and Postgres"
# The race detector needs cgo; the product itself is built without it.
CGO_ENABLED=1 go test -race -timeout 40m "${packages[@]}"

if [ $# -gt 0 ]; then
	printf '\n%s: passed\n' "$*"
	exit
fi

step "coverage of the pure layer"
bash scripts/cover.sh

step "scenarios"
STRICT="${STRICT:-1}" bash scripts/scenarios.sh

# The browser tests of the UI stand here once ui/ has a package of its own.
if [ -f scripts/test-ui.sh ]; then
	step "browser tests"
	bash scripts/test-ui.sh
fi

printf '\nmake test: all passed\n'
