#include "plugin/negotiate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace rollcall::loader {
namespace {

// What every entry has, whatever its major: magic, struct_size, and the three versions.
constexpr std::size_t kEntryHead = offsetof(rollcall_entry, flags);
// Entries of ABI 1.0 end here; later minors add behind it.
constexpr std::size_t kEntrySize10 =
    offsetof(rollcall_entry, get_interface) + sizeof(rollcall_entry::get_interface);
static_assert(kEntrySize10 == sizeof(rollcall_entry), "an appended field needs no new floor");

tl::unexpected<Error> corrupt(std::string message) {
  return fail(ErrorCode::kCorrupt, std::move(message));
}

struct RequiredSlot {
  const char* name;
  bool there;
};

// The table itself is copied by size alone; then its required slots are looked at.
template <class Table>
Result<Table> copy_table(std::span<const std::byte> bytes, const char* what) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof(size)) {
    return corrupt(fmt::format("its {} table is missing", what));
  }
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > bytes.size()) {
    return corrupt(fmt::format("its {} table says that it has {} bytes, and {} are there", what,
                               size, bytes.size()));
  }
  Table table{};
  std::memcpy(&table, bytes.data(), std::min<std::size_t>(size, sizeof(Table)));
  return table;
}

Status require(std::initializer_list<RequiredSlot> slots, const char* what) {
  for (const RequiredSlot& slot : slots) {
    if (slot.there) continue;
    return corrupt(
        fmt::format("its {} table lacks `{}`, which is required: the plugin has to be mended", what,
                    slot.name));
  }
  return {};
}

}  // namespace

