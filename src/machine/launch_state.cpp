#include "machine/launch_state.h"

#include <algorithm>
#include <cstring>

#include "machine/bundles.h"

namespace simtlab::machine {
namespace {

// Of Fermi and Kepler
constexpr std::uint32_t most_parameter_bytes = 4096, bytes_behind_parameters = 0x14;

}  // namespace

LaunchSlots launch_slots(unsigned generation) {
  LaunchSlots slots;
  if (in_bundles(generation)) {
    slots.shared_window = 0x00;
    slots.shared_window_high = 0x100;
    slots.local_window = 0x04;
    slots.local_window_high = 0x104;
    slots.block = 0x08;
    slots.grid = 0x14;
    slots.stack = 0x20;
    slots.grid_id = 0x28;
    slots.sm_count = 0xfc;
    slots.dynamic_shared = no_slot;  // a special register holds all of a block's
    slots.parameter_window = no_slot;
    slots.constants = 0xd0;
    slots.parameters = 0x140;
  }
  if (generation < 50) {
    // Kepler's as ptxas 11.8 reads them on sm_35, Fermi's recalled.
    // Fermi's parameters begin where Maxwell has the stack; Kepler's values stand 0x20 behind Fermi's. What
    // the hardware keeps in another bank, or nowhere, is behind the parameters of the largest kernel.
    const std::uint32_t driver = generation < 30 ? 0 : 0x20;
    slots.shared_window = driver;
    slots.local_window = driver + 0x04;
    slots.block = driver + 0x08;
    slots.grid = driver + 0x14;
    slots.parameters = generation < 30 ? 0x20 : 0x140;
    slots.shared_window_high = slots.parameters + most_parameter_bytes;
    slots.local_window_high = slots.shared_window_high + 0x04;
    slots.grid_id = slots.shared_window_high + 0x08;
    slots.sm_count = slots.shared_window_high + 0x0c;
    slots.stack = generation < 30 ? slots.shared_window_high + 0x10 : 0x44;
    slots.constants = no_slot;
  }
  if (generation >= 90) {
    slots.shared_window = no_slot;  // a special register
    slots.parameters = 0x210;
    slots.parameter_window = 0x198;
    slots.constants = 0xd0;
  }
  return slots;
}

std::vector<std::byte> launch_bank(unsigned generation, const LaunchState& state,
                                   std::span<const std::byte> parameters) {
  const LaunchSlots slots = launch_slots(generation);
  const std::size_t behind = generation < 50 ? most_parameter_bytes + bytes_behind_parameters : 0;
  std::vector<std::byte> bank(slots.parameters + std::max(parameters.size(), behind));
  const auto put = [&](std::uint32_t at, const auto& value) {
    if (at != no_slot) std::memcpy(bank.data() + at, &value, sizeof value);
  };
  put(slots.block, state.block);
  put(slots.grid, state.grid);
  const auto put_window = [&](std::uint32_t at, std::uint32_t high, std::uint64_t window) {
    if (high == no_slot) return put(at, window);
    put(at, static_cast<std::uint32_t>(window));
    put(high, static_cast<std::uint32_t>(window >> 32));
  };
  const bool low = state.low_windows && has_low_windows(generation);
  put_window(slots.local_window, slots.local_window_high, low ? low_local_window : state.local_window);
  put(slots.stack, state.stack);
  put(slots.dynamic_shared, state.dynamic_shared);
  put(slots.grid_id, static_cast<std::uint32_t>(state.grid_id));
  put(slots.sm_count, state.sm_count);
  put_window(slots.shared_window, slots.shared_window_high, low ? low_shared_window : state.shared_window);
  put(slots.parameter_window, state.parameter_window + (generation >= 90 ? slots.parameters : 0));
  if (generation >= 90) {
    put(slots.reserved_shared, reserved_shared_bytes);
    put(slots.shared, state.shared);
    // Every block is a cluster
    const std::uint32_t one_block[3] = {1, 1, 1};
    const float inverse[3] = {1, 1, 1};
    put(slots.cluster, one_block);
    put(slots.cluster_inverse, inverse);
    put(slots.grid_of_clusters, state.grid);
    put(slots.cluster_blocks, one_block[0]);
  }
  if (!parameters.empty()) std::memcpy(bank.data() + slots.parameters, parameters.data(), parameters.size());
  return bank;
}

}  // namespace simtlab::machine
