// What does a record cost: parsing its bytes, and reading its file as well?
#include <benchmark/benchmark.h>

#include "bench/support.hpp"
#include "rollcall/record.hpp"

namespace {

rollcall::Record sample() {
  rollcall::Record record;
  record.session_id = bench::session_id(7);
  record.url = "127.0.0.1:41234";
  record.process.pid = 4242;
  record.process.start_token = "7847512";
  record.process.boot_id = "0b9f6a4e-3c1d-4a55-9a7e-2f6d1c9b8e70";
  record.process.exact_id = "918273";
  record.process.host_id = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae-host";
  record.process.pid_namespace = "4026531836";
  record.process.time_namespace = "4026531834";
  record.name = "bench";
  record.version = "1.0";
  record.workdir = "/var/lib/bench";
  record.started_at = "2026-01-01T00:00:00Z";
  record.metadata = {{"label.team", "infrastructure"}, {"label.shift", "night"}};
  return record;
}

void parse_record(benchmark::State& state) {
  const auto record = sample();
  const auto bytes = bench::must(rollcall::serialize_record(record));
  for (auto _ : state) {
    auto parsed = rollcall::parse_record(bytes, record.session_id);
    if (!parsed) return state.SkipWithError(parsed.error().text.c_str());
    benchmark::DoNotOptimize(parsed);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(parse_record);

void serialize_record(benchmark::State& state) {
  const auto record = sample();
  for (auto _ : state) benchmark::DoNotOptimize(rollcall::serialize_record(record));
}
BENCHMARK(serialize_record);

// One record out of a home: open, check, read, close and parse.
void read_and_parse_record(benchmark::State& state) {
  const bench::TempHome home;
  const auto record = sample();
  bench::write_records(home, {record});
  rollcall::FileStore::Options options;
  options.home = home.path();
  options.clock = rollcall::system_clock();
  const auto store = bench::must(rollcall::FileStore::open(options));
  for (auto _ : state) {
    const auto stored = store->read(record.session_id, {});
    if (!stored) return state.SkipWithError(stored.error().message.c_str());
    auto parsed = rollcall::parse_record(stored->bytes, record.session_id);
    if (!parsed) return state.SkipWithError(parsed.error().text.c_str());
    benchmark::DoNotOptimize(parsed);
  }
}
BENCHMARK(read_and_parse_record);

}  // namespace

BENCHMARK_MAIN();
