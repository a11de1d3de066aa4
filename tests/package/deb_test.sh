#!/usr/bin/env bash
# Makes the .deb packages and looks into them.
. "$(dirname "$0")/common.sh"
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null ||
  skip "there is no dpkg-deb or no dpkg-shlibdeps here"

# Without dpkg-shlibdeps the packages would depend on nothing, so they are not made.
mkdir "$work/bare"
for tool in dpkg-deb dpkg file readelf ar gzip tar strip; do
  path=$(command -v "$tool") && ln -s "$path" "$work/bare/$tool"
done
! (cd "$work" && PATH=$work/bare "$CPACK" -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -G DEB \
  --config "$build/CPackConfig.cmake" -B "$work/none" \
  >"$work/log" 2>&1) || fail "packages were made without dpkg-shlibdeps"
holds "$(cat "$work/log")" "no 'dpkg-shlibdeps' here"

(cd "$work" && quiet "$CPACK" -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages")
! grep -q Warning "$work/log" || fail "cpack warns: $(cat "$work/log")"
runtime=$(echo "$work"/packages/rollcall_*.deb)
development=$(echo "$work"/packages/librollcall-dev_*.deb)
[ -f "$runtime" ] && [ -f "$development" ] || fail "not two packages: $(ls "$work/packages")"

holds "$(dpkg-deb -c "$runtime")" \
  '\./usr/bin/regtool$' \
  '\./usr/lib/.*librollcall\.so\.0' \
  '\./usr/lib/.*rollcall/plugins/rollcall_backend_linux\.so$' \
  '\./usr/lib/.*rollcall/plugins/rollcall_backend_linux\.rollcall\.json$' \
  '\./usr/lib/.*rollcall/plugins/a2a_door\.so$' \
  '\./usr/share/man/man1/regtool\.1' \
  '\./usr/share/bash-completion/completions/regtool$' \
  '\./usr/share/zsh/vendor-completions/_regtool$' \
  '\./usr/share/fish/vendor_completions\.d/regtool\.fish$' \
  '\./usr/share/doc/rollcall/copyright$' \
  '\./usr/share/doc/rollcall/changelog\.Debian\.gz$'
holds "$(dpkg-deb -c "$development")" \
  '\./usr/include/rollcall/plugin\.h$' \
  '\./usr/include/rollcall/rollcall\.h$' \
  '\./usr/include/rollcall/host\.hpp$' \
  '\./usr/lib/.*librollcall\.so -> librollcall\.so\.0' \
  '\./usr/lib/.*cmake/Rollcall/RollcallConfig\.cmake$' \
  '\./usr/lib/.*cmake/Rollcall/RollcallPlugin\.cmake$'
contents=$(dpkg-deb -c "$runtime")
! grep -q /usr/include <<<"$contents" || fail "the runtime package holds headers"
! grep -qE '^[^l](.{4}w|.{7}w)' <<<"$contents" || fail "a file that others may write to"

holds "$(dpkg-deb --ctrl-tarfile "$runtime" | tar -xOf - ./shlibs)" '^librollcall 0\.[0-9]+ rollcall \(>= '
holds "$(dpkg-deb -f "$runtime" Depends)" 'libpoco' 'libc6'
holds "$(dpkg-deb -f "$development" Depends)" 'rollcall \(= ' 'libexpected-dev'
holds "$(dpkg-deb -f "$runtime" Description)" '^proves which recorded sessions' '^ This package holds regtool'
holds "$(dpkg-deb -f "$development" Description)" '^headers for hosts and plugins'

# What was packed runs from where it was unpacked.
quiet dpkg-deb -x "$runtime" "$work/root"
quiet "$work/root/usr/bin/regtool" --version
