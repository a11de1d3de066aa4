#include "regtool/naming.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rollcall::regtool {
namespace {

char to_lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

bool ends_with_any_case(std::string_view whole, std::string_view end) {
  if (end.size() > whole.size()) return false;
  return std::equal(end.begin(), end.end(), whole.end() - static_cast<std::ptrdiff_t>(end.size()),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

bool is_id_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

Outcome<SessionName> parse_row(std::string_view typed) {
  const std::string_view digits = typed.substr(1);
  const bool plain = !digits.empty() && digits.size() <= 9 && digits.front() != '0' &&
                     digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!plain) {
    return usage_failure("a row of ps is named @1, @2, ...", std::string(typed));
  }
  SessionName name{.text = std::string(typed)};
  for (const char digit : digits) name.row = name.row * 10 + static_cast<std::size_t>(digit - '0');
  return name;
}

std::string_view why_no_name(std::string_view typed) {
  if (typed.empty()) return "a session id is not empty";
  if (typed.size() > kLongestId) return "a session id has at most 128 characters";
  if (typed.front() == '-') return "a session id does not begin with '-'";
  if (typed == "." || typed == "..") return "a session id is not a path";
  if (typed.find_first_of("/\\") != std::string_view::npos) return "a session id is not a path";
  if (typed.find(':') != std::string_view::npos) {
    return "a session is named by its id, not by an address; see: regtool ps";
  }
  for (const std::string_view end : {".json", ".control", ".tmp"}) {
    if (ends_with_any_case(typed, end)) return "a session id is not the name of its file";
  }
  if (!std::all_of(typed.begin(), typed.end(), is_id_byte)) {
    return "a session id has only letters, digits, '.', '_' and '-'";
  }
  return {};
}

const NameCandidate* find_row(std::size_t row, const NameCandidates& candidates) {
  for (const NameCandidate& session : candidates.sessions) {
    if (session.process_alive && --row == 0) return &session;
  }
  return nullptr;
}

tl::unexpected<Failure> not_found(std::string text, const SessionName& name) {
  return tl::unexpected<Failure>(Failure{kExitNo, "session_not_found", std::move(text), name.text});
}

// One id that a name fits, and what became of it.
struct Match {
  std::string_view id;
  const std::string* pruned_reason = nullptr;
  bool unreadable = false;
};

template <class Fits>
std::vector<Match> matches(const NameCandidates& candidates, const Fits& fits) {
  std::vector<Match> found;
  const auto known = [&](std::string_view id) {
    return std::any_of(found.begin(), found.end(), [&](const Match& m) { return m.id == id; });
  };
  for (const auto& session : candidates.sessions) {
    if (fits(session.session_id)) found.push_back({.id = session.session_id});
  }
  for (const auto& id : candidates.unreadable) {
    if (fits(id) && !known(id)) found.push_back({.id = id, .unreadable = true});
  }
  for (const auto& pruned : candidates.pruned) {
    if (fits(pruned.session_id) && !known(pruned.session_id)) {
      found.push_back({.id = pruned.session_id, .pruned_reason = &pruned.reason});
    }
  }
  return found;
}

Outcome<std::string> answer_for(const Match& match, const SessionName& name) {
  if (match.pruned_reason != nullptr) {
    return not_found(
        fmt::format("session {} is gone and was pruned: {}", match.id,
                    match.pruned_reason->empty() ? "no reason was kept" : *match.pruned_reason),
        name);
  }
  if (match.unreadable) {
    return tl::unexpected<Failure>(
        Failure{kExitIo, "unreadable",
                fmt::format("the record of session {} cannot be used; see: regtool ps", match.id),
                name.text});
  }
  return std::string(match.id);
}

}  // namespace

Outcome<SessionName> parse_session_name(std::string_view typed) {
  if (!typed.empty() && typed.front() == '@') return parse_row(typed);
  const std::string_view why = why_no_name(typed);
  if (!why.empty()) return usage_failure(std::string(why), std::string(typed));
  return SessionName{.text = std::string(typed)};
}

Outcome<std::string> resolve_session_name(const SessionName& name,
                                          const NameCandidates& candidates) {
  if (name.row > 0) {
    const NameCandidate* row = find_row(name.row, candidates);
    if (row != nullptr) return row->session_id;
    return not_found(fmt::format("no row {}: fewer sessions have a live process", name.text), name);
  }
  const bool is_number = name.text.find_first_not_of("0123456789") == std::string::npos;
  const std::string hint =
      is_number ? fmt::format("; sessions are named by id: for a pid, regtool ps --filter pid={}",
                              name.text)
                : "";
  const std::string none = candidates.place.empty()
                               ? fmt::format("no session {}", name.text)
                               : fmt::format("no session {} in {}", name.text, candidates.place);
  const auto exact = matches(candidates, [&](std::string_view id) { return id == name.text; });
  if (!exact.empty()) return answer_for(exact.front(), name);
  if (name.text.size() < kShortestSuffix) {
    return not_found(fmt::format("{}; the end of an id needs at least {} characters{}", none,
                                 kShortestSuffix, hint),
                     name);
  }
  const auto found =
      matches(candidates, [&](std::string_view id) { return ends_with_any_case(id, name.text); });
  if (found.empty()) return not_found(none + hint, name);
  if (found.size() == 1) return answer_for(found.front(), name);
  std::string text = fmt::format("{} fits {} sessions:", name.text, found.size());
  for (const Match& match : found) text.append(" ").append(match.id);
  return tl::unexpected<Failure>(Failure{kExitUsage, "ambiguous", std::move(text), name.text});
}

Failure refuse_row_name(const SessionName& name, const NameCandidates& candidates) {
  const NameCandidate* row = find_row(name.row, candidates);
  const std::string meant =
      row == nullptr ? std::string("it names no session now")
                     : fmt::format("it would have meant {}; name that id", row->session_id);
  return {kExitRefused, "refused",
          fmt::format("{} may be another session by the time it is acted on: {}", name.text, meant),
          name.text};
}

}  // namespace rollcall::regtool
