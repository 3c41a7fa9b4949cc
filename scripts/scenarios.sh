#!/usr/bin/env bash
# Which scenarios of docs/scenarios.txt no test names.
#
# A test names a scenario by its number: in its function's name (TestE7_..., Test_E7)
# or anywhere in a test file as a word of its own (a comment, a subtest's name).
# Prints the open numbers; with STRICT=1 they fail the run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Go test files and testscript archives count, and nothing else: a number in
# production code or in prose shows nothing.
named=$(find . -name '*_test.go' -o -path '*/testdata/*.txtar' -o -path '*/testdata/*.txt' | grep -v '^./ui/node_modules/' |
	xargs -r cat | grep -oE '(\b|Test|_)[ERPQAS][0-9]+(\b|_)' | grep -oE '[ERPQAS][0-9]+' | sort -u || true)

total=0
open=()
while read -r number _; do
	case "$number" in '' | '#'*) continue ;; esac
	total=$((total + 1))
	if ! grep -qx "$number" <<<"$named"; then
		open+=("$number")
	fi
done <docs/scenarios.txt

echo "scenarios: $((total - ${#open[@]})) of $total are named by a test"
if [ ${#open[@]} -gt 0 ]; then
	echo "scenarios without a test:"
	printf '%s\n' "${open[@]}" | while read -r number; do
		grep -E "^$number( |\$)" docs/scenarios.txt | sed 's/^/  /'
	done
	[ "${STRICT:-0}" != 1 ]
fi
