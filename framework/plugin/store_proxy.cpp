#include <fmt/format.h>

#include <algorithm>

#include "plugin/proxies.hpp"
#include "rollcall/record.hpp"

namespace rollcall::loader {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxListBytes = 1U << 30;
constexpr std::size_t kMaxVersionBytes = 128;
constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxProblemBytes = 512;

bool readable(const rollcall_str& text) { return text.size == 0 || text.data != nullptr; }

std::string copy(const rollcall_str& text, std::size_t limit) {
  if (text.size == 0) return {};
  return std::string(text.data,
                     static_cast<std::size_t>(std::min<std::uint64_t>(text.size, limit)));
}

// Copies the entries that the plugin hands over.
struct EntryJob {
  std::vector<StoredRecord> entries;
  std::size_t bytes = 0;

  static std::int32_t take(void* context, const rollcall_store_entry* raw) noexcept {
    if (raw == nullptr || raw->struct_size < sizeof(rollcall_store_entry)) {
      return ROLLCALL_E_INVALID;
    }
    try {
      return static_cast<EntryJob*>(context)->add(*raw);
    } catch (...) {
      return ROLLCALL_E_NO_MEMORY;
    }
  }
  [[nodiscard]] rollcall_store_sink sink() {
    return {.struct_size = sizeof(rollcall_store_sink), .context = this, .entry = &EntryJob::take};
  }

 private:
  std::int32_t add(const rollcall_store_entry& raw) {
    if (!readable(raw.name) || !readable(raw.version) || !readable(raw.bytes) ||
        !readable(raw.problem) || raw.name.size == 0 || raw.name.size > kMaxNameBytes) {
      return ROLLCALL_E_INVALID;
    }
    StoredRecord entry;
    entry.name = copy(raw.name, kMaxNameBytes);
    entry.version = copy(raw.version, kMaxVersionBytes);
    entry.problem = copy(raw.problem, kMaxProblemBytes);
    if (raw.owner_uid >= 0) entry.owner_uid = static_cast<std::uint64_t>(raw.owner_uid);
    if (raw.version.size > kMaxVersionBytes) {
      entry.problem = fmt::format("its version has more than {} bytes", kMaxVersionBytes);
    } else if (raw.bytes.size > kMaxRecordBytes) {
      entry.problem = fmt::format("it has more than {} bytes", kMaxRecordBytes);
    } else {
      entry.bytes = copy(raw.bytes, kMaxRecordBytes);
    }
    bytes += entry.name.size() + entry.version.size() + entry.bytes.size() + sizeof(StoredRecord);
    if (entries.size() >= kMaxEntries || bytes > kMaxListBytes) return ROLLCALL_E_TOO_LARGE;
    entries.push_back(std::move(entry));
    return ROLLCALL_OK;
  }
};

// Newest first; of two entries with one name neither can be believed.
void order(std::vector<StoredRecord>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const StoredRecord& a, const StoredRecord& b) { return a.name > b.name; });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].name != entries[i - 1].name) continue;
    entries[i - 1].bytes.clear();
    entries[i - 1].problem = "the store lists this name twice";
  }
  entries.erase(
      std::unique(entries.begin(), entries.end(),
                  [](const StoredRecord& a, const StoredRecord& b) { return a.name == b.name; }),
      entries.end());
}

class StoreProxy final : public RecordStore {
 public:
  StoreProxy(std::shared_ptr<Instance> instance, const rollcall_record_store& table)
      : instance_(std::move(instance)), table_(table) {}

  [[nodiscard]] std::string id() const override { return instance_->id(); }

  [[nodiscard]] Result<std::vector<StoredRecord>> list(const Call& call) override {
    auto job = std::make_shared<EntryJob>();
    Status done = instance_->run(
        "list",
        [job, slot = table_.list](void* self, const rollcall_call* bounds, rollcall_error* error) {
          const rollcall_store_sink sink = job->sink();
          return slot(self, &sink, bounds, error);
        },
        call, kStoreReadLimitNs);
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    order(job->entries);
    return std::move(job->entries);
  }

  [[nodiscard]] Result<StoredRecord> read(std::string_view name, const Call& call) override {
    auto job = std::make_shared<EntryJob>();
    Status done = instance_->run(
        "read",
        [job, slot = table_.read, wanted = std::string(name)](
            void* self, const rollcall_call* bounds, rollcall_error* error) {
          const rollcall_store_sink sink = job->sink();
          return slot(self, {wanted.data(), wanted.size()}, &sink, bounds, error);
        },
        call, kStoreReadLimitNs);
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    if (job->entries.size() != 1 || job->entries.front().name != name) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("plugin {}: read: it answered {} with {} entries of other names or "
                              "numbers than asked",
                              id(), name, job->entries.size()));
    }
    return std::move(job->entries.front());
  }

  [[nodiscard]] Status create_if_absent(std::string_view name, std::string_view bytes,
                                        const Call& call) override {
    if (table_.create_if_absent == nullptr) return instance_->not_offered("create_if_absent");
    return instance_->run(
        "create_if_absent",
        [slot = table_.create_if_absent, name = std::string(name), bytes = std::string(bytes)](
            void* self, const rollcall_call* bounds, rollcall_error* error) {
          return slot(self, {name.data(), name.size()}, {bytes.data(), bytes.size()}, bounds,
                      error);
        },
        call);
  }

  [[nodiscard]] Status replace_if(std::string_view name, std::string_view version,
                                  std::string_view bytes, const Call& call) override {
    if (table_.replace_if == nullptr) return instance_->not_offered("replace_if");
    return instance_->run(
        "replace_if",
        [slot = table_.replace_if, name = std::string(name), version = std::string(version),
         bytes = std::string(bytes)](void* self, const rollcall_call* bounds,
                                     rollcall_error* error) {
          return slot(self, {name.data(), name.size()}, {version.data(), version.size()},
                      {bytes.data(), bytes.size()}, bounds, error);
        },
        call);
  }

  [[nodiscard]] Status remove_if(std::string_view name, std::string_view version,
                                 const Call& call) override {
    if (table_.remove_if == nullptr) return instance_->not_offered("remove_if");
    return instance_->run(
        "remove_if",
        [slot = table_.remove_if, name = std::string(name), version = std::string(version)](
            void* self, const rollcall_call* bounds, rollcall_error* error) {
          return slot(self, {name.data(), name.size()}, {version.data(), version.size()}, bounds,
                      error);
        },
        call);
  }

 private:
  std::shared_ptr<Instance> instance_;
  rollcall_record_store table_;
};

}  // namespace

Result<std::shared_ptr<RecordStore>> make_store(const PluginContext& context,
                                                const Settings& settings) {
  const auto& table = context.code->store();
  if (!table) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("plugin {} offers no record store", context.code->id()));
  }
  auto instance = Instance::make(context, slots_of(*table), settings);
  if (!instance) return tl::unexpected<Error>(std::move(instance.error()));
  return std::make_shared<StoreProxy>(std::move(*instance), *table);
}

}  // namespace rollcall::loader
