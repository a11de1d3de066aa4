#include "rollcall/receipts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "core/hex.hpp"
#include "core/random.hpp"
#include "core/secret.hpp"
#include "core/text.hpp"
#include "receipts/receipt_rules.hpp"
#include "receipts/receipts_impl.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::size_t kIdBytes = 16;

using Refusal = tl::unexpected<ReceiptError>;

Refusal problem(ReceiptProblem kind, ErrorCode code, std::string text) {
  return Refusal(ReceiptError{kind, Error{code, std::move(text)}});
}

Refusal io_problem(Error error) {
  const ReceiptProblem kind =
      error.code == ErrorCode::kUnreadable ? ReceiptProblem::kUnverified : ReceiptProblem::kIo;
  return Refusal(ReceiptError{kind, std::move(error)});
}

// 16 bytes of the system's randomness; there is no other source.
Result<std::string> new_receipt_id() {
  std::array<std::byte, kIdBytes> bytes{};
  if (auto filled = core::fill_random(bytes); !filled) return tl::unexpected(filled.error());
  return core::to_hex(bytes);
}

ReceiptMetadata default_metadata() {
  ReceiptMetadata metadata;
  metadata.endpoint_capabilities = {"http", "acp"};
  return metadata;
}

std::string shown(std::string_view text) { return text::for_terminal(text); }

}  // namespace

std::string_view to_text(ReceiptProblem problem) {
  switch (problem) {
    case ReceiptProblem::kInvalidEndpoint:
      return "invalid-endpoint";
    case ReceiptProblem::kNotLive:
      return "not-live";
    case ReceiptProblem::kIdentityMismatch:
      return "identity-mismatch";
    case ReceiptProblem::kInvalidReceipt:
      return "invalid-receipt";
    case ReceiptProblem::kAmbiguous:
      return "ambiguous";
    case ReceiptProblem::kUnverified:
      return "unverified";
    case ReceiptProblem::kIo:
      return "io";
  }
  return "io";
}

