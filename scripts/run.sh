#!/usr/bin/env bash
# Serves on 127.0.0.1:7420 (FAIRLEAD_ADDR). The first start in a home plays the demo there first, so that there is
# something to look at: a task that went its whole way, with its journal, its repository and its agents.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

home="${FAIRLEAD_HOME:-$HOME/.fairlead}"
if [ ! -e "$home/fairlead.db" ] && [ -z "${FAIRLEAD_DATABASE:-}" ]; then
	echo "run: first start in $home: playing the demo"
	./bin/fairlead demo --answer auto --home "$home"
fi
exec ./bin/fairlead serve
