#!/usr/bin/env bash
# Installs into a folder of its own; builds the example host and the C probe against that and nothing
# else; runs the one and loads the other.
. "$(dirname "$0")/common.sh"

# A careless umask must not make a plugin folder that is refused afterwards.
umask 002
prefix=$work/prefix
quiet "$CMAKE" --install "$build" --prefix "$prefix"
umask 022
[ -z "$(find "$prefix" ! -type l -perm /022)" ] ||
  fail "others may write to $(find "$prefix" ! -type l -perm /022 | head -n 3)"
regtool=$prefix/bin/regtool

# The installed command finds the installed backend, and every plugin loads.
listing=$("$regtool" plugins)
holds "$listing" "rollcall_backend_linux"
! grep -qi refused <<<"$listing" || fail "an installed plugin is refused: $listing"

# Where the shells look, below /usr/local for one.
for file in bash-completion/completions/regtool zsh/site-functions/_regtool \
  fish/vendor_completions.d/regtool.fish; do
  [ -f "$prefix/share/$file" ] || fail "share/$file is not installed"
done

# The installed documents link to nothing that was not installed.
documents=$prefix/share/doc/rollcall
[ -f "$documents/docs/json.md" ] || fail "docs/json.md is not installed"
while IFS=: read -r document target; do
  target=${target#](}
  target=${target%%[)#]*}
  case $target in '' | *://*) continue ;; esac
  [ -e "$(dirname "$document")/$target" ] || fail "${document#"$prefix/"} links to $target"
done < <(grep -rHo --include='*.md' ']([^) ]*)' "$documents")

# The example host.
quiet "$CMAKE" -S "$source/examples" -B "$work/host" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quiet "$CMAKE" --build "$work/host"
export ROLLCALL_HOME=$work/home
[ -z "$("$work/host/host" "$ROLLCALL_HOME")" ] || fail "a missing home is not an empty one"
sleep 600 &
child=$!
quiet "$regtool" register --session from.outside --pid "$child" --name outside --version 1
holds "$("$work/host/host" "$ROLLCALL_HOME")" '^from.outside live'
kill -KILL "$child"
wait "$child" 2>/dev/null || true
holds "$("$work/host/host" "$ROLLCALL_HOME")" "^from.outside gone no process holds pid $child"
child=

# The same in C, without a C++ compiler.
quiet "$CMAKE" -S "$source/examples/c" -B "$work/chost" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quiet "$CMAKE" --build "$work/chost"
holds "$("$work/chost/host_c" "$ROLLCALL_HOME")" "^from.outside gone"

# The example plugins: probe and store in plain C, and the door in C++.
mkdir "$work/plugins"
for example in stat_probe line_store banner_door; do
  cp -r "$source/plugins/examples/$example" "$work/plugins"
  quiet "$CMAKE" -S "$work/plugins/$example" -B "$work/plugins/$example/build" -G Ninja \
    -DCMAKE_PREFIX_PATH="$prefix"
  quiet "$CMAKE" --build "$work/plugins/$example/build"
  library=$(find "$work/plugins/$example/build" -name "$example.so")
  [ -f "${library%.so}.rollcall.json" ] || fail "$example has no manifest beside it"
  [ "$(nm -D --defined-only "$library" | grep -c .)" = 1 ] || fail "$example exports more than its entry"
  quiet "$regtool" plugins check "$library"
  holds "$("$regtool" --plugin "$library" plugins)" "loaded .*$library"
done
