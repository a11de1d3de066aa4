#include "doors/gate.hpp"

#include <fmt/format.h>

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "rollcall/door_url.hpp"
#include "rollcall/plugin.h"

namespace rollcall {
namespace {

constexpr std::string_view kDefaultKind = "a2a";

std::string holder_text(const SocketAnswer& answer) {
  std::string text = fmt::format("another process holds {}",
                                 answer.peer.empty() ? "the door" : std::string_view(answer.peer));
  if (answer.holder_pid > 0) text += fmt::format(" (pid {})", answer.holder_pid);
  if (!answer.reason.empty()) text += fmt::format(": {}", answer.reason);
  return text;
}

DoorGate::Ruling refuse(Reason reason, Ownership ownership, std::string detail) {
  DoorGate::Ruling ruling;
  ruling.refused = reason;
  ruling.ownership = ownership;
  ruling.detail = std::move(detail);
  return ruling;
}

DoorGate::Ruling admit_as(Ownership ownership, bool token_given, std::string detail) {
  DoorGate::Ruling ruling;
  ruling.admitted = true;
  ruling.ownership = ownership;
  ruling.token_given = token_given;
  ruling.detail = std::move(detail);
  return ruling;
}

// The rule itself, from one reading of one socket.
DoorGate::Ruling rule(const DoorGate::Item& item, const SocketAnswer& answer) {
  if (answer.self_connect) {
    return refuse(Reason::kRefused, Ownership::kUnknown,
                  "nobody listens: the connection reached itself");
  }
  if (!answer.loopback && answer.peer.empty()) {
    return refuse(Reason::kClosedEarly, Ownership::kUnknown,
                  answer.reason.empty() ? "the connection broke at once" : answer.reason);
  }
  if (!answer.loopback) {
    if (!item.allowed_host) {
      return refuse(Reason::kNotLoopback, Ownership::kUnknown,
                    fmt::format("the connected peer {} is not on loopback", answer.peer));
    }
    return admit_as(Ownership::kUnknown, false,
                    "not on this machine: allowed by doors.allow_hosts, and given no token");
  }
  const bool has_token = item.token != nullptr && !item.token->empty();
  switch (answer.owner) {
    case Ownership::kProcess:
    case Ownership::kDescendant:
      return admit_as(answer.owner, has_token, answer.reason);
    case Ownership::kUidOnly:
      if (item.owner_must_be_known) {
        return refuse(Reason::kOwnerUnknown, answer.owner,
                      "only the listener's user could be read, not its process");
      }
      return admit_as(answer.owner, has_token,
                      "only the listener's user could be read, not its process");
    case Ownership::kForeign:
      return refuse(Reason::kForeignListener, answer.owner, holder_text(answer));
    case Ownership::kUnknown:
      break;
  }
  return refuse(Reason::kOwnerUnknown, Ownership::kUnknown,
                answer.reason.empty() ? "who holds the port could not be read" : answer.reason);
}

// A socket, the item that it was connected for, and what came of it.
struct Entrant {
  std::size_t item = 0;
  std::size_t place = 0;  // in the caller's spans
  DoorGate::Ruling ruling;
};

std::string why_not_same(std::int64_t pid, const Observation& now) {
  if (now.presence == Presence::kAbsent || now.presence == Presence::kExited) {
    return fmt::format("pid {} ended while its door was looked at", pid);
  }
  return fmt::format("pid {} is not known to be the recorded process any more", pid);
}

// What was read of a pid's descriptors was the judged process's only if that still holds the pid.
void recheck(ProcessProbe& probe, std::span<const DoorGate::Item> items,
             std::vector<Entrant>& entrants, const Call& call) {
  std::vector<Ask> asks;
  std::vector<Entrant*> asked;
  for (Entrant& entrant : entrants) {
    const DoorGate::Item& item = items[entrant.item];
    if (!entrant.ruling.admitted || !item.is_same) continue;
    asks.push_back({item.pid, item.wants});
    asked.push_back(&entrant);
  }
  if (asks.empty()) return;
  std::vector<Observation> read(asks.size());
  const Status status = probe.observe(asks, read, call);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const DoorGate::Item& item = items[asked[i]->item];
    if (status && item.is_same(read[i])) continue;
    asked[i]->ruling =
        refuse(Reason::kOwnerUnknown, Ownership::kUnknown,
               status ? why_not_same(item.pid, read[i])
                      : "the process could not be read again: " + status.error().message);
  }
}

DoorReading failed(Reason reason, std::string detail, std::string plugin = {}) {
  DoorReading reading;
  reading.reason = reason;
  reading.detail = std::move(detail);
  reading.plugin = std::move(plugin);
  return reading;
}

// The questions for one prober.
struct Group {
  std::shared_ptr<DoorProber> prober;
  std::vector<std::size_t> questions;  // indices into all of them
  std::vector<DoorAsk> asks;
  std::vector<DoorGate::Item> items;
};

// Asks one group and fills its readings. The readings of other groups are not touched. `stop`: its
// doors are asked to end their sessions, for that reason.
void ask_group(const Group& group, const DoorContext& context, const Call& call,
               std::vector<DoorReading>& readings, const std::string* stop = nullptr) {
  DoorGate gate(*context.probe, group.items, call);
  std::vector<bool> answered(group.asks.size(), false);
  const auto take = [&](std::size_t item, DoorReading reading) {
    if (item >= answered.size() || answered[item]) return;
    answered[item] = true;
    reading.plugin = group.prober->id();
    gate.complete(item, reading);
    readings[group.questions[item]] = std::move(reading);
  };
  const Status status =
      stop == nullptr
          ? group.prober->probe(group.asks, context.limits, gate.admit(), take, call)
          : group.prober->stop(group.asks, *stop, context.limits, gate.admit(), take, call);
  for (std::size_t i = 0; i < answered.size(); ++i) {
    if (answered[i]) continue;
    readings[group.questions[i]] =
        failed(Reason::kUnverified,
               status ? "the plugin gave no answer about this door" : status.error().message,
               group.prober->id());
  }
}

// The record's, and what the host alone may say.
std::vector<std::pair<std::string, std::string>> settings_of(const DoorQuestion& question) {
  std::vector<std::pair<std::string, std::string>> settings;
  if (question.record->door) {
    for (const auto& setting : question.record->door->settings) {
      if (!setting.first.starts_with(ROLLCALL_SETTING_HOST_PREFIX)) settings.push_back(setting);
    }
  }
  if (question.start_unix_ns) {
    settings.emplace_back(ROLLCALL_SETTING_PROCESS_START, std::to_string(*question.start_unix_ns));
  }
  return settings;
}

std::optional<DoorAsk> make_ask(const DoorQuestion& question, const DoorContext& context,
                                DoorReading& reading, bool& loopback) {
  const Record& record = *question.record;
  DoorAsk ask;
  ask.session_id = record.session_id;
  ask.kind = door_kind(record);
  ask.settings = settings_of(question);
  if (!record.url) return ask;
  static const std::vector<std::string> kNoHosts;
  auto address =
      parse_door_url(*record.url, context.allow_hosts == nullptr ? kNoHosts : *context.allow_hosts);
  if (!address) {
    reading = failed(address.error().reason, address.error().text);
    return {};
  }
  ask.authority = std::move(address->authority);
  ask.endpoints = std::move(address->endpoints);
  loopback = address->loopback;
  return ask;
}

class Grouper {
 public:
  Grouper(const DoorContext& context, std::vector<DoorReading>& readings)
      : context_(context), readings_(readings) {}

