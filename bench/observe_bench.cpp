// What does looking at processes cost, against the bare system calls in the same run, and what does
// the plugin boundary add?
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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

// One way to read all of the shared processes; each call is one round.
class Bare {
 public:
  explicit Bare(std::uint32_t wants) : by_stat_(wants == kByStat) {
    proc_ = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  ~Bare() { ::close(proc_); }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  void operator()() {
    for (const auto pid : bench::shared_pids(kPids)) {
      if (by_stat_) {
        benchmark::DoNotOptimize(bench::bare_stat(proc_, pid));
      } else {
        benchmark::DoNotOptimize(bench::bare_pidfd(pid));
      }
    }
  }

 private:
  bool by_stat_;
  int proc_ = -1;
};

class Framework {
 public:
  explicit Framework(std::uint32_t wants) : wants_(wants) {
    for (const auto pid : bench::shared_pids(kPids)) asks_.push_back({.pid = pid, .wants = wants});
    read_.resize(asks_.size());
  }
  void operator()() {
    bench::must(probe().observe(asks_, read_, {}));
    benchmark::DoNotOptimize(read_.data());
  }
  // Whether the last round read what it was asked for.
  [[nodiscard]] bool read_all() const {
    return std::all_of(read_.begin(), read_.end(), [this](const rollcall::Observation& one) {
      return one.presence == rollcall::Presence::kPresent &&
             (wants_ == kByStat ? !one.start_token.empty() : one.exact_id.has_value());
    });
  }

 private:
  std::uint32_t wants_;
  std::vector<rollcall::Ask> asks_;
  std::vector<rollcall::Observation> read_;
};

class Table {
 public:
  explicit Table(std::uint32_t wants) {
    for (const auto pid : bench::shared_pids(kPids)) {
      asks_.push_back({.pid = pid, .wants = wants, .reserved = 0});
    }
    read_.resize(asks_.size());
    batch_ = {.struct_size = sizeof(rollcall_observe_batch),
              .ask_stride = sizeof(rollcall_ask),
              .observation_stride = sizeof(rollcall_observation),
              .reserved = 0,
              .count = asks_.size(),
              .asks = asks_.data(),
              .observations = read_.data()};
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  void operator()() {
    static const BareTable bare = open_table();
    const rollcall_call call{.struct_size = sizeof(rollcall_call),
                             .reserved = 0,
                             .deadline_ns = INT64_MAX,
                             .context = nullptr,
                             .cancelled = nullptr};
    // The contract: the caller zeroes the observations.
    std::fill(read_.begin(), read_.end(), rollcall_observation{});
    if (bare.table->observe(bare.self, &batch_, &call, nullptr) < 0) bench::die("observe failed");
    benchmark::DoNotOptimize(read_.data());
  }

 private:
  std::vector<rollcall_ask> asks_;
  std::vector<rollcall_observation> read_;
  rollcall_observe_batch batch_{};
};

bool skip_without_pidfs(benchmark::State& state, std::uint32_t wants) {
  if (wants == kByStat || bench::has_pidfs()) return false;
  state.SkipWithError("this kernel has no pidfs: no exact ids");
  return true;
}

template <class Reader>
void rounds(benchmark::State& state, std::uint32_t wants) {
  if (skip_without_pidfs(state, wants)) return;
  Reader read(wants);
  for (auto _ : state) read();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPids));
}

// Two readers in turns, so that whatever else the machine does meets both alike.
template <class First, class Second>
void in_turns(benchmark::State& state, std::uint32_t wants) {
  if (skip_without_pidfs(state, wants)) return;
  First first(wants);
  Second second(wants);
  bench::InTurns turns;
  for (auto _ : state) turns.round(first, second);
  turns.report(state.counters);
}

void check_framework(benchmark::State& state, std::uint32_t wants) {
  if (skip_without_pidfs(state, wants)) return;
  Framework read(wants);
  read();
  if (!read.read_all()) return state.SkipWithError("a live process was not read");
  rounds<Framework>(state, wants);
}

void bare_stat(benchmark::State& state) { rounds<Bare>(state, kByStat); }
void bare_pidfd(benchmark::State& state) { rounds<Bare>(state, kByExactId); }
void observe_by_stat(benchmark::State& state) { check_framework(state, kByStat); }
void observe_by_exact_id(benchmark::State& state) { check_framework(state, kByExactId); }
void table_observe_by_stat(benchmark::State& state) { rounds<Table>(state, kByStat); }
void table_observe_by_exact_id(benchmark::State& state) { rounds<Table>(state, kByExactId); }
BENCHMARK(bare_stat)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(bare_pidfd)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(observe_by_stat)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(observe_by_exact_id)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(table_observe_by_stat)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(table_observe_by_exact_id)->Unit(benchmark::kMicrosecond)->UseRealTime();

void observe_against_bare_by_stat(benchmark::State& state) {
  in_turns<Framework, Bare>(state, kByStat);
}
void observe_against_bare_by_exact_id(benchmark::State& state) {
  in_turns<Framework, Bare>(state, kByExactId);
}
void observe_against_table_by_stat(benchmark::State& state) {
  in_turns<Framework, Table>(state, kByStat);
}
void observe_against_table_by_exact_id(benchmark::State& state) {
  in_turns<Framework, Table>(state, kByExactId);
}
void turns(benchmark::internal::Benchmark* bench) {
  bench->Iterations(1000)->Repetitions(1)->Unit(benchmark::kMicrosecond)->UseRealTime();
}
BENCHMARK(observe_against_bare_by_stat)->Apply(turns);
BENCHMARK(observe_against_bare_by_exact_id)->Apply(turns);
BENCHMARK(observe_against_table_by_stat)->Apply(turns);
BENCHMARK(observe_against_table_by_exact_id)->Apply(turns);

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
