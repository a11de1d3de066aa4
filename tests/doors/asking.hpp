// Asks doors in tests: the real plugins' tables over a probe that says what a test wants.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doors/gate.hpp"
#include "rollcall/plugin.h"

namespace rollcall::test {

inline constexpr const char* kSession = "ses_0199c4e2f1b7712a9d3e4f5061728394";
inline constexpr const char* kToken = "mdt1.cGF5bG9hZA.bWFj";

// A probe that knows who holds ports only: loopback from the socket itself, the owner as told.
class PortProbe final : public ProcessProbe {
 public:
  using Rule = std::function<void(const SocketAsk&, SocketAnswer&)>;
  explicit PortProbe(Ownership owner = Ownership::kProcess)
      : rule_([owner](const SocketAsk&, SocketAnswer& answer) { answer.owner = owner; }) {}
  explicit PortProbe(Rule rule) : rule_(std::move(rule)) {}

  [[nodiscard]] std::string id() const override { return "test.port_probe"; }
  [[nodiscard]] bool is_platform() const override { return true; }
  [[nodiscard]] Status observe(std::span<const Ask>, std::span<Observation>, const Call&) override;
  [[nodiscard]] Result<WhoAmI> whoami(const Call&) override;
  [[nodiscard]] Result<std::vector<ProcessRow>> list(const Call&) override;
  [[nodiscard]] Result<std::string> read(std::int64_t, ReadWhat, const Call&) override;
  [[nodiscard]] Status port_owner(std::span<const SocketAsk> asks, std::span<SocketAnswer> out,
                                  const Call& call) override;

  [[nodiscard]] int questions() const { return questions_.load(); }
  [[nodiscard]] std::size_t sockets() const { return sockets_.load(); }

 private:
  Rule rule_;
  std::atomic<int> questions_{0};
  std::atomic<std::size_t> sockets_{0};
};

// A door plugin's table as the host sees it.
class TableProber final : public DoorProber {
 public:
  using Settings = std::vector<std::pair<std::string, std::string>>;
  TableProber(std::string id, const rollcall_door_prober& table, bool may_have_token = true,
              const Settings& settings = {});
  ~TableProber() override;
  [[nodiscard]] std::string id() const override { return id_; }
  [[nodiscard]] bool may_have_token() const override { return may_have_token_; }
  [[nodiscard]] Status probe(std::span<const DoorAsk> asks, const DoorLimits& limits,
                             const Admit& admit, const Answer& answer, const Call& call) override;

 private:
  std::string id_;
  const rollcall_door_prober& table_;
  bool may_have_token_;
  void* self_ = nullptr;
};

// The prober of a kind of Rollcall's own, or kNotFound.
[[nodiscard]] Result<std::shared_ptr<DoorProber>> own_prober(
    std::string_view kind, bool may_have_token = true, const TableProber::Settings& settings = {});

[[nodiscard]] Record record_of(std::string url, std::optional<std::string> token = {});
[[nodiscard]] Record record_of(DoorSpec door, std::optional<std::string> url = {},
                               std::optional<std::string> token = {});

// Bounds that no test on a busy machine runs into, and bounds for doors that are to run into them.
inline constexpr DoorLimits kPatient{20'000'000'000, 30'000'000'000};
inline constexpr DoorLimits kHasty{400'000'000, 800'000'000};

struct Asking {
  DoorLimits limits = kPatient;
  std::vector<std::string> allow_hosts{};
  bool may_have_token = true;
  Call call{};
  TableProber::Settings instance_settings{};
  std::optional<std::int64_t> start_unix_ns{};  // of the process
};

[[nodiscard]] std::vector<DoorReading> ask_all(const std::vector<Record>& records,
                                               ProcessProbe& probe, const Asking& asking = {});
[[nodiscard]] DoorReading ask_one(const Record& record, ProcessProbe& probe,
                                  const Asking& asking = {});
[[nodiscard]] DoorReading ask_one(const Record& record, const Asking& asking = {});

// "live", or the reason's text.
[[nodiscard]] std::string outcome_of(const DoorReading& reading,
                                     std::string_view session = kSession);

// A card that names the session, by Rollcall's own extension.
[[nodiscard]] std::string card_naming(std::string_view session);
// The head and body of a 200 with a Content-Length.
[[nodiscard]] std::string ok_response(std::string_view body);

}  // namespace rollcall::test
