#include "memory/l1_rules.h"

namespace simtlab::memory {

bool looks_into_l1(const ptx::Inst& load, const device::Device& device) {
  using enum ptx::CacheOp;
  const ptx::Mods& mods = load.mods;
  // What only the block has to see may come from its L1.
  const bool for_others = mods.order != ptx::MemOrder::weak && mods.scope != ptx::Scope::cta;
  if (mods.cache == cg || mods.cache == cv || for_others) return false;
  return device.l1_caches_global || mods.cache == nc || load.op_class == ptx::OpClass::texture;
}

L1Store store_in_l1(Cache& l1, const device::Device& device, const stream::Segment& segment, bool local,
                    bool room, Evictions& evicted) {
  using enum L1Store::Effect;
  if (local)
    return {room ? allocate : refresh,
            l1.write(segment.line, segment.bytes, segment.sectors, room, true, evicted)};
  if (device.l1.write_policy == device::WritePolicy::write_evict || !device.l1_caches_global) {
    const std::uint8_t present = l1.probe(segment.line, segment.sectors).hit;
    if (present != 0) l1.invalidate(segment.line, l1.widen(segment.sectors));
    return {drop, present};
  }
  const bool takes_in = device.l1.write_allocate && room,
             back = device.l1.write_policy == device::WritePolicy::write_back;
  return {takes_in ? allocate : refresh,
          l1.write(segment.line, segment.bytes, segment.sectors, takes_in, back, evicted)};
}

}  // namespace simtlab::memory
