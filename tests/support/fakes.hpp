// Stand-ins that a test scripts: a probe, a control and a store without a system behind them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rollcall/process_control.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/record_store.hpp"

namespace rollcall::test {

inline Observation present(std::int64_t pid, std::string_view token) {
  Observation read;
  read.pid = pid;
  read.presence = Presence::kPresent;
  read.start_token.assign(token);
  return read;
}

inline Observation absent(std::int64_t pid) {
  Observation read;
  read.pid = pid;
  read.presence = Presence::kAbsent;
  return read;
}

inline Observation unreadable(std::int64_t pid, std::string_view reason) {
  Observation read;
  read.pid = pid;
  read.reason.assign(reason);
  return read;
}

// Answers from a table. A pid can be given several answers: each reading takes the next, the last
// one stays.
class FakeProbe : public ProcessProbe {
 public:
  FakeProbe() {
    me.self.pid = 100;
    me.self.start_token = "1000";
    me.self.boot_id = "boot-a";
    me.self.host_id = "hash-host";
    me.self.pid_namespace = "4026531836";
  }

  void answer(std::int64_t pid, std::vector<Observation> readings) {
    table_[pid] = std::deque<Observation>(readings.begin(), readings.end());
  }

  [[nodiscard]] std::string id() const override { return name; }
  [[nodiscard]] bool is_platform() const override { return platform; }
  [[nodiscard]] Status observe(std::span<const Ask> asks, std::span<Observation> out,
                               const Call&) override {
    for (std::size_t i = 0; i < asks.size(); ++i) {
      auto found = table_.find(asks[i].pid);
      if (found == table_.end()) {
        out[i] = absent(asks[i].pid);
        continue;
      }
      out[i] = found->second.front();
      if (found->second.size() > 1) found->second.pop_front();
    }
    return {};
  }
  [[nodiscard]] Result<WhoAmI> whoami(const Call&) override { return me; }
  [[nodiscard]] Result<std::vector<ProcessRow>> list(const Call&) override {
    return std::vector<ProcessRow>{};
  }
  [[nodiscard]] Result<std::string> read(std::int64_t, ReadWhat, const Call&) override {
    if (reads) return reads();
    return fail(ErrorCode::kUnsupported, "the fake probe reads nothing");
  }
  [[nodiscard]] Status port_owner(std::span<const SocketAsk>, std::span<SocketAnswer> out,
                                  const Call&) override {
    for (SocketAnswer& answer : out) answer = owner;
    return {};
  }

  WhoAmI me;
  SocketAnswer owner;                          // of every socket
  std::function<Result<std::string>()> reads;  // what read() answers; empty: it cannot
  std::string name = "test.probe";
  bool platform = true;

 private:
  std::map<std::int64_t, std::deque<Observation>> table_;
};

// Plays a backend: hands the judge the next scripted reading, and obeys it.
class FakeControl : public ProcessControl {
 public:
  [[nodiscard]] Result<SignalOutcome> signal(std::int64_t, Signal signal, const Judge& judge,
                                             const Call&) override {
    if (signal == unsupported) return fail(ErrorCode::kUnsupported, "there is no such signal here");
    if (!refusal.empty()) return SignalOutcome{SignalResult::kRefused, refusal, 1};
    switch (judge.judge(next(readings))) {
      case ProcessState::kAlive:
        sent.push_back(signal);
        return SignalOutcome{SignalResult::kSent, {}, 0};
      case ProcessState::kGone:
        return SignalOutcome{SignalResult::kAlreadyGone, "gone", 0};
      case ProcessState::kUnverified:
        break;
    }
    return SignalOutcome{SignalResult::kRefused, "the host could not verify it", 0};
  }
  [[nodiscard]] Result<AwaitOutcome> await_exit(std::int64_t, const Judge&, const Call&) override {
    if (ends.empty()) return AwaitOutcome{AwaitResult::kStillThere, suspended, {}};
    return AwaitOutcome{next(ends), suspended, {}};
  }

  std::deque<Observation> readings;  // what the pin reads, a signal each; the last one stays
  std::deque<AwaitResult> ends;      // what awaiting sees; empty: still there
  std::string refusal;               // non-empty: the system refuses to pin
  bool suspended = false;
  std::optional<Signal> unsupported;  // the platform has none of this
  std::vector<Signal> sent;

 private:
  template <class T>
  static T next(std::deque<T>& script) {
    T value = script.front();
    if (script.size() > 1) script.pop_front();
    return value;
  }
};

class MemoryStore : public RecordStore {
 public:
  [[nodiscard]] std::string id() const override { return "memory"; }
  [[nodiscard]] Result<std::vector<StoredRecord>> list(const Call&) override {
    std::vector<StoredRecord> all;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) all.push_back(row->second);
    return all;
  }
  [[nodiscard]] Result<StoredRecord> read(std::string_view name, const Call&) override {
    const auto row = rows.find(name);
    if (row == rows.end()) return fail(ErrorCode::kNotFound, "no such record");
    return row->second;
  }
  [[nodiscard]] Status create_if_absent(std::string_view name, std::string_view bytes,
                                        const Call&) override {
    if (rows.find(name) != rows.end()) return fail(ErrorCode::kExists, "it is there");
    put(name, bytes);
    return {};
  }
  [[nodiscard]] Status replace_if(std::string_view name, std::string_view version,
                                  std::string_view bytes, const Call&) override {
    if (auto same = check(name, version); !same) return same;
    put(name, bytes);
    return {};
  }
  [[nodiscard]] Status remove_if(std::string_view name, std::string_view version,
                                 const Call&) override {
    if (before_remove) before_remove();
    if (auto same = check(name, version); !same) return same;
    rows.erase(rows.find(name));
    return {};
  }
  void put(std::string_view name, std::string_view bytes) {
    StoredRecord& row = rows[std::string(name)];
    row.name = std::string(name);
    row.bytes = std::string(bytes);
    row.version = std::to_string(++versions_);
  }

  std::map<std::string, StoredRecord, std::less<>> rows;
  std::function<void()> before_remove;

 private:
  [[nodiscard]] Status check(std::string_view name, std::string_view version) const {
    const auto row = rows.find(name);
    if (row == rows.end()) return fail(ErrorCode::kNotFound, "no such record");
    if (row->second.version != version) return fail(ErrorCode::kConflict, "another version");
    return {};
  }

  int versions_ = 0;
};

}  // namespace rollcall::test
