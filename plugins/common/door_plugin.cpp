#include "common/door_plugin.hpp"

#include <random>

namespace rollcall::doors {

Visit refused_visit(std::uint32_t reason, std::string_view detail) {
  Visit visit;
  visit.answer = plugin::door_failed(reason, detail);
  return visit;
}

std::vector<Address> tcp_addresses(const plugin::DoorItem& item) {
  std::vector<Address> addresses;
  for (std::size_t i = 0; i < item.endpoint_count(); ++i) {
    const auto& endpoint = item.endpoint(i);
    if (endpoint.port == 0 || endpoint.port > 65535) return {};
    const auto address =
        tcp_address(plugin::view(endpoint.host), static_cast<std::uint16_t>(endpoint.port));
    if (!address) return {};
    addresses.push_back(*address);
  }
  return addresses;
}

std::string setting_of(const plugin::DoorItem& item,
                       const std::vector<std::pair<std::string, std::string>>& own,
                       std::string_view key, std::string_view otherwise) {
  if (const auto value = item.settings().find(key)) return std::string(*value);
  for (const auto& [name, value] : own) {
    if (name == key) return value;
  }
  return std::string(otherwise);
}

std::vector<std::pair<std::string, std::string>> kept(const plugin::Settings& settings) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& setting : settings) {
    all.emplace_back(plugin::view(setting.key), plugin::view(setting.value));
  }
  return all;
}

std::string random_id() {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string id;
  for (int word = 0; word < 4; ++word) {
    auto bits = static_cast<std::uint32_t>(random());
    for (int digit = 0; digit < 8; ++digit, bits >>= 4U) id.push_back(kDigits[bits & 15U]);
  }
  return id;
}

LoopLimits limits_of(const plugin::DoorBatch& batch) {
  LoopLimits limits;
  limits.connect_timeout_ns = batch.connect_timeout_ns();
  limits.total_timeout_ns = batch.total_timeout_ns();
  return limits;
}

}  // namespace rollcall::doors
