#!/usr/bin/env bash
# The import paths of the pure layer (docs/ARCHITECTURE.md, L0 and L1) that exist, one a line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo .
for dir in workflow engine policy schedule program; do
	if [ -d "internal/$dir" ]; then
		find "internal/$dir" -name '*.go' ! -name '*_test.go' -printf './%h\n' | sort -u
	fi
done
