#!/usr/bin/env bash
# Two devices of one account, played with the built program: demo.sh PATH-TO-OTASK
# Everything is kept in a new directory, which the end names.
set -euo pipefail

otask=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
place=$(mktemp -d "${TMPDIR:-/tmp}/otask-demo.XXXXXX")
PATH=$(dirname "$otask"):$PATH
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi
device=.

say() { printf '\n%s\n' "$*"; }

# on DEVICE: the commands that follow run in its workspace.
on() { device=$1; }

# run COMMAND: shows it, runs it, and stops the demo where it fails.
run() { expect 0 "$1"; }

# expect CODE COMMAND: the same for a command that ends with CODE.
expect() {
    local code=0
    printf '%s%s$%s %s\n' "$bold" "${device#.}" "$plain" "$2"
    (cd "$place/$device" && eval "$2") || code=$?
    if [ "$code" != "$1" ]; then
        echo "demo.sh: this ended with $code, not $1; the files are in $place" >&2
        exit 1
    fi
}

say "Two workspaces, a laptop's and a phone's, share one embedded server:"
run "otask init laptop --demo --server server --quiet"
run "otask init phone --demo --server server --quiet"
on laptop; run "otask config set device laptop"
on phone; run "otask config set device phone"

say "A task from the command line, and one written as a file:"
on laptop
run "otask new 'Buy milk'"
run "printf '# Paint the fence\n\nTwo coats.\nAsk Nina for the ladder.\n' > tasks/fence.md"
run "otask status"
run "otask push"

say "The phone gets both:"
on phone
run "otask pull"
run "otask list"

say "Edits on both sides of one task: its notes here, its tick there."
on laptop; run "sed -i.orig 's/Two coats/Three coats/' tasks/fence.md && rm tasks/fence.md.orig"
on phone; run "otask done fence"
on laptop; run "otask sync"
on phone; run "otask sync"
say "They come together by themselves:"
on laptop; run "otask sync"
run "cat tasks/fence.md"

say "Both give it another title: that is for a person to decide."
on laptop; run "sed -i.orig 's/^# .*/# Paint the garden fence/' tasks/fence.md && rm tasks/fence.md.orig"
on phone; run "sed -i.orig 's/^# .*/# Paint the fence green/' tasks/fence.md && rm tasks/fence.md.orig"
on laptop; run "otask sync"
on phone; expect 2 "otask sync"
run "otask diff fence --server"
run "otask resolve fence --mine"
run "otask sync"
on laptop; run "otask pull"
run "head -n 6 tasks/fence.md"

say "The server refuses a title of more than 500 characters; everything else goes on:"
run "printf '# %0501d\n' 1 > tasks/long.md"
expect 2 "otask sync"
run "printf '# Short enough\n' > tasks/long.md"
run "otask sync"
run "otask list"

say "The files are in $place: laptop, phone and server. To go on:"
cat <<END
  cd $place/laptop
  $otask status
  $otask help
END
