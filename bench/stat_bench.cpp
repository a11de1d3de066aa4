// What does decoding one /proc/PID/stat cost, its bytes being there?
#include "backends/linux/decode.hpp"

#include <benchmark/benchmark.h>

#include <string_view>

namespace {

using rollcall::linux_backend::decode_stat;

constexpr std::string_view kPlain =
    "4242 (sleep) S 4200 4242 4200 34816 4242 4194304 109 0 0 0 0 0 0 0 20 0 1 0 7847512 5480448 "
    "249 18446744073709551615 94231846645760 94231846661561 140732938742256 0 0 0 0 0 0 0 0 0 17 1 "
    "0 0 0 0 0 94231846675632 94231846676872 94232149839872 140732938747221 140732938747232 "
    "140732938747232 140732938752997 0\n";

// A name that looks like the fields behind it.
constexpr std::string_view kHostile =
    "4242 (a b) R 1 2) S 4200 4242 4200 34816 4242 4194304 109 0 0 0 0 0 0 0 20 0 1 0 7847512 "
    "5480448 249 18446744073709551615 94231846645760 94231846661561 140732938742256 0 0 0 0 0 0 0 "
    "0 "
    "0 17 1 0 0 0 0 0 94231846675632 94231846676872 94232149839872 140732938747221 "
    "140732938747232 140732938747232 140732938752997 0\n";

void parse(benchmark::State& state, std::string_view line) {
  const auto once = decode_stat(line);
  if (!once || once->start != "7847512") return state.SkipWithError("it was not decoded");
  for (auto _ : state) {
    benchmark::DoNotOptimize(line);
    benchmark::DoNotOptimize(decode_stat(line));
  }
}

void parse_stat_line(benchmark::State& state) { parse(state, kPlain); }
BENCHMARK(parse_stat_line);

void parse_stat_line_with_hostile_name(benchmark::State& state) { parse(state, kHostile); }
BENCHMARK(parse_stat_line_with_hostile_name);

}  // namespace

BENCHMARK_MAIN();
