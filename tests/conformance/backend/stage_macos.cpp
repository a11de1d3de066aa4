// What macOS has on its stage. Numbers cannot be handed on there, and threads have none that a
// process could have.
#include "stage_posix.hpp"

namespace rollcall::conformance {
namespace {

class MacosStage final : public PosixStage {
 public:
  [[nodiscard]] std::string platform() const override { return "macOS"; }
  [[nodiscard]] const Backend& backend() override {
    static const Backend opened = open_backend(entry_of("rollcall_backend_macos.dylib"));
    return opened;
  }

  // launchd, which is root's.
  std::optional<std::pair<Backend, std::int64_t>> denied() override {
    if (::geteuid() == 0) return std::nullopt;
    return std::pair{backend(), std::int64_t{1}};
  }
};

}  // namespace

std::unique_ptr<Stage> make_stage() { return std::make_unique<MacosStage>(); }

}  // namespace rollcall::conformance
