#!/usr/bin/env bash
# Builds the benchmarks (release), runs them all, and holds the figures against bench/limits.txt.
#
#   bench/run.sh             everything; about three minutes, and nothing else should run meanwhile
#   bench/run.sh observe     only observe_bench, without the limits
#
# The figures go to build/release/bench/NAME.json and .txt.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."

mkdir -p build
cmake --preset release >build/release.log 2>&1 && cmake --build --preset release >>build/release.log 2>&1 || {
  tail -n 40 build/release.log >&2
  exit 1
}

out=build/release/bench
results=()
# run NAME ARGS...
run() {
  local name=$1
  shift
  "$out/${name}_bench" --benchmark_out="$out/$name.json" --benchmark_out_format=json \
    --benchmark_counters_tabular=true "$@" | tee "$out/$name.txt"
  results+=("$out/$name.json")
}
# Repeated, and in a shuffled order, so that a passing disturbance hits all alike.
repeated=(--benchmark_repetitions=9 --benchmark_min_time=0.1 --benchmark_enable_random_interleaving=true
  --benchmark_display_aggregates_only=true)

one() {
  case $1 in
    doors) run doors ;;
    watch) /usr/bin/python3 bench/watch_deaths.py build/release/bin/regtool ;;
    *) run "$1" "${repeated[@]}" ;;
  esac
}

if [ $# -gt 0 ]; then
  for name in "$@"; do one "$name"; done
  exit 0
fi
for file in bench/*_bench.cpp; do
  name=$(basename "$file" _bench.cpp)
  one "$name"
done
echo
echo "peers, in the same run:"
/usr/bin/python3 bench/peers/psutil_verdict.py 2>&1 || true
echo "from kill -9 to the line of watch:"
late=0
/usr/bin/python3 bench/watch_deaths.py build/release/bin/regtool || late=$?
echo
"$out/bench_check" bench/limits.txt "${results[@]}"
exit "$late"
