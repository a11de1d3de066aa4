// The built-in record store: <home>/running/<session_id>.json, with gone/ and quarantine/.
// Receipts stand in another folder of the same home, under the same rules and the same lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/record.hpp"
#include "rollcall/record_store.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// Why a record was taken away; written beside it in gone/.
struct GoneEvidence {
  Reason reason = Reason::kNone;
  std::string text;
  std::int64_t pruned_unix_ns = 0;
  std::string plugin;  // the probe whose reading it was
};

struct GoneRecord {
  std::string session_id;
  Record record;  // without its tokens
  GoneEvidence evidence;
};

struct QuarantineReport {
  std::string file;      // the name in running/
  std::string moved_to;  // empty: left alone
  std::string reason;
};

// The folders of a home that a store may stand on.
inline constexpr std::string_view kRecordsFolder = "running";
inline constexpr std::string_view kReceiptsFolder = "live";

class ROLLCALL_API FileStore final : public RecordStore {
 public:
  struct Options {
    std::string home;                    // absolute
    std::shared_ptr<const Clock> clock;  // required
    bool read_only = false;              // another user's home: nothing is created or changed
    std::int64_t gone_days = 7;
    std::int64_t quarantine_days = 30;
    std::size_t quarantine_files = 100;
    std::int64_t lock_timeout_ms = 2000;
    std::optional<std::uint64_t> expect_owner;  // the uid that must own the home; default: our own
    // For tests: called between the steps of a change, with the name of the step that comes next.
    std::function<void(std::string_view step)> before_step;
    std::string folder{kRecordsFolder};  // or kReceiptsFolder
  };

  // Creates nothing. Errors: kInvalid (a relative home, another folder).
  [[nodiscard]] static Result<std::shared_ptr<FileStore>> open(Options options);
  ~FileStore() override;

  [[nodiscard]] std::string id() const override { return "files"; }
  [[nodiscard]] const std::string& home() const;
  [[nodiscard]] const std::string& folder() const;
  [[nodiscard]] bool read_only() const;
  // Whether the home is on a file system of this machine alone; kShared where it cannot be told.
  [[nodiscard]] HomeKind home_kind() const;

  // RecordStore. Creating makes the directories (0700) where they are missing; two ids that differ
  // in case only cannot both be there (kExists).
  [[nodiscard]] Result<std::vector<StoredRecord>> list(const Call& call) override;
  [[nodiscard]] Result<StoredRecord> read(std::string_view name, const Call& call) override;
  [[nodiscard]] Status create_if_absent(std::string_view name, std::string_view bytes,
                                        const Call& call) override;
  [[nodiscard]] Status replace_if(std::string_view name, std::string_view version,
                                  std::string_view bytes, const Call& call) override;
  [[nodiscard]] Status remove_if(std::string_view name, std::string_view version,
                                 const Call& call) override;

  [[nodiscard]] std::optional<StorePlace> place() const override;

  // As remove_if, by who wrote the record itself: what changes the ctime alone (a hard link, as
  // backups make) leaves it his. Inode and bytes must still be those of `version`.
  [[nodiscard]] Status remove_own_if(std::string_view name, std::string_view version,
                                     const Call& call);

  // Compare-and-delete of a record that was judged Gone: a copy without its tokens goes to gone/
  // with the evidence, its control token goes with it, entries past gone_days are dropped.
  // Errors: kConflict (it is another record now), kNotFound, kTimeout (the lock), kIo.
  [[nodiscard]] Status archive_gone(const StoredRecord& judged, const Record& record,
                                    const GoneEvidence& evidence, const Call& call);
  [[nodiscard]] Result<std::vector<GoneRecord>> list_gone(const Call& call);
  // Puts a record of gone/ back (without tokens). Errors: kNotFound, kExists.
  [[nodiscard]] Status undo_gone(std::string_view session_id, const Call& call);

  // Moves a file that is no record, read as `judged`, to quarantine/ once it is older than a
  // minute; keeps quarantine/ within its bounds. A newer schema and a young file are left alone.
  [[nodiscard]] Result<QuarantineReport> quarantine(const StoredRecord& judged,
                                                    const RecordError& problem, const Call& call);

  // Whether quarantine() would move it now. Changes nothing. Errors: as it, but for the lock.
  [[nodiscard]] Result<bool> would_quarantine(const StoredRecord& judged,
                                              const RecordError& problem) const;

  // Leftover staging files older than a minute: those whose writer `is_gone` proves gone, and those
  // that name no writer, since who writes one holds the lock that this takes. Returns names.
  [[nodiscard]] Result<std::vector<std::string>> sweep_staging(
      const std::function<bool(const ProcessIdentity& writer)>& is_gone, const Call& call);

  // <id>.control: a control token beside a record, 0600, holding just the token.
  // write: kExists unless the file is our own earlier one (`replace`). Returns its version.
  [[nodiscard]] Result<std::string> write_control(std::string_view session_id,
                                                  std::string_view token, bool replace,
                                                  const Call& call);
  [[nodiscard]] Status remove_control_if(std::string_view session_id, std::string_view version,
                                         const Call& call);
  [[nodiscard]] Result<std::optional<std::string>> read_control(std::string_view session_id,
                                                                const Call& call);
  // Control files without a record, by session id.
  [[nodiscard]] Result<std::vector<std::string>> list_orphan_controls(const Call& call);
  // The absolute path of a session's control file. Errors: kInvalid (the id).
  [[nodiscard]] Result<std::string> control_path(std::string_view session_id) const;

  // What staging files are named by, so that a later sweep can prove their writer gone. Registry
  // does it before every act; for a store without one, before writing and anew after a fork.
  // Threads: any.
  void set_writer(const ProcessIdentity& self);

 private:
  class Impl;
  explicit FileStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall
