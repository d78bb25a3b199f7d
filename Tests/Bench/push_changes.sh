#!/usr/bin/env bash
# How the time of push_changes grows, on a PostgreSQL server of this script's own: a batch of 500 beside one of 100, and
# the last batches of fifty on one connection beside the first. Medians of five, as ratios: what grows with the batch
# should give 5, what doesn't grow with the table 1.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

coproc cluster { exec Tests/Database/cluster.sh; }
read -r PGHOST <&"${cluster[0]}"
export PGHOST

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
sql -U supabase_admin -d postgres -c 'create database fixture'
sql -U supabase_admin -d fixture -f Tests/Database/fixture.sql

# measure NAME: a new database, and in it on one connection what standard input says; one number of milliseconds a line.
measure() {
    sql -U supabase_admin -d postgres -c "create database $1 owner postgres template fixture"
    cat template/supabase/migrations/*.sql | sql -U postgres -d "$1"
    sql -U postgres -d "$1" -c "insert into auth.users (id) values ('11111111-1111-4111-8111-111111111111')"
    { setup; cat; } | sql -U postgres -d "$1" | sed '/^$/d'
}

setup() {
    cat <<'END'
create function pg_temp.batch(size int, notes int) returns numeric language plpgsql as $$
declare
    changes jsonb;
    start timestamptz;
begin
    select jsonb_agg(jsonb_build_object(
        'change_id', gen_random_uuid(), 'device', 'laptop', 'table', 'tasks', 'op', 'upsert', 'id', gen_random_uuid(),
        'base_version', null, 'fields', jsonb_build_object('title', 'Task ' || n, 'notes', repeat('note ', notes / 5))))
    into changes from generate_series(1, size) n;
    start := clock_timestamp();
    perform public.push_changes(changes);
    return round(extract(epoch from clock_timestamp() - start) * 1000, 1);
end
$$;
set role authenticated;
set "request.jwt.claims" = '{"sub": "11111111-1111-4111-8111-111111111111", "role": "authenticated"}';
END
}

median() { sort -n | sed -n 3p; }

# line WORDS MILLISECONDS MILLISECONDS LIMIT
line() { awk -v words="$1" -v a="$2" -v b="$3" -v most="$4" \
    'BEGIN { printf "%-44s %8.1f ms %8.1f ms %6.1f (at most %s)\n", words, a, b, b / a, most }'; }

# The sizes by turns, after one of each that warms up.
printf '%-44s %11s %11s %6s\n' push_changes before after ratio
for notes in 0 2000; do
    for turn in 0 1 2 3 4 5; do
        echo "select pg_temp.batch(100, $notes); select pg_temp.batch(500, $notes);"
    done | measure "notes_$notes" | tail -n 10 | paste - - | {
        times=$(cat)
        line "500 changes beside 100, $notes bytes of notes" \
            "$(cut -f 1 <<<"$times" | median)" "$(cut -f 2 <<<"$times" | median)" 6
    }
done
times=$(for ((turn = 0; turn < 50; turn++)); do echo 'select pg_temp.batch(500, 300);'; done | measure fifty)
line 'batches 46 to 50 beside 1 to 5' "$(head -n 5 <<<"$times" | median)" "$(tail -n 5 <<<"$times" | median)" 1.5
