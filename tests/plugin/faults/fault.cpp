// One faulty plugin for each -DFAULT_...; everything else about it is right.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "rollcall/plugin.hpp"

namespace rp = rollcall::plugin;

#if defined(FAULT_MISSING_SYMBOL)
extern "C" int rollcall_test_symbol_that_nobody_defines();
#endif

namespace {

[[maybe_unused]] void sleep_long() { std::this_thread::sleep_for(std::chrono::hours(1)); }

#if defined(FAULT_STATIC_THROWS)
struct ThrowsWhenLoaded {
  ThrowsWhenLoaded() { throw std::runtime_error("a static constructor threw"); }
} const throws_when_loaded;
#elif defined(FAULT_STATIC_EXITS)
struct ExitsWhenLoaded {
  ExitsWhenLoaded() { std::exit(3); }
} const exits_when_loaded;
#elif defined(FAULT_STATIC_HANGS)
struct HangsWhenLoaded {
  HangsWhenLoaded() { sleep_long(); }
} const hangs_when_loaded;
#endif

class Probe final : public rp::ProcessProbe {
 public:
  Probe() {
#if defined(FAULT_CREATE_THROWS_STD)
    throw std::runtime_error("the factory threw");
#elif defined(FAULT_CREATE_THROWS_OTHER)
    throw 7;  // NOLINT: no std::exception, which is the point
#elif defined(FAULT_CREATE_EXITS)
    ::exit(3);  // NOLINT: exiting in a factory is the fault
#elif defined(FAULT_CREATE_HANGS)
    sleep_long();
#endif
  }
#if defined(FAULT_DESTROY_THROWS)
  ~Probe() noexcept(false) override { throw std::runtime_error("a destructor threw"); }
#endif
#if defined(FAULT_CREATE_GIVES_NULL)
  static rp::Status create(const rp::Settings&, std::unique_ptr<Probe>&) { return {}; }
#endif
#if defined(FAULT_INIT_FAILS)
  static rp::Status plugin_init() { return rp::Status(ROLLCALL_E_DENIED, "init says no", 13); }
#elif defined(FAULT_INIT_THROWS)
  static rp::Status plugin_init() { throw std::runtime_error("init threw"); }
#elif defined(FAULT_INIT_HANGS)
  static rp::Status plugin_init() {
    sleep_long();
    return {};
  }
#endif

  rp::Status observe(const rp::ObserveBatch& batch, const rp::Call&) override {
#if defined(FAULT_MISSING_SYMBOL)
    if (rollcall_test_symbol_that_nobody_defines() != 0) return {};
#elif defined(FAULT_OBSERVE_HANGS)
    sleep_long();
#elif defined(FAULT_OBSERVE_THROWS)
    throw std::out_of_range("observe threw");
#elif defined(FAULT_OBSERVE_ABORTS)
    std::abort();
#endif
    for (std::size_t i = 0; i < batch.size(); ++i) {
      rollcall_observation& out = batch.observation(i);
      out.pid = batch.ask(i).pid;
#if defined(FAULT_READINGS_ARE_WILD)
      out.presence = 77;
      out.start_token_size = 4096;
#else
      const bool ours = out.pid == ::getpid();
      out.presence = ours ? ROLLCALL_PRESENCE_PRESENT : ROLLCALL_PRESENCE_ABSENT;
      if (ours) rp::set_start_token(out, "1");
#endif
    }
    return {};
  }
};

using Good = rp::Plugin<Probe>;

[[maybe_unused]] const void* no_interface(const char*) { return nullptr; }

[[maybe_unused]] const void* null_slot(const char* id) {
  static const rollcall_process_probe table = [] {
    rollcall_process_probe copy{};
    copy =
        *static_cast<const rollcall_process_probe*>(Good::get_interface(ROLLCALL_PROCESS_PROBE_ID));
    copy.observe = nullptr;
    return copy;
  }();
  return std::string(id) == ROLLCALL_PROCESS_PROBE_ID ? &table : nullptr;
}

// A whole plugin, but for what the fault changes.
constexpr rollcall_entry make_entry() {
  rollcall_entry entry = Good::entry(TEST_ID, "1.0.0", "Rollcall tests");
#if defined(FAULT_WRONG_MAGIC)
  entry.magic = 0x0102030405060708;
#elif defined(FAULT_SHORT_STRUCT)
  entry.struct_size = 40;
#elif defined(FAULT_LONG_STRUCT)
  // Where symbols have no size only the end of the file's section shows that it is too long.
  entry.struct_size = 0x40000000;
#elif defined(FAULT_ABI_0)
  entry.abi_major = 0;
#elif defined(FAULT_ABI_NEXT)
  entry.abi_major = ROLLCALL_ABI_MAJOR + 1;
#elif defined(FAULT_MINOR_REQUIRED)
  entry.abi_minor = ROLLCALL_ABI_MINOR + 1;
  entry.abi_minor_required = ROLLCALL_ABI_MINOR + 1;
#elif defined(FAULT_NULL_GET_INTERFACE)
  entry.get_interface = nullptr;
#elif defined(FAULT_NULL_ID)
  entry.id = nullptr;
#elif defined(FAULT_NULL_SLOT)
  entry.get_interface = &null_slot;
#elif defined(FAULT_NO_INTERFACE)
  entry.get_interface = &no_interface;
#elif defined(FAULT_OTHER_VERSION)
  entry.version = "2.0.0";
#elif defined(FAULT_NEWER_MINOR)
  entry.abi_minor = ROLLCALL_ABI_MINOR + 1;
#endif
  return entry;
}

}  // namespace

#if defined(FAULT_NO_ENTRY)
#define TEST_ENTRY_SYMBOL rollcall_plugin_v0
#else
#define TEST_ENTRY_SYMBOL rollcall_plugin_v1
#endif

extern "C" {
extern ROLLCALL_EXPORT const rollcall_entry TEST_ENTRY_SYMBOL;
}
constexpr rollcall_entry TEST_ENTRY_SYMBOL = make_entry();
