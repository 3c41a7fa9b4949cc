#!/usr/bin/env bash
# Runs every fuzz target of the repository for FUZZTIME (default 10s), one after the other.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

found=0
while IFS=: read -r file target; do
	found=$((found + 1))
	echo "fuzz: $target in $(dirname "$file")"
	go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-10s}"
done < <(grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed 's/func //; s|^\./||' | sort)
echo "fuzz: $found targets"
