// What does a listing cost that asks doors: 100 and 1,000 that answer, 1,000 that hang?
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support.hpp"

namespace {

struct Listener {
  int fd = -1;
  std::uint16_t port = 0;
};

std::vector<Listener> listen_on_many(std::size_t count) {
  std::vector<Listener> all(count);
  for (auto& one : all) {
    one.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (one.fd < 0 || ::bind(one.fd, raw, size) != 0 || ::listen(one.fd, 16) != 0 ||
        ::getsockname(one.fd, raw, &size) != 0) {
      bench::die("cannot listen on " + std::to_string(count) + " ports");
    }
    one.port = ntohs(address.sin_port);
  }
  return all;
}

std::string card_answer(std::size_t index) {
  const std::string card =
      R"({"name":"bench","capabilities":{"extensions":[{"uri":"urn:rollcall:ext:session:1",)"
      R"("params":{"sessionId":")" +
      bench::session_id(index) + R"("}}]}})";
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(card.size()) + "\r\nConnection: close\r\n\r\n" + card;
}

// One thread that answers every door of the process. A request that came in parts would be answered
// at its first, which serves here: what is measured sends its request at once.
[[noreturn]] void serve(const std::vector<Listener>& doors) {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t i = 0; i < doors.size(); ++i) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    ::epoll_ctl(set, EPOLL_CTL_ADD, doors[i].fd, &event);
  }
  std::vector<epoll_event> ready(256);
  std::vector<char> request(4096);
  std::map<int, std::size_t> connections;
  for (;;) {
    const int count = ::epoll_wait(set, ready.data(), static_cast<int>(ready.size()), -1);
    for (int i = 0; i < count; ++i) {
      const auto key = ready[static_cast<std::size_t>(i)].data.u64;
      epoll_event event{};
      event.events = EPOLLIN;
      if (key < doors.size()) {
        const int fd = ::accept4(doors[key].fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) continue;
        connections[fd] = key;
        event.data.u64 = doors.size() + static_cast<std::uint64_t>(fd);
        ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
        continue;
      }
      const int fd = static_cast<int>(key - doors.size());
      if (::read(fd, request.data(), request.size()) > 0) {
        const auto answer = card_answer(connections[fd]);
        if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) bench::die("send failed");
      }
      ::close(fd);
    }
  }
}

// A process that holds `count` doors, and the records of as many sessions of it.
class DoorHolder {
 public:
  DoorHolder(std::size_t count, bool answers, const rollcall::DoorLimits& limits) {
    const auto doors = listen_on_many(count);
    pid_ = ::fork();
    if (pid_ < 0) bench::die("fork failed");
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (answers) serve(doors);
      for (;;) ::pause();
    }
    stack_ = bench::open_stack(home_.path(), limits);
    std::vector<rollcall::Record> records;
    for (std::size_t i = 0; i < count; ++i) {
      ::close(doors[i].fd);
      records.push_back(bench::make_record(*stack_.registry, pid_, i));
      records.back().url = "127.0.0.1:" + std::to_string(doors[i].port);
    }
    bench::write_records(home_, records);
  }
  ~DoorHolder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  DoorHolder(const DoorHolder&) = delete;
  DoorHolder& operator=(const DoorHolder&) = delete;
  [[nodiscard]] rollcall::Registry& registry() { return *stack_.registry; }

 private:
  bench::TempHome home_;
  bench::Stack stack_;
  pid_t pid_ = -1;
};

void sweep_and_expect(benchmark::State& state, DoorHolder& doors, rollcall::Verdict verdict) {
  for (auto _ : state) {
    const auto swept = bench::must(doors.registry().sweep({}, {}));
    for (const auto& session : swept.sessions) {
      if (session.finding.verdict != verdict) {
        return state.SkipWithError(
            ("not the verdict that this measures: " + session.finding.text).c_str());
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void live_doors(benchmark::State& state) {
  DoorHolder doors(static_cast<std::size_t>(state.range(0)), true, {});
  sweep_and_expect(state, doors, rollcall::Verdict::kLive);
}
BENCHMARK(live_doors)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

// Each accepts in the kernel's backlog and says nothing. The limit is the default one: 5 s in all.
void hung_doors(benchmark::State& state) {
  DoorHolder doors(static_cast<std::size_t>(state.range(0)), false, {});
  sweep_and_expect(state, doors, rollcall::Verdict::kUnreachable);
}
BENCHMARK(hung_doors)
    ->Arg(1)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::raise_descriptor_limit();
  benchmark::RunSpecifiedBenchmarks();
}
