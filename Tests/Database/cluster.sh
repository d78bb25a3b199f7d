#!/usr/bin/env bash
# A PostgreSQL cluster for one user of this script: starts it, prints the folder of its socket, and stops and removes it
# as soon as standard input ends, however the user ended. There is no TCP and no password; the superuser is
# `supabase_admin`, as in a Supabase project; what is written is not made durable.
set -euo pipefail
export LC_ALL=C

fail() {
    echo "cluster.sh: $1" >&2
    exit 1
}

# The newest server that is installed: Debian keeps each major version in a folder of its own.
bin="" version=0
for folder in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
    if [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ]; then
        found=$("$folder/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
        if [ "$found" -gt "$version" ]; then bin=$folder version=$found; fi
    fi
done
[ -n "$bin" ] || fail "there is no PostgreSQL server; install one, 15 or later: apt-get install postgresql"
[ "$version" -ge 15 ] || fail "PostgreSQL $version is too old: 15 or later is needed"

# A socket's path has at most 107 bytes.
parent=${TMPDIR:-/tmp}
if [ "${#parent}" -gt 60 ]; then parent=/tmp; fi
place=$(mktemp -d "$parent/otask-postgres.XXXXXX")
as=()
if [ "$(id -u)" = 0 ]; then
    # The server refuses to run as root.
    as=(runuser -u postgres --)
    chown postgres "$place"
fi
cd "$place"

remove() {
    "${as[@]}" "$bin/pg_ctl" -D "$place/data" -m immediate stop >/dev/null 2>&1 || true
    cd / && rm -rf "$place"
}
trap remove EXIT
# ^C is for the user of this script; when that ends, so does standard input.
trap '' INT HUP

"${as[@]}" "$bin/initdb" -D "$place/data" -U supabase_admin --auth=trust --encoding=UTF8 --no-locale --no-sync \
    </dev/null >"$place/initdb.log" 2>&1 || fail "initdb failed: $(tail -n 3 "$place/initdb.log")"
cat >>"$place/data/postgresql.conf" <<'END'
listen_addresses = ''
unix_socket_permissions = 0777
max_connections = 200
shared_buffers = 256MB
wal_level = logical
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = 4GB
timezone = UTC
log_timezone = UTC
END
"${as[@]}" "$bin/pg_ctl" -D "$place/data" -w -t 60 -l "$place/data/server.log" -o "-k '$place'" start </dev/null >/dev/null \
    || fail "the server did not start: $(tail -n 3 "$place/data/server.log")"
chmod 755 "$place"

echo "$place"
cat >/dev/null
