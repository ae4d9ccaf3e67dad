#include "exec/outside.h"

#include <cstring>

#include "base/error.h"
#include "exec/memory.h"
#include "exec/state.h"
#include "exec/store_buffer.h"

namespace simtlab::exec {

OutsideAccesses::OutsideAccesses(GlobalMemory& memory, Tell tell) : tell_(std::move(tell)) {
  first_ = memory.allocate_last(room, "the place of accesses outside of every allocation");
  memory.set_outside(this);
}

void OutsideAccesses::note(const Place& place, const std::string& message) {
  if (places_.insert(place).second && tell_) tell_(message);
}

namespace {

OutsideAccesses::Does what_it_does(const XInst& x, bool writes) {
  if (x.inst->op == ptx::Op::atom || x.inst->op == ptx::Op::red) return OutsideAccesses::Does::atomic;
  return writes ? OutsideAccesses::Does::write : OutsideAccesses::Does::read;
}

// The load begins in an allocation: the gap behind it is memory, too.
bool reads_over_the_end(const MemoryView& view, std::uint64_t address) {
  return view.global->find(address) != nullptr;
}

}  // namespace

bool outside_access(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes) {
  MemoryView& view = *ctx.memory;
  OutsideAccesses* const outside = view.outside;
  const bool global = ctx.space == ptx::Space::global || ctx.space == ptx::Space::constant;
  if (outside == nullptr || (!global && ctx.space != ptx::Space::shared))
    bad_access(ctx, x, lane, bytes, writes);

  const OutsideAccesses::Place place{block_of(ctx).module, x.inst};
  if (!outside->knows(place)) {
    if (view.buffer == nullptr)
      outside->note(place, describe_access(ctx, x, lane, bytes, writes));
    else if (!view.buffer->noted(place))
      view.buffer->note(place, describe_access(ctx, x, lane, bytes, writes));
  }
  std::uint64_t& address = ctx.addresses[lane];
  const OutsideAccesses::Does does = what_it_does(x, writes);
  if (!global) {
    address =
        view.shared_first + shared_room(view.shared_bytes) + OutsideAccesses::offset(does, address, lane);
    return true;
  }
  if (does == OutsideAccesses::Does::read && reads_over_the_end(view, address)) return false;
  address = outside->instead(does, address, lane);
  return true;
}

bool misaligned_access(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes) {
  OutsideAccesses* const outside = ctx.memory->outside;
  const bool global = ctx.space == ptx::Space::global || ctx.space == ptx::Space::constant;
  if (outside == nullptr || !outside->misaligned() || (!global && ctx.space != ptx::Space::shared))
    bad_access(ctx, x, lane, bytes, writes);
  std::uint64_t& address = ctx.addresses[lane];
  const OutsideAccesses::Does does = what_it_does(x, writes);
  const std::uint64_t aligned = address / bytes * bytes;
  const MemoryView& view = *ctx.memory;
  address = global ? outside->instead(does, aligned, lane)
                   : view.shared_first + shared_room(view.shared_bytes) +
                         OutsideAccesses::offset(does, aligned, lane);
  return true;
}

// Cells of the atomics: what one leaves there, none reads.
void forget_outside(MemoryView& view) {
  constexpr std::size_t cells = warp_size * OutsideAccesses::atomic_bytes;
  if (view.buffer == nullptr)
    std::memset(view.global->host(view.outside->first() + OutsideAccesses::atomics), 0, cells);
  if (view.shared != nullptr)
    std::memset(view.shared + shared_room(view.shared_bytes) + OutsideAccesses::atomics, 0, cells);
}

}  // namespace simtlab::exec
