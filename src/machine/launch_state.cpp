#include "machine/launch_state.h"

#include <cstring>

#include "machine/bundles.h"

namespace simtlab::machine {

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
  std::vector<std::byte> bank(slots.parameters + parameters.size());
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
