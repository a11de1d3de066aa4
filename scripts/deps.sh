#!/usr/bin/env bash
# Installs the packages that Rollcall needs on Debian 12: the one place where they are named.
#
#   scripts/deps.sh [build] [test] [bench]      without arguments: all three
#   scripts/deps.sh build package               to install, and to make the .deb packages
#   scripts/deps.sh cross                       to build for Windows and macOS, and to run Wine
#   scripts/deps.sh peers                       what bench/peers measures in comparison
#
# As root it needs no sudo. When everything is there it asks nothing of the network. The acceptance
# tests of the doors want Node 20: where the system's is older, the npm package `node` is put into
# build/tools/node, and scripts/test.sh uses it from there.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."

# To compile: compilers, and the libraries that docs/dependencies.md gives reasons for.
build=(g++ cmake ninja-build ccache git libpoco-dev rapidjson-dev libcli11-dev libexpected-dev
  libfmt-dev)
# To make the .deb packages, beside build: without these their dependencies would be missing.
package=(dpkg-dev file)
# To test: the frameworks, a second compiler for the ABI header, the pinned formatter, what the
# tests watch processes with, the shells that are completed, a server that others wrote, what makes
# a .deb.
test=(libgtest-dev libgmock-dev clang clang-format-14 valgrind strace tmux zsh fish procps iproute2
  util-linux mount jupyter-server "${package[@]}")
# To measure.
bench=(libgtest-dev libgmock-dev libbenchmark-dev procps)
peers=(python3 python3-psutil)
# To build for Windows and macOS and to test that (scripts/cross.sh brings what is no package).
cross=(g++-mingw-w64-x86-64-posix binutils-mingw-w64-x86-64 wine64 wine lld-14 llvm-14 googletest
  openssl patch bzip2 "${build[@]}")

readonly NODE_MAJOR=20 NODE_PIN=20.20.2

say() { printf 'deps: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

node_major() { "$1" --version 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p'; }
has_node() {
  local major
  major=$(node_major "$1") && [ -n "$major" ] && [ "$major" -ge "$NODE_MAJOR" ]
}

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      printf '%s\n' "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@" | sort -u)
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "these packages are missing, and there is neither root nor sudo to install them:" \
      "${missing[*]}"
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y \
      --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    rm -f "$log"
    die "apt-get failed; its last lines are above"
  fi
  rm -f "$log"
}

# Node for the acceptance tests. Its absence costs those tests only, so a failure is a warning.
install_node() {
  has_node node && command -v npm >/dev/null && return 0
  has_node build/tools/node/bin/node && return 0
  command -v node >/dev/null || install_packages nodejs
  command -v npm >/dev/null || install_packages npm
  has_node node && return 0
  say "node is $(node --version), older than $NODE_MAJOR: taking the npm package node@$NODE_PIN"
  local stage
  mkdir -p build/tools
  stage=$(mktemp -d build/tools/node.XXXXXX)
  if npm install --silent --no-audit --no-fund --no-save --prefix "$stage" "node@$NODE_PIN" \
    >/dev/null </dev/null && has_node "$stage/node_modules/node/bin/node"; then
    mkdir -p build/tools/node/bin
    cp "$stage/node_modules/node/bin/node" build/tools/node/bin/node
  else
    say "node@$NODE_PIN could not be installed: the acceptance tests of the doors will be skipped"
  fi
  rm -rf "$stage"
}

# The official A2A SDKs, which the doors are held against. npm runs on the Node that it came with,
# which trusts what the system trusts; the one under build/tools has certificates of its own.
install_a2a() {
  has_node node || has_node build/tools/node/bin/node || return 0
  local words
  words=$(tests/acceptance/a2a/install.sh 2>&1 >/dev/null) ||
    say "the A2A SDKs could not be installed, and the acceptance tests of the doors will be" \
      "skipped; npm says:" "$(tail -n 5 <<<"$words")"
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  die "this script knows Debian; elsewhere install what these are: ${build[*]} ${test[*]} ${bench[*]}"

wanted=()
node=0
npm=0
[ $# -gt 0 ] || set -- build test bench
for group in "$@"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}"); node=1 ;;
    package) wanted+=("${package[@]}") ;;
    bench) wanted+=("${bench[@]}") ;;
    peers) wanted+=("${peers[@]}") ;;
    cross) wanted+=("${cross[@]}"); npm=1 ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) die "unknown group '$group': build, package, test, bench, cross or peers" ;;
  esac
done
install_packages "${wanted[@]}"
[ "$npm" = 0 ] || command -v npm >/dev/null || install_packages npm
[ "$node" = 0 ] || { install_node; install_a2a; }
