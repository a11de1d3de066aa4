// Reading a session's process itself: verified before the reading and after it.
#include <fmt/format.h>

#include <utility>

#include "registry/registry_impl.hpp"

namespace rollcall {
namespace {

// Nothing where the process is the recorded one; else the error of a read that found it is not.
Status check_alive(const Registry::Impl& impl, SessionView& view, const Here& here,
                   const Call& call) {
  SessionView* const one[] = {&view};
  if (auto status = impl.observe(one, 0, here, call); !status) return status;
  if (view.process.state == ProcessState::kAlive) return {};
  const std::string why = reason_text(view.process, view.record.process, view.read, here);
  if (view.process.state == ProcessState::kGone) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the process of {} is gone: {}", view.record.session_id, why));
  }
  return fail(ErrorCode::kRefused,
              fmt::format("not read: it cannot be told whether pid {} is the process of {}: {}",
                          view.record.process.pid, view.record.session_id, why));
}

}  // namespace

Result<std::string> Registry::read_process(std::string_view session_id, ReadWhat what,
                                           const Call& call) {
  auto readings = read_process(session_id, std::span(&what, 1), call);
  if (!readings) return tl::unexpected(readings.error());
  return std::move(readings->front());
}

Result<std::vector<std::string>> Registry::read_process(std::string_view session_id,
                                                        std::span<const ReadWhat> what,
                                                        const Call& call) {
  auto view = impl_->read(session_id, call);
  if (!view) return tl::unexpected(view.error());
  const auto here = impl_->here(call);
  if (!here) return tl::unexpected(here.error());
  if (auto alive = check_alive(*impl_, *view, *here, call); !alive) {
    return tl::unexpected(alive.error());
  }
  Status read;
  std::vector<std::string> readings;
  for (std::size_t i = 0; i < what.size() && read; ++i) {
    auto bytes = impl_->options().probe->read(view->record.process.pid, what[i], call);
    if (bytes) {
      readings.push_back(std::move(*bytes));
    } else {
      read = tl::unexpected(std::move(bytes.error()));
    }
  }
  // Whatever was read, or not read, is the session's only if its process still holds the pid.
  if (auto alive = check_alive(*impl_, *view, *here, call); !alive) {
    return tl::unexpected(alive.error());
  }
  if (!read) {
    Error error = std::move(read.error());
    // It is alive: what was not found is the reading.
    if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnreadable;
    return wrap(fmt::format("cannot read pid {} of {}", view->record.process.pid, session_id),
                std::move(error));
  }
  return readings;
}

}  // namespace rollcall
