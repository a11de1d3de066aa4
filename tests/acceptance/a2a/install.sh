#!/usr/bin/env bash
# Installs the official A2A SDKs, at the versions of package-lock.json, for the acceptance tests.
#
#   tests/acceptance/a2a/install.sh [DIRECTORY]      build/tools/a2a where none is given
#
# Does nothing where they are there already. The tests look in ROLLCALL_A2A_RIG, then in
# build/tools/a2a.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=${1:-$root/build/tools/a2a}
if [ -d "$target/node_modules" ] && cmp -s "$here/package-lock.json" "$target/package-lock.json"; then
  exit 0
fi
stage="$target.$$"
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage"
cp "$here/package.json" "$here/package-lock.json" "$stage"
(cd "$stage" && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund </dev/null)
rm -rf "$target"
mv "$stage" "$target"