std::string to_text(AbiVersion version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

Status meet(AbiVersion plugin, std::uint32_t required, const HostAbi& host) {
  const std::string theirs = to_text(plugin);
  const std::string ours = to_text(host.version);
  if (plugin.major > host.version.major) {
    return fail(ErrorCode::kIncompatible,
                fmt::format("it speaks plugin ABI {} and this Rollcall speaks {}: upgrade Rollcall",
                            theirs, ours));
  }
  if (plugin.major < host.version.major) {
    return fail(
        ErrorCode::kIncompatible,
        fmt::format("it speaks plugin ABI {} and this Rollcall speaks {}: upgrade the plugin",
                    theirs, ours));
  }
  if (required > plugin.minor) {
    return corrupt(
        fmt::format("it speaks plugin ABI {} and yet requires {}.{}: its header is "
                    "damaged or was edited",
                    theirs, plugin.major, required));
  }
  if (required > host.version.minor) {
    return fail(ErrorCode::kIncompatible,
                fmt::format("it requires plugin ABI {}.{} and this Rollcall speaks {}: upgrade "
                            "Rollcall",
                            plugin.major, required, ours));
  }
  if (plugin.minor < host.minor_floor) {
    return fail(ErrorCode::kIncompatible,
                fmt::format("it speaks plugin ABI {} and this Rollcall takes {}.{} and later: "
                            "upgrade the plugin",
                            theirs, host.version.major, host.minor_floor));
  }
  return {};
}

Result<NegotiatedEntry> negotiate_entry(std::span<const std::byte> bytes, const HostAbi& host) {
  NegotiatedEntry result;
  rollcall_entry& entry = result.entry;
  if (bytes.size() < kEntryHead) {
    return corrupt(
        fmt::format("its entry has {} bytes, too few for a version: it is no Rollcall "
                    "plugin",
                    bytes.size()));
  }
  std::memcpy(&entry, bytes.data(), kEntryHead);
  if (entry.magic != ROLLCALL_PLUGIN_MAGIC) {
    return corrupt(
        fmt::format("its entry begins with {:016x} and not with Rollcall's magic "
                    "{:016x}: it is no Rollcall plugin, or of another byte order",
                    entry.magic, ROLLCALL_PLUGIN_MAGIC));
  }
  result.plugin_version = AbiVersion{entry.abi_major, entry.abi_minor};
  if (Status met = meet(result.plugin_version, entry.abi_minor_required, host); !met) {
    return tl::unexpected<Error>(std::move(met.error()));
  }
  if (entry.struct_size < kEntrySize10) {
    return corrupt(
        fmt::format("its entry has {} bytes and plugin ABI {} has {}: rebuild it with "
                    "an unchanged rollcall/plugin.h",
                    entry.struct_size, to_text(result.plugin_version), kEntrySize10));
  }
  if (entry.struct_size > bytes.size()) {
    return corrupt(
        fmt::format("its entry says that it has {} bytes, and {} are there: rebuild it "
                    "with an unchanged rollcall/plugin.h",
                    entry.struct_size, bytes.size()));
  }
  std::memcpy(&entry, bytes.data(), std::min<std::size_t>(entry.struct_size, sizeof(entry)));
  if (entry.flags != 0 && entry.abi_minor <= host.version.minor) {
    return corrupt(fmt::format("its entry sets flags {:#x}, which plugin ABI {} does not have",
                               entry.flags, to_text(result.plugin_version)));
  }
  if (entry.id == nullptr) return corrupt("its entry has no id");
  if (entry.version == nullptr) return corrupt("its entry has no version");
  if (entry.vendor == nullptr) return corrupt("its entry has no vendor");
  if (entry.get_interface == nullptr) {
    return corrupt("its entry has no `get_interface`, which is required");
  }
  result.minor = std::min(entry.abi_minor, host.version.minor);
  return result;
}

Result<rollcall_process_probe> read_probe_table(std::span<const std::byte> bytes) {
  auto table = copy_table<rollcall_process_probe>(bytes, "process-probe");
  if (!table) return table;
  if (Status ok = require({{"create", table->create != nullptr},
                           {"destroy", table->destroy != nullptr},
                           {"observe", table->observe != nullptr}},
                          "process-probe");
      !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  return table;
}

Result<rollcall_process_control> read_control_table(std::span<const std::byte> bytes) {
  auto table = copy_table<rollcall_process_control>(bytes, "process-control");
  if (!table) return table;
  if (Status ok = require({{"create", table->create != nullptr},
                           {"destroy", table->destroy != nullptr},
                           {"signal", table->signal != nullptr},
                           {"await_exit", table->await_exit != nullptr}},
                          "process-control");
      !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  return table;
}

Result<rollcall_watch> read_watch_table(std::span<const std::byte> bytes) {
  auto table = copy_table<rollcall_watch>(bytes, "watch");
  if (!table) return table;
  if (Status ok = require({{"create", table->create != nullptr},
                           {"destroy", table->destroy != nullptr},
                           {"add_process", table->add_process != nullptr},
                           {"add_directory", table->add_directory != nullptr},
                           {"remove", table->remove != nullptr},
                           {"wait", table->wait != nullptr},
                           {"wake", table->wake != nullptr}},
                          "watch");
      !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  return table;
}

Result<rollcall_record_store> read_store_table(std::span<const std::byte> bytes) {
  auto table = copy_table<rollcall_record_store>(bytes, "record-store");
  if (!table) return table;
  if (Status ok = require({{"create", table->create != nullptr},
                           {"destroy", table->destroy != nullptr},
                           {"list", table->list != nullptr},
                           {"read", table->read != nullptr}},
                          "record-store");
      !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  return table;
}

Result<rollcall_door_prober> read_door_table(std::span<const std::byte> bytes) {
  auto table = copy_table<rollcall_door_prober>(bytes, "door-prober");
  if (!table) return table;
  if (Status ok = require({{"create", table->create != nullptr},
                           {"destroy", table->destroy != nullptr},
                           {"probe", table->probe != nullptr}},
                          "door-prober");
      !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  return table;
}

std::span<const std::byte> table_bytes(const void* table) {
  if (table == nullptr) return {};
  std::uint32_t size = 0;
  std::memcpy(&size, table, sizeof(size));
  return {static_cast<const std::byte*>(table), std::max<std::size_t>(size, sizeof(size))};
}

}  // namespace rollcall::loader