  void add(std::size_t index, const DoorQuestion& question) {
    const Record& record = *question.record;
    if (!record.has_door()) {
      readings_[index] = failed(Reason::kBadUrl, "the record names no door");
      return;
    }
    bool loopback = true;
    auto ask = make_ask(question, context_, readings_[index], loopback);
    if (!ask) return;
    Group* group = group_of(ask->kind, readings_[index]);
    if (group == nullptr) return;
    const bool may_have = loopback && record.door_token && group->prober->may_have_token() &&
                          check_token(*record.door_token).has_value();
    group->questions.push_back(index);
    group->asks.push_back(std::move(*ask));
    group->items.push_back({question.pid, question.owner_uid,
                            may_have ? &*record.door_token : nullptr, !loopback,
                            wants_for(record.process), question.is_same});
  }
  [[nodiscard]] std::vector<Group> take() { return std::move(groups_); }

 private:
  struct Known {
    std::string kind;
    std::optional<std::size_t> group;
    std::string problem;
  };

  Group* group_of(const std::string& kind, DoorReading& reading) {
    for (const Known& known : known_) {
      if (known.kind != kind) continue;
      if (known.group) return &groups_[*known.group];
      reading = failed(Reason::kNoPlugin, known.problem);
      return nullptr;
    }
    auto prober = context_.doors ? context_.doors(kind)
                                 : fail(ErrorCode::kUnsupported, "no door plugins are at hand");
    if (prober && *prober != nullptr) {
      groups_.push_back(Group{std::move(*prober), {}, {}, {}});
      known_.push_back({kind, groups_.size() - 1, {}});
    } else {
      known_.push_back({kind, {}, prober ? "no plugin offers it" : prober.error().message});
    }
    return group_of(kind, reading);
  }

  const DoorContext& context_;
  std::vector<DoorReading>& readings_;
  std::vector<Known> known_;
  std::vector<Group> groups_;
};

}  // namespace

std::string_view door_kind(const Record& record) {
  return record.door ? std::string_view(record.door->kind) : kDefaultKind;
}

struct DoorGate::State {
  State(ProcessProbe& its_probe, std::vector<Item> its_items, const Call& its_call)
      : probe(its_probe), items(std::move(its_items)), call(its_call), rulings(items.size()) {}

