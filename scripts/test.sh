#!/usr/bin/env bash
# Builds Rollcall and runs its tests.
#
#   scripts/test.sh                  formatting, the dev build and its tests, valgrind, the demo
#   scripts/test.sh --all            that, and the tests under ASan+UBSan and under TSan
#   scripts/test.sh --cross          the builds for Windows and macOS: the tests of the one under
#                                    Wine, of the other what can be told from its files
#   scripts/test.sh --dev|--asan|--tsan|--format|--valgrind|--demo|--bench ...    only these
#   scripts/test.sh ... --no-deps    without scripts/deps.sh
#   scripts/test.sh ... -- ARGS      ARGS for ctest, e.g. -- -R Classify
#
# It runs every stage that was asked for, says what was skipped and why, and exits 1 when one of
# them failed.
set -uo pipefail
umask 022
cd "$(dirname "$0")/.." || exit 1

usage() { sed -n '2,13s/^# \{0,1\}//p' "$0"; }

stages=()
deps=1
ctest_args=()
while [ $# -gt 0 ]; do
  case $1 in
    --all) stages+=(format dev valgrind demo asan tsan) ;;
    --dev | --asan | --tsan | --format | --valgrind | --demo | --bench | --cross) stages+=("${1#--}") ;;
    --no-deps) deps=0 ;;
    --) shift; ctest_args=("$@"); break ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; echo "test: unknown option '$1'" >&2; exit 2 ;;
  esac
  shift
done
[ ${#stages[@]} -gt 0 ] || stages=(format dev valgrind demo)

# A compiler cache that was filled in one checkout serves another.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

title() { printf '\n== %s\n' "$*"; }

# build_preset PRESET [PREFIX...]: builds a preset, all of it or $target, and prints the compiler's
# words only where it failed.
build_preset() {
  local preset=$1 log=build/$1.log
  shift
  mkdir -p build
  if ! { cmake --preset "$preset" &&
    "$@" cmake --build --preset "$preset" ${target:+--target "$target"}; } >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "test: building the preset '$preset' failed; the whole log is $log"
    return 1
  fi
}

# "skipped: NAME: reason" for each test that ctest's log of this run says was skipped.
list_skipped() {
  awk '
    /^\[ RUN      \] / { name = $4; next }
    /: Skipped$/ { want = 1; reason = ""; next }
    want && /^\[  SKIPPED \]/ { print "skipped: " name ": " reason; want = 0; next }
    want && NF { reason = reason (reason == "" ? "" : " ") $0 }
  ' "build/$1/Testing/Temporary/LastTest.log" 2>/dev/null | sort -u
}

# ThreadSanitizer of g++ 12 cannot place its shadow where the kernel scatters mappings widely.
quiet_layout() {
  if [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ] &&
    setarch -R true 2>/dev/null; then
    setarch -R "$@"
  else
    "$@"
  fi
}

run_tests() {
  local preset=$1 status=0
  build_preset "$preset" quiet_layout || return 1
  quiet_layout ctest --preset "$preset" "${ctest_args[@]}" </dev/null || status=1
  list_skipped "$preset"
  return $status
}

stage_dev() { run_tests dev; }

stage_asan() {
  ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:${ASAN_OPTIONS:-} \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-} run_tests asan
}

stage_tsan() {
  TSAN_OPTIONS=second_deadlock_stack=1:suppressions=$PWD/tests/tsan.supp:${TSAN_OPTIONS:-} \
    run_tests tsan
}

stage_format() {
  local formatter
  formatter=$(command -v clang-format-14) || {
    echo "skipped: formatting: there is no clang-format-14"
    return 0
  }
  git ls-files -z '*.cpp' '*.hpp' '*.c' '*.h' | xargs -0 -r "$formatter" --dry-run --Werror
}

# The whole of `regtool ps` under valgrind, over a record of a live process and one of a dead one.
# valgrind 3.19 knows no pidfd_open, so this is the stat path.
stage_valgrind() {
  command -v valgrind >/dev/null || {
    echo "skipped: valgrind: it is not installed"
    return 0
  }
  build_preset dev || return 1
  scripts/valgrind_ps.sh build/dev/bin/regtool
}

# The demo is built as what is installed: optimized, where the compiler warns of more.
stage_demo() { scripts/demo.sh --no-deps; }

# cross_target TARGET PRESET: skipped, and said so, where its toolchain or libraries cannot be had.
cross_target() {
  local log=build/cross-$1.log
  mkdir -p build
  local status=0
  scripts/cross.sh "$1" >"$log" 2>&1 || status=$?
  if [ $status = 77 ]; then
    echo "skipped: $1: $(tail -n 1 "$log")"
    return 0
  elif [ $status != 0 ]; then
    tail -n 40 "$log"
    return 1
  fi
  build_preset "$2" || return 1
  if [ "$1" = windows ] && ! scripts/wine.sh --prepare; then
    echo "skipped: the tests of $1: there is no Wine that works here"
    return 0
  fi
  ctest --preset "$2" "${ctest_args[@]}" </dev/null || status=1
  list_skipped "$2"
  return $status
}

# The tests that drive the machine code of the macOS backend on this system.
macos_machine_code() {
  ls build/macos-x86_64/lib/rollcall/plugins/*.dylib >/dev/null 2>&1 || return 0
  target=backend_macos_test build_preset dev || return 1
  ctest --preset dev -R '^Dylib' --no-tests=error "${ctest_args[@]}" </dev/null
}

stage_cross() {
  if ! scripts/deps.sh cross; then
    echo "skipped: Windows and macOS: the packages for them cannot be installed"
    return 0
  fi
  local status=0
  cross_target windows mingw || status=1
  cross_target macos-x86_64 macos-x86_64 || status=1
  macos_machine_code || status=1
  cross_target macos-arm64 macos-arm64 || status=1
  return $status
}

stage_bench() { bench/run.sh; }

if [ $deps = 1 ]; then
  groups=(build)
  [ "${stages[*]}" = cross ] || groups+=(test)
  [[ " ${stages[*]} " != *" bench "* ]] || groups+=(bench)
  # The dev preset builds the benchmarks, so that they cannot rot.
  [[ " ${stages[*]} " != *" dev "* && " ${stages[*]} " != *" valgrind "* ]] || groups+=(bench)
  scripts/deps.sh "${groups[@]}" || exit 1
fi
if [ -x build/tools/node/bin/node ]; then
  PATH=$PWD/build/tools/node/bin:$PATH
fi

failed=()
for stage in "${stages[@]}"; do
  title "$stage"
  "stage_$stage" || failed+=("$stage")
done

title "result"
for stage in "${stages[@]}"; do
  if [[ " ${failed[*]} " == *" $stage "* ]]; then echo "$stage: FAILED"; else echo "$stage: ok"; fi
done
[ ${#failed[@]} -eq 0 ]