Receipts::Receipts(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Receipts::~Receipts() = default;

Result<std::unique_ptr<Receipts>> Receipts::open(Options options) {
  if (!options.files || !options.probe || !options.clock) {
    return fail(ErrorCode::kInvalid, "receipts need a file store, a process probe and a clock");
  }
  if (options.files->folder() != kReceiptsFolder) {
    return fail(ErrorCode::kInvalid, fmt::format("receipts stand in {}/, not in {}/",
                                                 kReceiptsFolder, options.files->folder()));
  }
  if (!options.probe->is_platform()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not this platform's own backend", options.probe->id()));
  }
  return std::unique_ptr<Receipts>(new Receipts(std::make_unique<Impl>(std::move(options))));
}

ReceiptResult<RegisteredReceipt> Receipts::register_receipt(NewReceipt wanted, const Call& call) {
  const auto& options = impl_->options();
  Receipt receipt;
  receipt.runtime_session_id = std::move(wanted.runtime_session_id);
  receipt.source = std::move(wanted.source);
  receipt.base_url = std::move(wanted.base_url);
  receipt.process = std::move(wanted.process);
  core::SecretText token(std::move(wanted.token));
  receipt.token = token.text();
  core::SecretText bytes;
  const auto written = [&]() -> ReceiptResult<std::string> {
    if (auto good = receipts::check_receipt(receipt); !good) {
      return Refusal(ReceiptError{ReceiptProblem::kInvalidReceipt, good.error()});
    }
    receipt.source.workspace = receipts::canonical_workspace(receipt.source.workspace);
    receipt.metadata = wanted.metadata ? std::move(*wanted.metadata) : default_metadata();
    // Also names the writer to the store.
    const auto self = impl_->self(call);
    if (!self) return io_problem(self.error());
    if (receipt.process.pid == 0) receipt.process = *self;
    receipt.created_at_ms = options.clock->unix_ns() / kNsPerMs;
    auto id = new_receipt_id();
    if (!id) return io_problem(id.error());
    receipt.receipt_id = std::move(*id);
    auto text = serialize_receipt(receipt);
    if (!text) return Refusal(ReceiptError{ReceiptProblem::kInvalidReceipt, text.error()});
    bytes = core::SecretText(std::move(*text));
    if (auto made = options.files->create_if_absent(receipt.receipt_id, bytes.text(), call);
        !made) {
      return io_problem(made.error());
    }
    auto ours = options.files->read(receipt.receipt_id, call);
    if (!ours) return io_problem(ours.error());
    core::SecretText read(std::move(ours->bytes));
    if (read.text() != bytes.text()) {
      return problem(ReceiptProblem::kIo, ErrorCode::kConflict,
                     "another writer replaced the receipt");
    }
    return std::move(ours->version);
  }();
  core::wipe(receipt.token);
  if (!written) return tl::unexpected(written.error());
  return RegisteredReceipt{format_endpoint(receipt.receipt_id),
                           Registration::adopt(options.files, receipt.receipt_id, *written)};
}

ReceiptResult<ReceiptList> Receipts::list(const Call& call) {
  auto found = impl_->read_all(call);
  if (!found) return io_problem(found.error());
  ReceiptList list = std::move(found->list);
  receipts::Removal removal{list.warnings, {}};
  for (auto& entry : found->entries) {
    ReceiptView view = receipts::view_of(entry);
    const bool gone = view.state == ProcessState::kGone;
    const bool removed =
        gone && impl_->options().prune && impl_->remove_gone(entry, found->here, removal, call);
    view = receipts::view_of(entry);
    (removed ? list.pruned : list.receipts).push_back(std::move(view));
  }
  return list;
}

ReceiptResult<std::optional<ReceiptView>> Receipts::find(std::string_view runtime_session_id,
                                                         const Call& call) {
  auto all = list(call);
  if (!all) return tl::unexpected(all.error());
  std::optional<ReceiptView> found;
  std::string endpoints;
  std::size_t count = 0;
  for (ReceiptView& view : all->receipts) {
    if (view.state == ProcessState::kGone || view.runtime_session_id != runtime_session_id)
      continue;
    endpoints.append(count == 0 ? "" : ", ").append(view.endpoint);
    if (++count == 1) found = std::move(view);
  }
  if (count <= 1) return found;
  return problem(
      ReceiptProblem::kAmbiguous, ErrorCode::kAmbiguous,
      fmt::format("{} receipts are of {}: {}", count, shown(runtime_session_id), endpoints));
}

ReceiptResult<std::optional<ReceiptView>> Receipts::discover(const ReceiptSource& source,
                                                             const Call& call) {
  auto all = list(call);
  if (!all) return tl::unexpected(all.error());
  const std::string canonical = receipts::canonical_workspace(source.workspace);
  for (ReceiptView& view : all->receipts) {
    if (view.state == ProcessState::kGone) continue;
    if (receipts::is_same_source(view.source, source, canonical)) {
      return std::optional(std::move(view));
    }
  }
  return std::optional<ReceiptView>();
}

ReceiptResult<ResolvedReceipt> Receipts::resolve(std::string_view endpoint,
                                                 const ReceiptSource& source, const Call& call) {
  const auto id = parse_endpoint(endpoint);
  if (!id) return Refusal(ReceiptError{ReceiptProblem::kInvalidEndpoint, id.error()});
  auto stored = impl_->options().files->read(*id, call);
  if (!stored && stored.error().code == ErrorCode::kNotFound) {
    return problem(ReceiptProblem::kNotLive, ErrorCode::kNotFound,
                   fmt::format("there is no receipt {}", endpoint));
  }
  if (!stored) return io_problem(stored.error());
  if (!stored->problem.empty()) {
    return problem(ReceiptProblem::kIo, ErrorCode::kUnreadable, stored->problem);
  }
  auto receipt = parse_receipt(stored->bytes, *id);
  core::wipe(stored->bytes);
  if (!receipt) {
    const bool another = receipt.error().problem == RecordProblem::kNameMismatch;
    return problem(
        another ? ReceiptProblem::kIdentityMismatch : ReceiptProblem::kInvalidReceipt,
        ErrorCode::kCorrupt,
        fmt::format("{}.json is no receipt of that name: {}", *id, receipt.error().text));
  }
  core::SecretText token(std::move(receipt->token));
  const std::string canonical = receipts::canonical_workspace(source.workspace);
  if (!receipts::is_same_source(receipt->source, source, canonical)) {
    return problem(
        ReceiptProblem::kIdentityMismatch, ErrorCode::kRefused,
        fmt::format("{} is of another source than the one that was named: {}:{} in {}", endpoint,
                    shown(source.harness), shown(source.session_id), shown(source.workspace)));
  }
  receipts::Entry entry{std::move(*receipt), std::move(*stored), {}, {}};
  const auto here = impl_->judge({&entry, 1}, call);
  if (!here) return io_problem(here.error());
  if (entry.process.state == ProcessState::kGone) {
    std::vector<std::string> ignored;
    if (impl_->options().prune) {
      receipts::Removal removal{ignored, {}};
      static_cast<void>(impl_->remove_gone(entry, *here, removal, call));
    }
    return problem(ReceiptProblem::kNotLive, ErrorCode::kNotFound,
                   fmt::format("{} is not live: {}", endpoint, entry.reason));
  }
  if (entry.process.state != ProcessState::kAlive) {
    return problem(ReceiptProblem::kUnverified, ErrorCode::kUnreadable,
                   fmt::format("{} cannot be verified: {}", endpoint, entry.reason));
  }
  return ResolvedReceipt{.endpoint = std::string(endpoint),
                         .runtime_session_id = std::move(entry.receipt.runtime_session_id),
                         .source = std::move(entry.receipt.source),
                         .base_url = std::move(entry.receipt.base_url),
                         .token = std::move(token.text()),
                         .pid = entry.receipt.process.pid};
}

ReceiptResult<bool> Receipts::forget(std::string_view endpoint, const Call& call) {
  const auto id = parse_endpoint(endpoint);
  if (!id) return Refusal(ReceiptError{ReceiptProblem::kInvalidEndpoint, id.error()});
  auto removed = impl_->forget(*id, call);
  if (!removed) return io_problem(removed.error());
  return *removed;
}

ReceiptResult<ReceiptList> Receipts::clean_up(bool dry_run, const Call& call) {
  auto found = impl_->read_all(call);
  if (!found) return io_problem(found.error());
  ReceiptList list = std::move(found->list);
  receipts::Removal removal{list.warnings, {}};
  for (auto& entry : found->entries) {
    bool gone = entry.process.state == ProcessState::kGone;
    if (gone && !dry_run) gone = impl_->remove_gone(entry, found->here, removal, call);
    (gone ? list.pruned : list.receipts).push_back(receipts::view_of(entry));
  }
  impl_->quarantine(list, dry_run, call);
  if (!dry_run) impl_->sweep_leftovers(found->here, list.warnings, call);
  return list;
}

}  // namespace rollcall