  void admit(std::span<const ConnectedSocket> sockets, std::span<Admission> admissions);

  ProcessProbe& probe;
  const std::vector<Item> items;
  const Call& call;
  mutable std::mutex mutex;
  std::vector<Ruling> rulings;
};

void DoorGate::State::admit(std::span<const ConnectedSocket> sockets,
                            std::span<Admission> admissions) {
  const std::lock_guard lock(mutex);
  std::vector<SocketAsk> asks;
  std::vector<Entrant> entrants;
  for (std::size_t i = 0; i < sockets.size() && i < admissions.size(); ++i) {
    admissions[i] = Admission{};
    if (sockets[i].item >= items.size()) continue;
    const Item& item = items[sockets[i].item];
    asks.push_back({sockets[i].socket, item.pid, item.owner_uid});
    entrants.push_back({sockets[i].item, i, {}});
  }
  if (asks.empty()) return;
  std::vector<SocketAnswer> answers(asks.size());
  const Status status = probe.port_owner(asks, answers, call);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    entrants[i].ruling =
        status ? rule(items[entrants[i].item], answers[i])
               : refuse(Reason::kOwnerUnknown, Ownership::kUnknown,
                        "who holds the port could not be read: " + status.error().message);
  }
  recheck(probe, items, entrants, call);
  for (Entrant& entrant : entrants) {
    Admission& admission = admissions[entrant.place];
    admission.admitted = entrant.ruling.admitted;
    if (entrant.ruling.token_given) admission.token = *items[entrant.item].token;
    rulings[entrant.item] = std::move(entrant.ruling);
  }
}

DoorGate::DoorGate(ProcessProbe& probe, std::vector<Item> items, const Call& call)
    : state_(std::make_unique<State>(probe, std::move(items), call)) {}

DoorGate::~DoorGate() = default;

DoorProber::Admit DoorGate::admit() {
  return [state = state_.get()](std::span<const ConnectedSocket> sockets,
                                std::span<Admission> admissions) {
    state->admit(sockets, admissions);
  };
}

DoorGate::Ruling DoorGate::ruling(std::size_t item) const {
  const std::lock_guard lock(state_->mutex);
  return state_->rulings.at(item);
}

void DoorGate::complete(std::size_t item, DoorReading& reading) const {
  const Ruling its = ruling(item);
  reading.ownership = its.ownership;
  if (its.admitted) {
    // Who holds the door explains no failure to answer.
    if (reading.answered && reading.detail.empty()) reading.detail = its.detail;
    return;
  }
  if (reading.answered) {
    reading.answered = false;
    reading.named = false;
    reading.reason = its.refused == Reason::kNone ? Reason::kOwnerUnknown : its.refused;
    reading.detail = its.refused == Reason::kNone
                         ? "the plugin answered for it on a socket that the host never saw"
                         : its.detail;
    return;
  }
  if (its.refused == Reason::kNone) return;
  // What the prober can say of a socket that was not admitted is only that.
  if (reading.reason == Reason::kUnverified || reading.reason == Reason::kNone ||
      reading.reason == Reason::kOwnerUnknown) {
    reading.reason = its.refused;
    reading.detail = its.detail;
  }
}

std::vector<DoorReading> ask_doors(std::span<const DoorQuestion> questions,
                                   const DoorContext& context, const Call& call) {
  std::vector<DoorReading> readings(questions.size());
  Grouper grouper(context, readings);
  for (std::size_t i = 0; i < questions.size(); ++i) grouper.add(i, questions[i]);
  const std::vector<Group> groups = grouper.take();
  const auto ask = [&](const Group& group) { ask_group(group, context, call, readings); };
  std::vector<std::thread> threads;
  std::vector<const Group*> own;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) {
      try {
        threads.emplace_back(ask, std::cref(groups[i]));
        continue;
      } catch (const std::system_error&) {  // no thread to be had: it waits its turn
      }
    }
    own.push_back(&groups[i]);
  }
  for (const Group* group : own) ask(*group);
  for (auto& thread : threads) thread.join();
  return readings;
}

DoorReading ask_to_stop(const DoorQuestion& question, const std::string& reason,
                        const DoorContext& context, const Call& call) {
  std::vector<DoorReading> readings(1);
  Grouper grouper(context, readings);
  grouper.add(0, question);
  std::vector<Group> groups = grouper.take();
  if (groups.empty()) return readings.front();
  for (Group& group : groups) {
    for (DoorGate::Item& item : group.items) item.owner_must_be_known = true;
    if (group.items.empty()) continue;
    if (group.items.front().token == nullptr) {
      return failed(Reason::kTokenMissing, "there is no token to ask it with", group.prober->id());
    }
    ask_group(group, context, call, readings, &reason);
  }
  return readings.front();
}

}  // namespace rollcall
