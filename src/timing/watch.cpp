#include "timing/watch.h"

#include <bit>

namespace simtlab::timing {
namespace {

using ptx::Op;
using ptx::Space;

bool touches_memory(const stream::Step& step) {
  return step.addresses != nullptr && step.mask != 0 && step.space != Space::param && step.space != Space::constant && step.space != Space::local;
}

// Reads that see what others write. Attempts to take a lock, which leave it as it is when they fail; no counters.
bool may_poll(const ptx::Inst& inst) {
  if (inst.op == Op::ld) return inst.mods.order != ptx::MemOrder::weak || inst.mods.cache == ptx::CacheOp::cv;
  return inst.op == Op::atom && (inst.mods.atom == ptx::AtomOp::cas || inst.mods.atom == ptx::AtomOp::exch);
}

}  // namespace

void Watch::executed(std::uint32_t warp, const stream::Step& step) {
  if (!touches_memory(step)) return;
  WatchedWarp& w = warps_[warp];
  const std::uint64_t address = step.addresses[std::countr_zero(step.mask)];
  if (!may_poll(*step.inst) || (w.poll != nullptr && (w.poll != step.inst || w.address != address))) {
    w.elsewhere = true;
    return;
  }
  w.poll = step.inst;
  w.address = address;
  ++w.polls;
}

}  // namespace simtlab::timing
