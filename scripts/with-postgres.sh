#!/usr/bin/env bash
# Run a command with a Postgres for tests: scripts/with-postgres.sh go test ./internal/store/...
#
# FAIRLEAD_TEST_POSTGRES names the server. When it is set already, that one is
# used and left alone; otherwise a temporary cluster lives as long as the command.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -z "${FAIRLEAD_TEST_POSTGRES:-}" ]; then
	bash "$here/test-postgres.sh" install
	dir=$(mktemp -d "${TMPDIR:-/tmp}/fairlead-postgres.XXXXXX")
	trap 'bash "$here/test-postgres.sh" stop "$dir"' EXIT
	# A signal ends the script, and with it, through EXIT, the cluster.
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	FAIRLEAD_TEST_POSTGRES=$(bash "$here/test-postgres.sh" start "$dir")
	export FAIRLEAD_TEST_POSTGRES
fi

"$@"
