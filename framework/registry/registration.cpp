#include "rollcall/registration.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "core/process_mark.hpp"
#include "rollcall/file_store.hpp"

namespace rollcall {

struct Registration::State {
  std::shared_ptr<RecordStore> store;  // of a record
  std::shared_ptr<FileStore> files;    // of a control token
  std::string session_id;
  std::string version;
  core::ProcessMark made_by;
};

namespace {

// The record is the guard's own: what it wrote is what it removes.
Status remove_own(RecordStore& store, std::string_view id, std::string_view version) {
  if (auto* const files = dynamic_cast<FileStore*>(&store)) {
    return files->remove_own_if(id, version, {});
  }
  return store.remove_if(id, version, {});
}

// Whether there is nothing left that a later attempt could remove.
bool is_settled(const Status& removed) {
  return removed || removed.error().code == ErrorCode::kConflict ||
         removed.error().code == ErrorCode::kNotFound ||
         removed.error().code == ErrorCode::kInvalid;
}

}  // namespace

Registration::Registration() = default;
Registration::Registration(std::unique_ptr<State> state) : state_(std::move(state)) {}
Registration::Registration(Registration&&) noexcept = default;

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    Registration old(std::move(*this));  // is dropped, and removes what it guards
    state_ = std::move(other.state_);
  }
  return *this;
}

Registration::~Registration() {
  try {
    if (active()) static_cast<void>(release());
  } catch (const std::exception&) {
    // Out of memory: the record stays, and is proven gone once this process has ended.
  }
}

Registration Registration::adopt(std::shared_ptr<RecordStore> store, std::string session_id,
                                 std::string version) {
  auto state = std::make_unique<State>();
  state->store = std::move(store);
  state->session_id = std::move(session_id);
  state->version = std::move(version);
  return Registration(std::move(state));
}

Registration Registration::adopt_control(std::shared_ptr<FileStore> store, std::string session_id,
                                         std::string version) {
  auto state = std::make_unique<State>();
  state->files = std::move(store);
  state->session_id = std::move(session_id);
  state->version = std::move(version);
  return Registration(std::move(state));
}

const std::string& Registration::session_id() const {
  static const std::string none;
  return state_ ? state_->session_id : none;
}

bool Registration::active() const { return state_ != nullptr; }

Status Registration::release() {
  if (!state_) return fail(ErrorCode::kInvalid, "there is nothing that this registration guards");
  if (!state_->made_by.in_same_process()) {
    const std::string id = state_->session_id;
    state_.reset();
    return fail(ErrorCode::kRefused,
                fmt::format("session {} was registered by another process than this one", id));
  }
  auto removed = state_->files
                     ? state_->files->remove_control_if(state_->session_id, state_->version, {})
                     : remove_own(*state_->store, state_->session_id, state_->version);
  if (is_settled(removed)) state_.reset();
  return removed;
}

void Registration::detach() { state_.reset(); }

}  // namespace rollcall
