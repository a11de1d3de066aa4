#!/usr/bin/env bash
# Checks that a library for macOS imports what a list names and nothing else.
#
#   check_imports.sh FILE LIST
#
# Exits 77 where llvm-nm is not installed.
set -euo pipefail
export LC_ALL=C
command -v llvm-nm-14 >/dev/null || { echo "skipped: there is no llvm-nm-14 (scripts/deps.sh cross)" >&2; exit 77; }
imports=$(llvm-nm-14 --undefined-only --just-symbol-name "$1" | sort -u)
[ -n "$imports" ] || { echo "$1 imports nothing" >&2; exit 1; }
extra=$(comm -23 <(echo "$imports") <(sort -u "$2"))
[ -z "$extra" ] || { echo "$1 imports what $2 does not list:" $extra >&2; exit 1; }
for needed in _proc_pidinfo _kill _kevent _sysctl; do
  grep -qx "$needed" <<<"$imports" || { echo "$1 does not import $needed" >&2; exit 1; }
done
