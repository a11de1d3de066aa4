# Sourced by the tests of this folder.
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
child=
cleanup() {
  [ -z "$child" ] || kill "$child" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
unset ROLLCALL_HOME ROLLCALL_PLUGIN_PATH DESTDIR

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

# quiet COMMAND...: shows the command's words only where it fails.
quiet() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }
}

# holds TEXT-WITH-LINES LINE...: each line is there.
holds() {
  local text=$1 line
  shift
  for line in "$@"; do grep -qE -- "$line" <<<"$text" || fail "nothing like $line in: $text"; done
}
