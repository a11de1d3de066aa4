// How a guard of Rollcall's own (`regtool run`) is asked to stay until its tree has ended. It is a
// child subreaper, so that whatever its command leaves behind stays its descendant; but it ends as
// soon as its command has, and its orphans with it would be nobody's. Who stops the tree holds it.
//
//   Signal    SIGURG, which does nothing by default, sent to the guard with si_code SI_QUEUE and
//             si_value.sival_int as hold_value() makes it. Any other SIGURG is no word of this
//             kind.
//   Meaning   once the command has ended, the guard goes on reaping for at most that many
//             milliseconds from the signal; 0 lets it go. A later word replaces an earlier one. Its
//             exit status stays its command's. Any other signal that would end it lets it go too.
//             kHoldForOrphans: until its last descendant has ended, whatever words come later. So
//             whoever was not stopped can still be found below it.
//   Who       only a session whose record says `"rollcall.holds": "1"` in its metadata.
//
// A signal that every process of a tree is sent carries kTreeSignal (SI_QUEUE, as above): a guard
// in that tree does not pass it on to its command, which is sent its own.
#ifndef ROLLCALL_TREE_HOLD_HPP
#define ROLLCALL_TREE_HOLD_HPP

#include <algorithm>
#include <cstdint>
#include <optional>

namespace rollcall::plugin {

inline constexpr const char* kHoldsKey = "rollcall.holds";  // in a record's metadata
inline constexpr std::int64_t kLongestHoldMs = 3'600'000;
inline constexpr std::int64_t kHoldForOrphans = 0xFFFFFF;
inline constexpr std::int32_t kTreeSignal = 0x54000000;

// The upper byte tells it from what others may queue.
inline constexpr std::uint32_t kHoldMark = 0x52000000U;
inline std::int32_t hold_value(std::int64_t ms) {
  const auto held = ms == kHoldForOrphans ? ms : std::clamp<std::int64_t>(ms, 0, kLongestHoldMs);
  return static_cast<std::int32_t>(kHoldMark | static_cast<std::uint32_t>(held));
}
// The milliseconds, or kHoldForOrphans; nullopt: no such word.
inline std::optional<std::int64_t> held_ms(std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  if ((bits & 0xFF000000U) != kHoldMark) return std::nullopt;
  const std::int64_t ms = bits & 0x00FFFFFFU;
  if (ms > kLongestHoldMs && ms != kHoldForOrphans) return std::nullopt;
  return ms;
}

}  // namespace rollcall::plugin

#endif  // ROLLCALL_TREE_HOLD_HPP
