// What does a whole listing cost without doors, in the library and as `regtool ps`, against the
// bare system calls in the same run, and how does it grow?
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "bench/support.hpp"

namespace {

constexpr std::size_t kMost = 10000;

// A home with the records of the first `count` processes; made once for each size.
const bench::TempHome& home_of(std::size_t count) {
  static std::map<std::size_t, bench::TempHome> homes;
  const auto found = homes.find(count);
  if (found != homes.end()) return found->second;
  auto& home = homes[count];
  const auto stack = bench::open_stack(home.path());
  const auto& pids = bench::shared_pids(kMost);
  std::vector<rollcall::Record> records;
  for (std::size_t i = 0; i < count; ++i) {
    records.push_back(bench::make_record(*stack.registry, pids.at(i), i));
  }
  bench::write_records(home, records);
  return home;
}

void count_records(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void bare(benchmark::State& state, bool with_age) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const auto& home = home_of(count);
  const auto& pids = bench::shared_pids(kMost);
  for (auto _ : state) {
    if (bench::bare_sweep(home.running(), pids, with_age) != count) {
      return state.SkipWithError("not every record was read");
    }
  }
  count_records(state);
}

void sweep(benchmark::State& state, bool with_age) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const auto stack = bench::open_stack(home_of(count).path());
  rollcall::SweepOptions options;
  options.ask_doors = false;
  options.want_age = with_age;
  for (auto _ : state) {
    const auto swept = bench::must(stack.registry->sweep(options, {}));
    if (swept.sessions.size() != count) return state.SkipWithError("not every record was shown");
    for (const auto& session : swept.sessions) {
      if (session.process.state != rollcall::ProcessState::kAlive) {
        return state.SkipWithError("a live process was not proven alive");
      }
    }
  }
  count_records(state);
}

void bare_with_age(benchmark::State& state) { bare(state, true); }
void bare_without_age(benchmark::State& state) { bare(state, false); }
void sweep_with_age(benchmark::State& state) { sweep(state, true); }
void sweep_without_age(benchmark::State& state) { sweep(state, false); }

// The whole command, from its start to its end, its output going to /dev/null.
class PsCommand {
 public:
  explicit PsCommand(std::size_t count) : home_("ROLLCALL_HOME=" + home_of(count).path()) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ~PsCommand() { posix_spawn_file_actions_destroy(&actions_); }
  PsCommand(const PsCommand&) = delete;
  PsCommand& operator=(const PsCommand&) = delete;
  void operator()() {
    std::array<char*, 3> argv{program_.data(), command_.data(), nullptr};
    std::array<char*, 3> environment{home_.data(), path_.data(), nullptr};
    pid_t child = 0;
    if (::posix_spawn(&child, program_.c_str(), &actions_, nullptr, argv.data(),
                      environment.data()) != 0) {
      bench::die("regtool could not be started");
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) bench::die("regtool ps failed");
  }

 private:
  std::string home_;
  std::string program_ = std::string(ROLLCALL_BENCH_BIN_DIR) + "/regtool";
  std::string command_ = "ps";
  std::string path_ = "PATH=/usr/bin:/bin";
  posix_spawn_file_actions_t actions_{};
};

void ps_process(benchmark::State& state) {
  PsCommand ps(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) ps();
  count_records(state);
}

// The command and the bare loop in turns, so that whatever else the machine does meets both alike.
// The counters are the least time of each in microseconds, and `ratio`, the first by the second.
void ps_against_bare(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const auto& home = home_of(count);
  const auto& pids = bench::shared_pids(kMost);
  PsCommand ps(count);
  bench::InTurns turns;
  for (auto _ : state) {
    turns.round(ps, [&] { bench::bare_sweep(home.running(), pids, true); });
  }
  turns.report(state.counters);
}
BENCHMARK(ps_against_bare)
    ->Arg(1000)
    ->Iterations(60)
    ->Repetitions(1)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond)->UseRealTime();
}
BENCHMARK(bare_with_age)->Apply(sizes);
BENCHMARK(bare_without_age)->Apply(sizes);
BENCHMARK(sweep_with_age)->Apply(sizes);
BENCHMARK(sweep_without_age)->Apply(sizes);
BENCHMARK(ps_process)->Apply(sizes);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::shared_pids(kMost);
  benchmark::RunSpecifiedBenchmarks();
}
