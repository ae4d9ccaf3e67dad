#include "gpu/board/cuda_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/shown.h"

namespace simtlab::gpu::board {
namespace {

constexpr std::size_t text_room = 256;
constexpr std::size_t shortest_uuid = 8;  // "GPU-" and four digits

std::string uuid_text(const Uuid& uuid) {
  std::string out = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i)
    out += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
  return out;
}

BoardName name_of(const Driver& d, std::size_t index) {
  const DeviceHandle device = handle_of(d, index);
  BoardName out;
  out.index = index;
  std::array<char, text_room> text{};
  check(d, d.device_name(text.data(), static_cast<int>(text.size() - 1), device),
        fmt::format("asking device {} for its name", index));
  out.name = text.data();
  text = {};
  if (d.device_bus_id(text.data(), static_cast<int>(text.size() - 1), device) == success)
    out.bus_id = text.data();
  Uuid uuid{};
  if ((d.device_uuid_v2 != nullptr && d.device_uuid_v2(&uuid, device) == success) ||
      (d.device_uuid != nullptr && d.device_uuid(&uuid, device) == success))
    out.uuid = uuid_text(uuid);
  return out;
}

std::uint32_t number(const Driver& d, DeviceHandle device, Attribute which) {
  return static_cast<std::uint32_t>(std::max(0, attribute(d, device, which).value_or(0)));
}

Error no_such_device(std::string_view wanted, const std::vector<BoardName>& all) {
  std::string list;
  for (const BoardName& b : all)
    list += fmt::format("{}{} ({}{}{})", list.empty() ? "" : ", ", b.index, b.name,
                        b.uuid.empty() ? "" : ", ", b.uuid);
  return {ExitCode::unavailable, "board-none",
          fmt::format("there is no device {}", shown(std::string(wanted))), "there is: " + list};
}

}  // namespace

DeviceHandle handle_of(const Driver& d, std::size_t index) {
  DeviceHandle device = 0;
  check(d, d.device_get(&device, static_cast<int>(index)), fmt::format("looking for device {}", index));
  return device;
}

std::optional<int> attribute(const Driver& d, DeviceHandle device, Attribute which) {
  int value = 0;
  const Result result = d.device_attribute(&value, which, device);
  if (result == invalid_value) return std::nullopt;
  check(d, result, fmt::format("asking for attribute {} of the device", static_cast<int>(which)));
  return value;
}

std::vector<BoardName> devices(const Driver& d) {
  int count = 0;
  check(d, d.device_count(&count), "counting the devices");
  if (count <= 0) throw error_of(d, no_device, "counting the devices");
  std::vector<BoardName> out;
  for (int i = 0; i < count; ++i) out.push_back(name_of(d, static_cast<std::size_t>(i)));
  return out;
}

BoardName find_device(const Driver& d, std::string_view wanted) {
  const std::vector<BoardName> all = devices(d);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  if (error == std::errc{} && end == wanted.data() + wanted.size()) {
    if (index < all.size()) return all[index];
    throw no_such_device(wanted, all);
  }
  const auto matches = [&](const BoardName& b) {
    return wanted.size() >= shortest_uuid && b.uuid.starts_with(wanted);
  };
  const auto first = std::ranges::find_if(all, matches);
  if (first == all.end() || std::ranges::count_if(all, matches) > 1) throw no_such_device(wanted, all);
  return *first;
}

BoardFacts facts_of(const Driver& d, const BoardName& name) {
  const DeviceHandle device = handle_of(d, name.index);
  const auto u32 = [&](Attribute which) { return number(d, device, which); };
  BoardFacts f;
  f.name = name.name;
  f.driver = d.text();
  f.uuid = name.uuid, f.bus_id = name.bus_id;
  f.cc_major = attribute(d, device, cc_major).value_or(0),
  f.cc_minor = attribute(d, device, cc_minor).value_or(0);
  f.sms = u32(sm_count), f.warp_size = u32(warp_size);
  f.max_threads_per_sm = u32(max_threads_per_sm), f.max_blocks_per_sm = u32(max_blocks_per_sm),
  f.max_threads_per_block = u32(max_threads_per_block);
  f.registers_per_sm = u32(max_registers_per_sm);
  f.shared_bytes_per_sm = u32(max_shared_per_sm), f.shared_bytes_per_block = u32(max_shared_per_block);
  f.shared_bytes_per_block_optin = u32(max_shared_per_block_optin),
  f.shared_reserved_per_block = u32(reserved_shared_per_block);
  f.constant_bytes = u32(total_constant_memory);
  std::size_t memory = 0;
  check(d, d.device_memory(&memory, device), "asking for the size of the device's memory");
  f.memory_bytes = f.free_bytes = memory;
  // 0: it has none, or does not tell.
  if (const std::uint32_t bytes = u32(l2_bytes); bytes > 0) f.l2_bytes = bytes;
  if (const std::uint32_t khz = u32(clock_rate_khz); khz > 0) f.sm_clock_hz = khz * 1e3;
  if (const std::uint32_t khz = u32(memory_clock_khz); khz > 0) f.memory_clock_hz = khz * 1e3;
  if (const std::uint32_t bits = u32(bus_width_bits); bits > 0) f.bus_bits = bits;
  if (const auto value = attribute(d, device, global_l1_cache)) f.l1_caches_global = *value != 0;
  if (const auto value = attribute(d, device, ecc_enabled)) f.ecc = *value != 0;
  f.copy_engines = u32(copy_engines);
  f.concurrent_kernels = attribute(d, device, concurrent_kernels).value_or(1) != 0;
  return f;
}

}  // namespace simtlab::gpu::board
