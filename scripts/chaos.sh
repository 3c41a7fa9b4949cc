#!/usr/bin/env bash
# Two nodes on Postgres under random kill -9, SIGSTOP and restarts; then a check of
# everything they left: exactly one success a run, no overlap, no broken fence.
#
#   RUNS=10000 SECONDS_OF_CHAOS=60 SEED=... scripts/chaos.sh
#
# The seed is printed; the same one makes the same choices.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export FAIRLEAD_CHAOS_RUNS=${RUNS:-10000}
export FAIRLEAD_CHAOS_SECONDS=${SECONDS_OF_CHAOS:-60}
if [ -n "${SEED:-}" ]; then
	export FAIRLEAD_CHAOS_SEED=$SEED
fi

exec bash scripts/with-postgres.sh go test ./e2e -count=1 -run '^TestR22_Chaos$' -timeout 90m -v
