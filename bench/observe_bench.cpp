// What does looking at processes cost, against the bare system calls in the same run, and what does
// the plugin boundary add?
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "bench/support.hpp"
#include "rollcall/plugin.h"

namespace {

constexpr std::size_t kPids = 1000;
constexpr std::uint32_t kByStat = rollcall::kWantStartToken;
constexpr std::uint32_t kByExactId =
    rollcall::kWantStartToken | rollcall::kWantExactId | rollcall::kWantExactSuffices;

struct Nobody {
  bench::TempHome home;
  bench::Stack stack = bench::open_stack(home.path());
};

rollcall::ProcessProbe& probe() {
  static const Nobody nobody;
  return *nobody.stack.probe;
}

// A backend's table as the plugin hands it out, without the framework between.
struct BareTable {
  const rollcall_process_probe* table = nullptr;
  void* self = nullptr;
};

std::int64_t now_ns(void*) { return rollcall::system_clock()->monotonic_ns(); }
void log_nowhere(void*, std::int32_t, rollcall_str) {}

BareTable open_table() {
  static const rollcall_host host{.struct_size = sizeof(rollcall_host),
                                  .abi_major = ROLLCALL_ABI_MAJOR,
                                  .abi_minor = ROLLCALL_ABI_MINOR,
                                  .reserved = 0,
                                  .context = nullptr,
                                  .monotonic_now_ns = now_ns,
                                  .log = log_nowhere};
  const std::string file = std::string(ROLLCALL_BENCH_PLUGIN_DIR) + "/rollcall_backend_linux.so";
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) bench::die(::dlerror());
  const auto* entry = static_cast<const rollcall_entry*>(::dlsym(library, ROLLCALL_ENTRY_SYMBOL));
  if (entry == nullptr) bench::die("the backend has no entry");
  if (entry->init != nullptr && entry->init(&host, nullptr) < 0) bench::die("init failed");
  BareTable bare;
  bare.table =
      static_cast<const rollcall_process_probe*>(entry->get_interface(ROLLCALL_PROCESS_PROBE_ID));
  if (bare.table->create(nullptr, 0, &bare.self, nullptr) < 0) bench::die("create failed");
  return bare;
}

void bare_stat(benchmark::State& state) {
  const auto& pids = bench::shared_pids(kPids);
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (auto _ : state) {
    for (const auto pid : pids) benchmark::DoNotOptimize(bench::bare_stat(proc, pid));
  }
  ::close(proc);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pids.size()));
}
BENCHMARK(bare_stat)->Unit(benchmark::kMicrosecond)->UseRealTime();

void bare_pidfd(benchmark::State& state) {
  const auto& pids = bench::shared_pids(kPids);
  for (auto _ : state) {
    for (const auto pid : pids) benchmark::DoNotOptimize(bench::bare_pidfd(pid));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pids.size()));
}
BENCHMARK(bare_pidfd)->Unit(benchmark::kMicrosecond)->UseRealTime();

void observe(benchmark::State& state, std::uint32_t wants) {
  const auto& pids = bench::shared_pids(kPids);
  std::vector<rollcall::Ask> asks;
  for (const auto pid : pids) asks.push_back({.pid = pid, .wants = wants});
  std::vector<rollcall::Observation> read(asks.size());
  for (auto _ : state) {
    bench::must(probe().observe(asks, read, {}));
    benchmark::DoNotOptimize(read.data());
  }
  for (const auto& one : read) {
    if (one.presence != rollcall::Presence::kPresent) {
      return state.SkipWithError("a live process was not read");
    }
    if (wants == kByExactId && !one.exact_id) return state.SkipWithError("no exact id was read");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pids.size()));
}

void observe_by_stat(benchmark::State& state) { observe(state, kByStat); }
BENCHMARK(observe_by_stat)->Unit(benchmark::kMicrosecond)->UseRealTime();

void observe_by_exact_id(benchmark::State& state) {
  if (!bench::has_pidfs()) return state.SkipWithError("this kernel has no pidfs: no exact ids");
  observe(state, kByExactId);
}
BENCHMARK(observe_by_exact_id)->Unit(benchmark::kMicrosecond)->UseRealTime();

void table_observe(benchmark::State& state, std::uint32_t wants) {
  static const BareTable bare = open_table();
  const auto& pids = bench::shared_pids(kPids);
  std::vector<rollcall_ask> asks;
  for (const auto pid : pids) asks.push_back({.pid = pid, .wants = wants, .reserved = 0});
  std::vector<rollcall_observation> read(asks.size());
  const rollcall_observe_batch batch{.struct_size = sizeof(rollcall_observe_batch),
                                     .ask_stride = sizeof(rollcall_ask),
                                     .observation_stride = sizeof(rollcall_observation),
                                     .reserved = 0,
                                     .count = asks.size(),
                                     .asks = asks.data(),
                                     .observations = read.data()};
  const rollcall_call call{.struct_size = sizeof(rollcall_call),
                           .reserved = 0,
                           .deadline_ns = INT64_MAX,
                           .context = nullptr,
                           .cancelled = nullptr};
  for (auto _ : state) {
    // The contract: the caller zeroes the observations.
    std::fill(read.begin(), read.end(), rollcall_observation{});
    if (bare.table->observe(bare.self, &batch, &call, nullptr) < 0) {
      return state.SkipWithError("observe failed");
    }
    benchmark::DoNotOptimize(read.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pids.size()));
}

void table_observe_by_stat(benchmark::State& state) { table_observe(state, kByStat); }
BENCHMARK(table_observe_by_stat)->Unit(benchmark::kMicrosecond)->UseRealTime();

void table_observe_by_exact_id(benchmark::State& state) {
  if (!bench::has_pidfs()) return state.SkipWithError("this kernel has no pidfs: no exact ids");
  table_observe(state, kByExactId);
}
BENCHMARK(table_observe_by_exact_id)->Unit(benchmark::kMicrosecond)->UseRealTime();

// One call over the boundary that reads nothing: an impossible pid is absent without a system call.
void plugin_call(benchmark::State& state) {
  const std::vector<rollcall::Ask> asks{{.pid = 0, .wants = kByStat}};
  std::vector<rollcall::Observation> read(1);
  for (auto _ : state) {
    bench::must(probe().observe(asks, read, {}));
    benchmark::DoNotOptimize(read.data());
  }
}
BENCHMARK(plugin_call);

}  // namespace

int main(int argc, char** argv) {
  bench::shared_pids(kPids);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
