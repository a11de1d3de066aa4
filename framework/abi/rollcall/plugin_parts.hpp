// The parts of the C++ adapter that need neither exceptions nor the heap nor the C++ runtime, for
// authors who do without them (-fno-exceptions -fno-rtti -nostdlib++) and fill the tables of
// plugin.h themselves. Others include plugin.hpp, which has all of this. C++17 and later.
#ifndef ROLLCALL_PLUGIN_PARTS_HPP
#define ROLLCALL_PLUGIN_PARTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "rollcall/plugin.h"

namespace rollcall::plugin {

// ------------------------------------------------------------------------------------- text

inline std::string_view view(rollcall_str text) {
  return text.data == nullptr ? std::string_view{}
                              : std::string_view(text.data, static_cast<std::size_t>(text.size));
}

inline rollcall_str str(std::string_view text) {
  return rollcall_str{text.data(), static_cast<std::uint64_t>(text.size())};
}

// The longest front of `text` that is at most `limit` bytes and does not end inside a UTF-8
// character.
inline std::string_view cut_utf8(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

// Copies text into an inline buffer of a struct, cut between two characters.
template <std::size_t N>
void set_text(char (&buffer)[N], std::uint32_t& size, std::string_view text) {
  const std::string_view fitting = cut_utf8(text, N);
  if (!fitting.empty()) std::memcpy(buffer, fitting.data(), fitting.size());
  size = static_cast<std::uint32_t>(fitting.size());
}

// Whether `token` may be one: 1..64 bytes of visible ASCII.
inline bool is_token(std::string_view token) {
  return !token.empty() && token.size() <= 64 &&
         std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// ------------------------------------------------------------------------------------ structs

// Fills the caller's error, which may be null, and returns the code.
inline std::int32_t fill_error(rollcall_error* error, std::int32_t code, std::string_view message,
                               std::int64_t os_code = 0) noexcept {
  constexpr std::size_t kHead = offsetof(rollcall_error, message);
  if (error == nullptr || error->struct_size <= kHead) return code;
  const std::size_t room =
      std::min<std::size_t>(error->struct_size - kHead, sizeof(rollcall_error::message));
  const std::string_view fitting = cut_utf8(message, room - 1);
  error->code = code;
  error->os_code = os_code;
  if (!fitting.empty()) std::memcpy(error->message, fitting.data(), fitting.size());
  error->message[fitting.size()] = '\0';
  return code;
}

namespace detail {

// Copies a struct of the other side, which may be shorter or longer than ours.
template <class T>
T copy_sized(const T* from) {
  T copy{};
  if (from != nullptr) {
    std::memcpy(&copy, from, std::min<std::size_t>(from->struct_size, sizeof(T)));
  }
  return copy;
}

// Gives a struct of ours to the other side, which said how much of it it knows.
template <class T>
void give_sized(T* to, T& ours) {
  ours.struct_size = to->struct_size;
  std::memcpy(to, &ours, std::min<std::size_t>(to->struct_size, sizeof(T)));
}

constexpr bool is_id(std::string_view id) {
  if (id.empty() || id.size() > 128) return false;
  bool dotted = false;
  for (const char c : id) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!word && c != '.') return false;
    dotted = dotted || c == '.';
  }
  return dotted && id.front() != '.' && id.back() != '.';
}

}  // namespace detail

// Settings of an instance, or of a door. Views: valid as long as the call that handed them in.
class Settings {
 public:
  Settings() = default;
  Settings(const rollcall_setting* first, std::uint64_t count)
      : first_(first), count_(first == nullptr ? 0 : static_cast<std::size_t>(count)) {}
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const rollcall_setting* begin() const { return first_; }
  [[nodiscard]] const rollcall_setting* end() const { return first_ + count_; }
  // The first of that key.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (view(first_[i].key) == key) return view(first_[i].value);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string_view get(std::string_view key, std::string_view otherwise) const {
    return find(key).value_or(otherwise);
  }

 private:
  const rollcall_setting* first_ = nullptr;
  std::size_t count_ = 0;
};

// ---------------------------------------------------------------------------- process probe

