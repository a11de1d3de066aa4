// What does a verdict cost, once everything was read?
#include <benchmark/benchmark.h>

#include <string>

#include "rollcall/verdict.hpp"

namespace {

using rollcall::Observation;
using rollcall::Presence;
using rollcall::ProcessIdentity;

constexpr const char* kBoot = "0b9f6a4e-3c1d-4a55-9a7e-2f6d1c9b8e70";

rollcall::Here here() {
  rollcall::Here here;
  here.home = rollcall::HomeKind::kLocal;
  here.boot_id = kBoot;
  here.host_id = "5b1e0c4d9f-host";
  here.pid_namespace = "4026531836";
  here.time_namespace = "4026531834";
  return here;
}

ProcessIdentity recorded() {
  ProcessIdentity identity;
  identity.pid = 4242;
  identity.start_token = "7847512";
  identity.boot_id = kBoot;
  identity.exact_id = "918273";
  identity.host_id = here().host_id;
  identity.pid_namespace = here().pid_namespace;
  identity.time_namespace = here().time_namespace;
  return identity;
}

Observation present() {
  Observation read;
  read.pid = 4242;
  read.presence = Presence::kPresent;
  return read;
}

void run(benchmark::State& state, const ProcessIdentity& identity, const Observation& read,
         rollcall::ProcessState expected) {
  const auto machine = here();
  if (rollcall::classify(identity, read, machine).state != expected) {
    return state.SkipWithError("not the verdict that this measures");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(rollcall::classify(identity, read, machine));
  }
}

void classify_alive_by_exact_id(benchmark::State& state) {
  auto read = present();
  read.exact_id = 918273;
  run(state, recorded(), read, rollcall::ProcessState::kAlive);
}
BENCHMARK(classify_alive_by_exact_id);

void classify_alive_by_start_token(benchmark::State& state) {
  auto identity = recorded();
  identity.exact_id.reset();
  auto read = present();
  read.start_token = std::string_view("7847512");
  run(state, identity, read, rollcall::ProcessState::kAlive);
}
BENCHMARK(classify_alive_by_start_token);

void classify_gone(benchmark::State& state) {
  auto read = present();
  read.presence = Presence::kAbsent;
  run(state, recorded(), read, rollcall::ProcessState::kGone);
}
BENCHMARK(classify_gone);

// The sentence, which is made only when somebody asks for it.
void reason_text_of_gone(benchmark::State& state) {
  auto read = present();
  read.presence = Presence::kAbsent;
  const auto machine = here();
  const auto verdict = rollcall::classify(recorded(), read, machine);
  for (auto _ : state) {
    benchmark::DoNotOptimize(rollcall::reason_text(verdict, recorded(), read, machine));
  }
}
BENCHMARK(reason_text_of_gone);

}  // namespace

BENCHMARK_MAIN();
