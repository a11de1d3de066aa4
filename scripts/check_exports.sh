#!/usr/bin/env bash
# Checks what a plugin's file exports: exactly rollcall_plugin_v1, whatever the platform. Of a
# library for macOS also the lowest macOS, the signature that arm64 asks for, and that it needs
# libSystem only; of a DLL, that it needs no library of the compiler's.
#
#   scripts/check_exports.sh FILE...
#
# Exits 77 where the tool for it is not installed.
set -euo pipefail

readonly ENTRY=rollcall_plugin_v1 MACOS_MIN=11.0

failed=0
no() { printf '%s: %s\n' "$file" "$*" >&2; failed=1; }
need() {
  command -v "$1" >/dev/null && return 0
  echo "skipped: there is no $1 (scripts/deps.sh cross)" >&2
  exit 77
}

# only_entry NAME...: whether that is the entry alone.
only_entry() {
  [ "$*" = "$ENTRY" ] || no "exports '$*', and should export $ENTRY alone"
}

check_elf() {
  need nm
  only_entry $(nm -D --defined-only --format=just-symbols "$file")
}

check_pe() {
  local tool=x86_64-w64-mingw32-objdump library
  need $tool
  only_entry $($tool -p "$file" | awk '
    /^\[Ordinal\/Name Pointer\] Table/ { table = 1; next }
    table && /^[ \t]*\[ *[0-9]+\]/ { print $NF; next }
    table && NF == 0 { exit }')
  for library in $($tool -p "$file" | sed -n 's/^[ \t]*DLL Name: //p'); do
    case ${library,,} in
      lib*) no "needs $library, which Windows does not have" ;;
    esac
  done
}

check_macho() {
  local arch library
  need llvm-objdump-14
  need llvm-lipo-14
  for arch in $(llvm-lipo-14 -archs "$file"); do
    local dump=(llvm-objdump-14 --macho --arch="$arch")
    only_entry $("${dump[@]}" --exports-trie "$file" | awk '$1 ~ /^0x/ { sub(/^_/, "", $2); print $2 }')
    "${dump[@]}" --private-headers "$file" | awk '$1 == "minos" { print $2 }' |
      grep -qx "$MACOS_MIN" || no "$arch: its lowest macOS is not $MACOS_MIN"
    [ "$arch" != arm64 ] ||
      "${dump[@]}" --private-headers "$file" | grep -q LC_CODE_SIGNATURE || no "arm64: not signed"
    for library in $("${dump[@]}" --dylibs-used "$file" | awk 'NR > 1 { print $1 }'); do
      case $library in
        @rpath/* | /usr/lib/libSystem.B.dylib) ;;
        *) no "$arch: needs $library" ;;
      esac
    done
  done
}

[ $# -gt 0 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
for file; do
  case $(head -c 4 "$file" | od -An -tx1 | tr -d ' \n') in
    7f454c46) check_elf ;;
    4d5a*) check_pe ;;
    cffaedfe | cafebabe) check_macho ;;
    *) no "is no library that this script knows" ;;
  esac
done
exit $failed
