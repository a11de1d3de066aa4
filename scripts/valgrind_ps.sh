#!/usr/bin/env bash
# Runs `regtool ps` under valgrind over a small home of its own; fails on any error or leak.
#
#   scripts/valgrind_ps.sh REGTOOL
set -euo pipefail
umask 022
regtool=${1:?usage: scripts/valgrind_ps.sh REGTOOL}

home=$(mktemp -d)
sleep 600 &
alive=$!
sleep 600 &
dead=$!
trap 'kill "$alive" 2>/dev/null || true; rm -rf "$home"' EXIT
export ROLLCALL_HOME=$home

"$regtool" register --session alive --pid "$alive" --name one --version 1
"$regtool" register --session dead --pid "$dead" --name two --version 1
kill -9 "$dead"
wait "$dead" 2>/dev/null || true

# valgrind says at each pidfd_open that it does not know it; its words are shown on a failure only.
check() {
  valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
    --log-file="$home/valgrind.log" "$regtool" "$@" || {
    cat "$home/valgrind.log" >&2
    return 1
  }
}
check ps --no-prune --all
check ps --json >/dev/null
echo "valgrind: regtool ps is clean"
