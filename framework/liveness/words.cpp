// The spelling of every closed set: what JSON, tables and scripts see.
#include <array>
#include <optional>
#include <string_view>

#include "rollcall/process_control.hpp"
#include "rollcall/registry.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

std::string_view to_text(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "none";
    case Reason::kNoProcess:
      return "no-process";
    case Reason::kOtherProcess:
      return "other-process";
    case Reason::kRebooted:
      return "rebooted";
    case Reason::kForeignView:
      return "foreign-view";
    case Reason::kUnreadable:
      return "unreadable";
    case Reason::kRefused:
      return "refused";
    case Reason::kConnectTimeout:
      return "connect-timeout";
    case Reason::kReadTimeout:
      return "read-timeout";
    case Reason::kClosedEarly:
      return "closed-early";
    case Reason::kBadHttp:
      return "bad-http";
    case Reason::kHttpStatus:
      return "http-status";
    case Reason::kRpcError:
      return "rpc-error";
    case Reason::kNotJson:
      return "not-json";
    case Reason::kNoSession:
      return "no-session";
    case Reason::kOtherSession:
      return "other-session";
    case Reason::kTokenRefused:
      return "token-refused";
    case Reason::kForeignListener:
      return "foreign-listener";
    case Reason::kOwnerUnknown:
      return "owner-unknown";
    case Reason::kTooLarge:
      return "too-large";
    case Reason::kNotSupported:
      return "not-supported";
    case Reason::kNotLoopback:
      return "not-loopback";
    case Reason::kBadUrl:
      return "bad-url";
    case Reason::kNoPlugin:
      return "no-plugin";
    case Reason::kTokenMissing:
      return "token-missing";
    case Reason::kSuspended:
      return "suspended";
    case Reason::kUnverified:
      return "unverified";
  }
  return "unverified";
}

std::string_view to_text(ProcessState state) {
  switch (state) {
    case ProcessState::kUnverified:
      return "unverified";
    case ProcessState::kAlive:
      return "alive";
    case ProcessState::kGone:
      return "gone";
  }
  return "unverified";
}

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kLive:
      return "live";
    case Verdict::kAlive:
      return "alive";
    case Verdict::kUnreachable:
      return "unreachable";
    case Verdict::kGone:
      return "gone";
  }
  return "unreachable";
}

std::string_view to_text(Ownership ownership) {
  switch (ownership) {
    case Ownership::kUnknown:
      return "unknown";
    case Ownership::kProcess:
      return "process";
    case Ownership::kDescendant:
      return "descendant";
    case Ownership::kUidOnly:
      return "uid-only";
    case Ownership::kForeign:
      return "foreign";
  }
  return "unknown";
}

std::string_view to_text(StopOutcome outcome) {
  switch (outcome) {
    case StopOutcome::kEnded:
      return "ended";
    case StopOutcome::kAlreadyGone:
      return "already_gone";
    case StopOutcome::kStillThere:
      return "still_there";
    case StopOutcome::kRefused:
      return "refused";
    case StopOutcome::kSent:
      return "sent";
  }
  return "refused";
}

namespace {

struct SignalName {
  Signal signal;
  std::string_view text;
};

constexpr std::array<SignalName, 9> kSignalNames{{
    {Signal::kTerm, "SIGTERM"},
    {Signal::kInt, "SIGINT"},
    {Signal::kHup, "SIGHUP"},
    {Signal::kQuit, "SIGQUIT"},
    {Signal::kKill, "SIGKILL"},
    {Signal::kUsr1, "SIGUSR1"},
    {Signal::kUsr2, "SIGUSR2"},
    {Signal::kCont, "SIGCONT"},
    {Signal::kStop, "SIGSTOP"},
}};

}  // namespace

std::string_view to_text(Signal signal) {
  for (const SignalName& row : kSignalNames) {
    if (row.signal == signal) return row.text;
  }
  return "unknown signal";
}

std::optional<Signal> parse_signal(std::string_view name) {
  for (const SignalName& row : kSignalNames) {
    if (row.text.substr(3) == name) return row.signal;
  }
  return std::nullopt;
}

}  // namespace rollcall
