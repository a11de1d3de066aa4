#!/usr/bin/env bash
# Runs a Windows program of a cross build, headless, with its exit code (of which 8 bits arrive).
#
#   scripts/wine.sh PROGRAM.exe ARG...      what ctest runs programs of the preset `mingw` with
#   scripts/wine.sh --prepare               only makes the prefix
#   scripts/wine.sh --stop                  ends everything that runs in the prefix
#
#   ROLLCALL_WINE_TIMEOUT   seconds until a program is killed (600)
#   ROLLCALL_CACHE          where the prefix is (~/.cache/rollcall)
#
# The prefix is made once; one call at a time makes it, the others wait. Wine's server stays for a
# minute after its last program, so that the next one starts in a tenth of a second.
set -euo pipefail
umask 022

readonly cache=${ROLLCALL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rollcall}
readonly base=$cache/wine-1
readonly linger=60 limit=${ROLLCALL_WINE_TIMEOUT:-600}

# HOME is the prefix's own: Wine links folders of its user into it.
export HOME=$base WINEPREFIX=$base/prefix WINEARCH=win64 WINEDEBUG=${WINEDEBUG:--all}
export WINEDLLOVERRIDES='mscoree=;mshtml=;winemenubuilder.exe='
unset DISPLAY WAYLAND_DISPLAY

die() { printf 'wine: %s\n' "$*" >&2; exit 125; }

wine=$(command -v wine64 || command -v wine) || die "Wine is not installed (scripts/deps.sh cross)"
server=$(command -v wineserver || ls /usr/lib/wine/wineserver64 /usr/lib/wine/wineserver 2>/dev/null |
  head -n 1) || true
[ -n "$server" ] || die "there is no wineserver"

# Every step has an end and writes to a file: a server of Wine keeps what it inherits open.
make_prefix() {
  rm -rf "$base"
  mkdir -p "$base"
  {
    timeout -k 5 180 "$wine" wineboot -i
    timeout -k 5 60 "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f
    timeout -k 5 60 "$server" -w
  } >"$base/log" 2>&1 </dev/null || die "Wine's prefix could not be made; see $base/log"
  : >"$base/ready"
}

prepare() {
  [ ! -e "$base/ready" ] || return 0
  mkdir -p "$cache"
  exec 9>"$cache/.wine.lock"
  flock 9
  [ -e "$base/ready" ] || make_prefix 9>&-
  exec 9>&-
}

[ $# -gt 0 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2; }
if [ "$1" = --stop ]; then
  timeout -k 5 30 "$server" -k >/dev/null 2>&1 </dev/null || :
  exit 0
fi
prepare
# Does nothing where one runs already.
timeout -k 5 20 "$server" -p$linger >/dev/null 2>&1 </dev/null || :
[ "$1" != --prepare ] || exit 0

out=$(mktemp -d "${TMPDIR:-/tmp}/rollcall-wine.XXXXXX")
trap 'rm -rf "$out"' EXIT
trap 'exit 143' TERM INT HUP
status=0
if [ /dev/stdout -ef /dev/stderr ]; then
  timeout --foreground -k 10 "$limit" "$wine" "$@" >"$out/both" 2>&1 || status=$?
  cat "$out/both"
else
  timeout --foreground -k 10 "$limit" "$wine" "$@" >"$out/out" 2>"$out/err" || status=$?
  cat "$out/out"
  cat "$out/err" >&2
fi
[ $status != 124 ] || printf 'wine: killed after %s seconds: %s\n' "$limit" "$*" >&2
exit $status
