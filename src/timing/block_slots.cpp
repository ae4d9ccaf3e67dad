#include "timing/block_slots.h"

#include <algorithm>

#include "base/error.h"

namespace simtlab::timing {

void BlockSlots::begin() {
  held_ = {};
  slots_.clear();
  starts_.clear();
  freed_.clear();
}

void BlockSlots::divide_storage(const LaunchContext& launch) {
  const std::uint64_t own = std::uint64_t{launch.occupancy.blocks_per_sm} * launch.occupancy.shared_per_block;
  shared_bytes_ = device_.sm.shared_bytes;
  if (const std::uint64_t unified = device_.l1_unified_bytes; unified != 0) {
    const std::uint64_t l1_bytes = device_.l1.bytes / device_.l1.ways * launch.l1_ways;
    shared_bytes_ = std::min<std::uint64_t>(unified - std::min(l1_bytes, unified), device_.sm.shared_bytes);
  }
  shared_bytes_ = std::max(shared_bytes_, own);
}

bool BlockSlots::has_room(const LaunchContext& launch, const Tenant* own) const {
  if (empty()) return launch.blocks_per_sm > 0;
  if (own != nullptr && own->blocks >= launch.blocks_per_sm) return false;
  return launch.blocks_per_sm > 0 &&
         device::fits_beside(device_, held_, launch.occupancy, launch.warps_per_block, shared_bytes_) &&
         free_run(launch.warps_per_block) < warp_taken_.size();
}

std::uint32_t BlockSlots::free_run(std::uint32_t warps) const {
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < warp_taken_.size() && i - first < warps; ++i)
    if (warp_taken_[i]) first = i + 1;
  return first + warps <= warp_taken_.size() ? first : static_cast<std::uint32_t>(warp_taken_.size());
}

void BlockSlots::reserve(Tenant& tenant, std::uint64_t block, Cycle at) {
  const LaunchContext& launch = *tenant.context;
  const std::uint32_t first = free_run(launch.warps_per_block);
  SIMTLAB_ASSERT(first < warp_taken_.size(), "a block is handed only to an SM with room");
  std::fill_n(warp_taken_.begin() + first, launch.warps_per_block, true);
  auto slot = std::ranges::find(slots_, false, &BlockSlot::reserved);
  if (slot == slots_.end()) slot = slots_.insert(slot, BlockSlot{});
  if (slot->tenant != &tenant) slot->block.reset();
  slot->tenant = &tenant;
  slot->first_warp = first;
  slot->number = block;
  slot->reserved = true;
  ++tenant.blocks;
  held_.add(launch.occupancy, launch.warps_per_block);
  if (!freed_.empty()) freed_.pop();
  starts_.push({static_cast<std::uint32_t>(slot - slots_.begin()), at});
}

std::uint32_t BlockSlots::pop_start() {
  const std::uint32_t slot = starts_.front().slot;
  starts_.pop();
  return slot;
}

BlockSlot& BlockSlots::start(std::uint32_t number, std::uint32_t sm) {
  BlockSlot& slot = slots_[number];
  Tenant& tenant = *slot.tenant;
  const std::uint32_t warps = tenant.context->warps_per_block;
  if (!slot.block) {
    slot.block = tenant.work->make_block();
    slot.block->hold_arrivals();
  }
  slot.block->reset(slot.number, sm, slot.first_warp);
  slot.resident = true;
  slot.warps_left = warps;
  slot.at_barrier = 0;
  ++tenant.resident_blocks;
  tenant.resident_warps += warps;
  ++tenant.counters.blocks;
  tenant.counters.warps += warps;
  return slot;
}

void BlockSlots::end(std::uint32_t number, Cycle now) {
  BlockSlot& slot = slots_[number];
  Tenant& tenant = *slot.tenant;
  const LaunchContext& launch = *tenant.context;
  slot.reserved = slot.resident = false;
  freed_.push(now);
  std::fill_n(warp_taken_.begin() + slot.first_warp, launch.warps_per_block, false);
  --tenant.resident_blocks;
  --tenant.blocks;
  ++tenant.ended;
  held_.remove(launch.occupancy, launch.warps_per_block);
}

void BlockSlots::forget(const Tenant& tenant) {
  for (BlockSlot& slot : slots_)
    if (slot.tenant == &tenant) slot = {};
}

std::string BlockSlots::whereabouts(const LaunchContext* launch) const {
  for (const BlockSlot& slot : slots_)
    if (slot.resident && slot.tenant->context == launch) return slot.block->whereabouts();
  return {};
}

void BlockSlots::check_progress() const {
  for (const BlockSlot& slot : slots_)
    if (slot.resident) slot.block->check_progress();
}

bool BlockSlots::stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) {
  return starts_.empty() && std::ranges::all_of(slots_, [&](BlockSlot& slot) {
           return !slot.resident || slot.block->stuck(steps, who);
         });
}

}  // namespace simtlab::timing
