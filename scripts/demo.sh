#!/usr/bin/env bash
# Shows on real processes what Rollcall tells apart, and checks every answer.
#
#   scripts/demo.sh               installs what it needs, builds, and runs the demo
#   scripts/demo.sh --no-deps     without scripts/deps.sh
#
# It starts three sessions in a home of its own, kills one, suspends one, forges a record, and puts
# a stranger on the dead session's pid. It exits 1 as soon as one answer is not the right one, and
# leaves nothing behind.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."

case ${1:-} in
  '') scripts/deps.sh build ;;
  --no-deps) ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

say() { printf '\n'; printf '# %s\n' "$@"; }
wrong() { printf '\ndemo: WRONG: %s\n' "$*" >&2; exit 1; }

mkdir -p build
echo "building (the log is build/demo.log) ..."
if ! { cmake --preset install -B build/demo &&
  cmake --build build/demo -j "$(nproc)" --target regtool_with_plugins; } >build/demo.log 2>&1; then
  tail -n 40 build/demo.log >&2
  wrong "the build failed"
fi
regtool=$PWD/build/demo/bin/regtool

ROLLCALL_HOME=$(mktemp -d)
export ROLLCALL_HOME
unset ROLLCALL_PLUGIN_PATH ROLLCALL_SESSION_ID
strangers=()
cleanup() {
  local id
  for id in alpha bravo charlie; do "$regtool" kill "$id" >/dev/null 2>&1 || true; done
  [ ${#strangers[@]} -eq 0 ] || kill "${strangers[@]}" 2>/dev/null || true
  rm -rf "$ROLLCALL_HOME"
}
trap cleanup EXIT

# expect CODE REGEX ARGS...: runs regtool, shows what it says, and checks exit code and answer. The
# answer is stdout and stderr.
expect() {
  local code=$1 pattern=$2 answer status=0
  shift 2
  printf '\n$ regtool %s\n' "$*"
  answer=$("$regtool" "$@" 2>&1) || status=$?
  printf '%s\n[exit %d]\n' "$answer" "$status"
  [ "$status" = "$code" ] || wrong "regtool $* exited $status, not $code"
  grep -Eqi -- "$pattern" <<<"$answer" || wrong "regtool $* did not say /$pattern/"
}

record() { printf '%s/running/%s.json' "$ROLLCALL_HOME" "$1"; }
pid_of() { grep -Eo '"pid" *: *[0-9]+' "$(record "$1")" | head -n 1 | grep -Eo '[0-9]+'; }
is_running() { [ -e "/proc/$1/stat" ] && ! grep -q '^State:.*zombie' "/proc/$1/status"; }
await() {
  local tries=100
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || wrong "waited in vain for: $*"
    sleep 0.05
  done
}
is_live() { "$regtool" verify "$1" >/dev/null 2>&1; }
has_ended() { ! is_running "$1"; }
is_stopped() { grep -q '^State:.*stopped' "/proc/$1/status"; }

say "Three sessions. Each leaves a record and answers on a door of its own."
for id in alpha bravo; do
  "$regtool" run --detach --session "$id" --name demo -- sleep 1000 >/dev/null ||
    wrong "session $id could not be started"
done
# This one is a child of ours, so that its end is taken note of at once and its pid is free again.
# Disowned: bash is not to report that it was killed.
"$regtool" run --session charlie --name demo -- sleep 1000 &
disown
await test -e "$(record charlie)"
alpha=$(pid_of alpha) bravo=$(pid_of bravo) charlie=$(pid_of charlie)
expect 0 'alpha.* live' ps
[ "$(grep -c ' live ' <<<"$("$regtool" ps)")" = 3 ] || wrong "not all three sessions are live"

say "charlie is killed: its record says that it runs, and it cannot take that back." \
  "bravo is suspended: it holds its pid and its door, and answers nobody." \
  "delta never was: its record is alpha's, with the pid of a process that has nothing to do with it."
kill -KILL "$charlie"
await has_ended "$charlie"
kill -STOP "$bravo"
await is_stopped "$bravo"
sleep 1000 &
decoy=$!
strangers+=("$decoy")
(
  umask 077
  sed -E -e 's/("session_id" *: *)"alpha"/\1"delta"/' -e "s/(\"pid\" *: *)$alpha/\1$decoy/" \
    "$(record alpha)" >"$(record delta)"
)
expect 0 'alpha.* live' ps --no-prune --all --wide
expect 0 'bravo.* unreachable' ps --no-prune --all
expect 0 'charlie.* gone' ps --no-prune --all
expect 0 'delta.* gone' ps --no-prune --all

say "Why? Each layer in turn: is the pid held, by the very process, and does its door name it?"
expect 0 'live' verify alpha --explain
expect 3 'suspended' verify bravo --explain
expect 1 "no process holds pid $charlie" verify charlie --explain
expect 1 "pid $decoy is held by a process that started at another time" verify delta --explain

# take_pid PID: starts a stranger that holds it. Wants the right to choose the next pid.
take_pid() {
  local tries=50
  [ -w /proc/sys/kernel/ns_last_pid ] || return 1
  while [ $tries -gt 0 ]; do
    tries=$((tries - 1))
    { echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; } 2>/dev/null || return 1
    sleep 1000 &
    [ $! != "$1" ] || return 0
    kill $! && wait $! 2>/dev/null || true
  done
  return 1
}
if take_pid "$charlie"; then
  strangers+=("$charlie")
  say "The pid that charlie had is given to a stranger, as the kernel does by itself in time."
  expect 1 "pid $charlie is held by a process that started at another time" verify charlie --explain
else
  say "(The next pid could not be chosen here, which takes root. delta has shown the same case.)"
fi

say "stop signals what was proven, and nothing else."
expect 0 'gone' stop charlie
expect 0 'gone' stop delta
for stranger in "${strangers[@]}"; do
  is_running "$stranger" || wrong "the stranger on pid $stranger was signalled"
done
echo "(the strangers on those pids run on)"

say "bravo goes on, and is live again."
kill -CONT "$bravo"
await is_live bravo
expect 0 'live' verify bravo

say "Suspended once more, it is asked to end and does not: Rollcall says so, and does not make it." \
  "That takes --force."
kill -STOP "$bravo"
await is_stopped "$bravo"
expect 1 'still there' stop bravo
expect 0 'ended' stop bravo --force

say "alpha ends when it is asked to."
expect 0 'ended' stop alpha
for pid in "$alpha" "$bravo"; do has_ended "$pid" || wrong "pid $pid was said to have ended"; done

say "What ended, and what was proven gone, has left the list."
expect 0 'no running sessions' ps

say "Every answer was the right one."
