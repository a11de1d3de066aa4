// A registration is a guard: the record stands for exactly as long as it lives.
#pragma once

#include <memory>
#include <string>

#include "rollcall/export.hpp"
#include "rollcall/record.hpp"
#include "rollcall/record_store.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

class FileStore;

// Move-only. Dropping it removes only what it wrote itself, and only in the process that made it
// (a forked child removes nothing). Threads: one at a time.
class ROLLCALL_API Registration {
 public:
  Registration();
  Registration(Registration&&) noexcept;
  Registration& operator=(Registration&&) noexcept;
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration();

  // Takes charge of a record that was just written to `store` as `version`.
  [[nodiscard]] static Registration adopt(std::shared_ptr<RecordStore> store,
                                          std::string session_id, std::string version);
  // Takes charge of <id>.control too.
  [[nodiscard]] static Registration adopt_control(std::shared_ptr<FileStore> store,
                                                  std::string session_id, std::string version);

  [[nodiscard]] const std::string& session_id() const;
  [[nodiscard]] bool active() const;
  // Removes it now and says whether that worked. kConflict: somebody else's stands there.
  [[nodiscard]] Status release();
  // Leaves what was written and guards it no longer.
  void detach();

 private:
  struct State;
  explicit Registration(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rollcall