// A batch of questions with room for the answers. Both arrays are walked by the host's strides.
class ObserveBatch {
 public:
  explicit ObserveBatch(const rollcall_observe_batch& batch) : batch_(batch) {}
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(batch_.count); }
  [[nodiscard]] const rollcall_ask& ask(std::size_t i) const {
    return *reinterpret_cast<const rollcall_ask*>(reinterpret_cast<const char*>(batch_.asks) +
                                                  i * batch_.ask_stride);
  }
  [[nodiscard]] rollcall_observation& observation(std::size_t i) const {
    return *reinterpret_cast<rollcall_observation*>(reinterpret_cast<char*>(batch_.observations) +
                                                    i * batch_.observation_stride);
  }

 private:
  const rollcall_observe_batch& batch_;
};

// For one reading. set_start_token says no to what is no token, and leaves the reading as it was.
inline bool set_start_token(rollcall_observation& out, std::string_view token) {
  if (!is_token(token)) return false;
  set_text(out.start_token, out.start_token_size, token);
  out.flags |= ROLLCALL_OBS_START_TOKEN;
  return true;
}
inline void set_exact_id(rollcall_observation& out, std::uint64_t exact_id) {
  out.exact_id = exact_id;
  out.flags |= ROLLCALL_OBS_EXACT_ID;
}
inline void set_suspended(rollcall_observation& out, bool suspended) {
  out.flags |= ROLLCALL_OBS_STATE;
  out.flags &= ~ROLLCALL_OBS_SUSPENDED;
  if (suspended) out.flags |= ROLLCALL_OBS_SUSPENDED;
}
inline void set_unreadable(rollcall_observation& out, std::string_view reason,
                           std::int64_t os_code = 0) {
  out.presence = ROLLCALL_PRESENCE_UNREADABLE;
  out.os_code = os_code;
  set_text(out.reason, out.reason_size, reason);
}

class SocketBatch {
 public:
  explicit SocketBatch(const rollcall_socket_batch& batch) : batch_(batch) {}
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(batch_.count); }
  [[nodiscard]] const rollcall_socket_ask& ask(std::size_t i) const {
    return *reinterpret_cast<const rollcall_socket_ask*>(
        reinterpret_cast<const char*>(batch_.asks) + i * batch_.ask_stride);
  }
  [[nodiscard]] rollcall_socket_answer& answer(std::size_t i) const {
    return *reinterpret_cast<rollcall_socket_answer*>(reinterpret_cast<char*>(batch_.answers) +
                                                      i * batch_.answer_stride);
  }

 private:
  const rollcall_socket_batch& batch_;
};

// -------------------------------------------------------------------------- process control

// The shots of one `stop`.
class StopPlan {
 public:
  explicit StopPlan(const rollcall_stop_plan* plan) : plan_(detail::copy_sized(plan)) {}
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(plan_.shot_count); }
  [[nodiscard]] const rollcall_shot& shot(std::size_t i) const { return plan_.shots[i]; }
  [[nodiscard]] bool wants(std::uint32_t flag) const { return (plan_.flags & flag) != 0; }
  [[nodiscard]] bool valid() const {
    return plan_.shots != nullptr && plan_.shot_count >= 1 && plan_.shot_count <= 32;
  }

 private:
  rollcall_stop_plan plan_;
};

// Receives the processes of a tree.
class StopSink {
 public:
  explicit StopSink(const rollcall_stop_sink* sink) : sink_(detail::copy_sized(sink)) {}
  // The host's answer: negative means stop and return it.
  [[nodiscard]] std::int32_t member(rollcall_stop_member& member) const {
    member.struct_size = sizeof(member);
    return sink_.member(sink_.context, &member);
  }
  [[nodiscard]] bool valid() const { return sink_.member != nullptr; }

 private:
  rollcall_stop_sink sink_;
};

// The host's verdict about a reading that was taken through the pin.
class Judge {
 public:
  explicit Judge(const rollcall_judge* judge) : judge_(detail::copy_sized(judge)) {}
  [[nodiscard]] std::uint32_t wants() const { return judge_.wants; }
  // ROLLCALL_JUDGE_*. Only ALIVE is a licence to signal.
  [[nodiscard]] std::uint32_t operator()(const rollcall_observation& observation) const {
    return judge_.judge(judge_.context, &observation);
  }
  [[nodiscard]] bool valid() const { return judge_.judge != nullptr; }

 private:
  rollcall_judge judge_;
};

}  // namespace rollcall::plugin

#endif  // ROLLCALL_PLUGIN_PARTS_HPP
