#!/usr/bin/env bash
# A temporary Postgres cluster for tests.
#
#   scripts/test-postgres.sh install       make sure the server's programs are there
#   scripts/test-postgres.sh start DIR     start a cluster in the empty directory DIR, print its URL
#   scripts/test-postgres.sh stop DIR      stop it and remove DIR
#
# The cluster listens on loopback only, at a random free port, behind a random
# password; fsync stays on, because tests that kill things rely on it. Postgres
# refuses to run as root, so root starts it as the user `postgres`.
set -euo pipefail

say() { echo "test-postgres: $*" >&2; }

# bindir prints the directory of the newest installed server.
bindir() {
	local newest
	newest=$(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | sort -V | tail -n 1 || true)
	if [ -n "$newest" ] && [ -x "$newest/initdb" ]; then
		echo "$newest"
		return
	fi
	if command -v initdb >/dev/null; then
		dirname "$(readlink -f "$(command -v initdb)")"
		return
	fi
	return 1
}

# as_server runs a command as the user that may own a cluster.
as_server() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u postgres -- "$@"
	else
		"$@"
	fi
}

install_server() {
	if bindir >/dev/null; then
		return
	fi
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		say "no Postgres server found: install the package postgresql (or set FAIRLEAD_TEST_POSTGRES to a server's URL)"
		return 1
	fi
	say "installing postgresql"
	# The package would make and start a cluster of its own; tests want neither.
	mkdir -p /etc/postgresql-common
	if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
		echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q >&2
	apt-get install -q -y --no-install-recommends -o Dpkg::Options::=--force-confold postgresql >&2
	bindir >/dev/null
}

random_port() { echo $((20000 + (RANDOM * 32768 + RANDOM) % 20000)); }

start() {
	local dir=$1 bin port password try
	bin=$(bindir) || {
		say "no Postgres server found"
		return 1
	}
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd -P)
	password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	(umask 077 && printf '%s\n' "$password" >"$dir/password")
	if [ "$(id -u)" = 0 ]; then
		chown -R postgres "$dir"
	fi
	cd "$dir"
	as_server "$bin/initdb" -D "$dir/data" -U postgres -A scram-sha-256 --pwfile="$dir/password" \
		-E UTF8 --locale=C >"$dir/initdb.log" 2>&1 || {
		cat "$dir/initdb.log" >&2
		return 1
	}
	cat >>"$dir/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = '$dir'
max_connections = 200
fsync = on
synchronous_commit = on
shared_buffers = 128MB
log_min_messages = warning
CONF
	# Another process may take a port between the choice and the bind: try again.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		port=$(random_port)
		if as_server "$bin/pg_ctl" -D "$dir/data" -w -t 60 -l "$dir/server.log" -o "-p $port" start >/dev/null 2>&1; then
			echo "postgres://postgres:$password@127.0.0.1:$port/postgres?sslmode=disable"
			return
		fi
	done
	cat "$dir/server.log" >&2
	say "the server did not start after $try tries"
	return 1
}

stop() {
	local dir=$1 bin
	bin=$(bindir) || return 0
	if [ -f "$dir/data/postmaster.pid" ]; then
		dir=$(cd "$dir" && pwd -P)
		(cd "$dir" && as_server "$bin/pg_ctl" -D "$dir/data" -m immediate -w -t 30 stop >/dev/null 2>&1) || true
	fi
	rm -rf "$dir"
}

case "${1:-}" in
install) install_server ;;
start) start "${2:?usage: test-postgres.sh start DIR}" ;;
stop) stop "${2:?usage: test-postgres.sh stop DIR}" ;;
*)
	sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
