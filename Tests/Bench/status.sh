#!/usr/bin/env bash
# How long `otask status` takes beside `git status` on the same files: status.sh PATH-TO-OTASK COUNT...
# Medians of 21 runs each, in turns, with nothing changed since the last sync and the last commit.
set -euo pipefail
export LC_ALL=C

otask=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
place=$(mktemp -d "${TMPDIR:-/tmp}/otask-bench.XXXXXX")
trap 'rm -rf "$place"' EXIT
export XDG_STATE_HOME=$place/state GIT_CONFIG_GLOBAL=/dev/null

# microseconds COMMAND...
microseconds() {
    local start=${EPOCHREALTIME/./}
    "$@" >/dev/null
    echo $((${EPOCHREALTIME/./} - start))
}

median() { sort -n | sed -n 11p; }

printf '%8s %14s %14s %8s\n' files 'otask status' 'git status' ratio
for count in "$@"; do
    work=$place/$count
    "$otask" init "$work" --demo --quiet
    for ((index = 0; index < count; index++)); do
        printf -- '---\ndone: false\n---\n# Task %d\n\nNotes of task %d.\n' "$index" "$index" > "$work/tasks/task-$index.md"
    done
    cd "$work"
    "$otask" sync --quiet
    sleep 3 # entries as young as the clock's doubt would be hashed again, by both
    git init -q . && printf '.otask/\n' > .git/info/exclude && git add . && git -c user.name=b -c user.email=b@b commit -qm files
    "$otask" status >/dev/null && git status >/dev/null
    : > "$place/otask" && : > "$place/git"
    for ((turn = 0; turn < 21; turn++)); do
        microseconds "$otask" status >> "$place/otask"
        microseconds git status >> "$place/git"
    done
    ours=$(median < "$place/otask") theirs=$(median < "$place/git")
    printf '%8d %11d µs %11d µs %8s\n' "$count" "$ours" "$theirs" "$(awk "BEGIN { printf \"%.1f\", $ours / $theirs }")"
    cd "$place"
done
