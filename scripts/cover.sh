#!/usr/bin/env bash
# Coverage of the pure layer: a figure for each package, and a gate on the whole.
#
# A statement counts when any test of the layer reaches it: the vocabulary at the
# root is used by every package above it and has little to test on its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

gate="${COVER_GATE:-95.0}"
mapfile -t pure < <(bash scripts/pure.sh)
packages=$(IFS=,; echo "${pure[*]}")

mkdir -p coverage
echo "coverage of the pure layer: ${pure[*]}"
go test -timeout 20m -coverpkg="$packages" -coverprofile=coverage/pure.out "${pure[@]}" |
	sed -e '/^\t/d' -e 's/coverage: .* of statements in .*//'

# One block appears once for each test binary: it is covered when any of them hit it.
awk -v gate="$gate" '
	NR == 1 { next }
	{
		block = $1; n[block] = $2; if ($3 > 0) hit[block] = 1
	}
	END {
		for (b in n) {
			pkg = b; sub(/\/[^\/]*:.*/, "", pkg)
			all[pkg] += n[b]; total += n[b]
			if (b in hit) { got[pkg] += n[b]; sum += n[b] }
		}
		for (p in all) printf "  %6.1f %%  %s\n", 100 * got[p] / all[p], p | "sort -k3"
		close("sort -k3")
		if (total == 0) { print "coverage: no statements"; exit 0 }
		share = 100 * sum / total
		printf "coverage of the pure layer: %.1f %% (gate %.1f %%)\n", share, gate
		if (share < gate) exit 1
	}' coverage/pure.out
