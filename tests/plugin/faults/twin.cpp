// Two plugins are made of this, with one exported helper and one exported global between them: each
// must see its own. (They are linked without the export map, as a careless vendor would.)
#include "rollcall/plugin.hpp"

namespace rp = rollcall::plugin;

extern "C" {
ROLLCALL_EXPORT const char* rollcall_test_twin_name = TEST_TWIN_NAME;
ROLLCALL_EXPORT const char* rollcall_test_twin_helper() { return rollcall_test_twin_name; }
}

namespace {

class Probe final : public rp::ProcessProbe {
 public:
  rp::Status observe(const rp::ObserveBatch& batch, const rp::Call&) override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch.observation(i).pid = batch.ask(i).pid;
      batch.observation(i).presence = ROLLCALL_PRESENCE_PRESENT;
      rp::set_start_token(batch.observation(i), rollcall_test_twin_helper());
    }
    return {};
  }
};

}  // namespace

ROLLCALL_DEFINE_PLUGIN("com.example." TEST_TWIN_NAME, "1.0.0", "Rollcall tests", Probe);
