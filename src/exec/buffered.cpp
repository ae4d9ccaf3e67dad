// Accesses of global memory by blocks whose SM keeps its stores to itself (exec/store_buffer.h).
#include <algorithm>
#include <bit>

#include "exec/state.h"
#include "exec/store_buffer.h"
#include "ptx/machine_ops.h"

namespace simtlab::exec {
namespace {

constexpr std::uint64_t line_bytes = StoreBuffer::line_bytes;

bool in_window(std::uint64_t address) {
  const std::uint64_t window = address / ptx::window_bytes;
  return window >= 1 && window <= 3;
}

std::uint64_t host_of(const std::byte* line, std::uint64_t address) {
  return reinterpret_cast<std::uint64_t>(line) + address % line_bytes;
}

struct Range {
  std::uint64_t first, last;  // lines
};

Range lines_of(const WarpCtx& ctx, bool ordered) {
  const auto leader = static_cast<unsigned>(std::countr_zero(ctx.mask));
  if (ordered)
    return {ctx.addresses[leader] / line_bytes, ctx.addresses[31 - std::countl_zero(ctx.mask)] / line_bytes};
  std::uint64_t low = ctx.addresses[leader], high = low;
  for (unsigned lane = 0; lane < warp_size; ++lane) {  // inactive lanes have the leader's address
    low = std::min(low, ctx.addresses[lane]);
    high = std::max(high, ctx.addresses[lane]);
  }
  return {low / line_bytes, high / line_bytes};
}

// Lanes of several spaces: hosts are there, those of global memory may lie in the buffer.
template <class Host>
void mixed_spaces(WarpCtx& ctx, Host host) {
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (!in_window(ctx.addresses[lane])) ctx.memory->hosts[lane] = host(ctx.addresses[lane]);
  }
}

}  // namespace

std::uint64_t host_to_read(const MemoryView& memory, std::uint64_t address) {
  const std::byte* const own = memory.buffer != nullptr ? memory.buffer->find(address / line_bytes) : nullptr;
  return own != nullptr ? host_of(own, address) : address + memory.global_delta;
}

OwnLines own_lines_to_read(WarpCtx& ctx, bool ordered, std::uint64_t& delta) {
  MemoryView& memory = *ctx.memory;
  if (memory.buffer->empty()) return OwnLines::none;
  if (ctx.space == ptx::Space::generic) {
    mixed_spaces(ctx, [&](std::uint64_t address) { return host_to_read(memory, address); });
    return OwnLines::many;
  }
  const Range range = lines_of(ctx, ordered);
  if (!memory.buffer->may_hold(range.first, range.last)) return OwnLines::none;
  if (range.first == range.last) {
    const std::byte* const own = memory.buffer->find(range.first);
    if (own == nullptr) return OwnLines::none;
    delta = reinterpret_cast<std::uint64_t>(own) - range.first * line_bytes;
    return OwnLines::one;
  }
  for (unsigned lane = 0; lane < warp_size; ++lane)
    memory.hosts[lane] = host_to_read(memory, ctx.addresses[lane]);
  return OwnLines::many;
}

OwnLines own_lines_to_write(WarpCtx& ctx, unsigned bytes, bool ordered, std::uint64_t& delta) {
  MemoryView& memory = *ctx.memory;
  const auto host = [&](std::uint64_t address) {
    return host_of(
        memory.buffer->write(address / line_bytes, static_cast<unsigned>(address % line_bytes), bytes),
        address);
  };
  if (ctx.space == ptx::Space::generic) {
    mixed_spaces(ctx, host);
    return OwnLines::many;
  }
  const auto leader = static_cast<unsigned>(std::countr_zero(ctx.mask)),
             last = 31u - static_cast<unsigned>(std::countl_zero(ctx.mask));
  const std::uint64_t low = ctx.addresses[leader], high = ctx.addresses[last] + bytes - 1;
  // Lanes side by side without a gap, or all at one address: a piece of a line.
  const bool piece =
      ordered && low / line_bytes == high / line_bytes &&
      (high - low + 1 == bytes || static_cast<unsigned>(std::popcount(ctx.mask)) == last - leader + 1);
  if (piece) {
    const auto from = static_cast<unsigned>(low % line_bytes),
               end = static_cast<unsigned>(high % line_bytes) + 1;
    std::byte* own = nullptr;
    if (from < 64) own = memory.buffer->write(low / line_bytes, from, std::min(end, 64u) - from);
    if (end > 64)
      own = memory.buffer->write(low / line_bytes, std::max(from, 64u), end - std::max(from, 64u));
    delta = host_of(own, low) - low;
    return OwnLines::one;
  }
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    memory.hosts[lane] = host(ctx.addresses[lane]);
  }
  return OwnLines::many;
}

std::uint32_t defer_atomic(WarpCtx& ctx, const XInst& x, unsigned operand_bytes) {
  if (ctx.space == ptx::Space::global) {
    ctx.memory->buffer->defer(ctx, x, operand_bytes);
    return 0;
  }
  if (ctx.space != ptx::Space::generic) return ctx.mask;
  const std::uint32_t all = ctx.mask;
  std::uint32_t global = 0;
  for (std::uint32_t m = all; m != 0; m &= m - 1)
    if (!in_window(ctx.addresses[std::countr_zero(m)])) global |= m & (~m + 1);
  if (global == 0) return all;
  set_mask(ctx, global);
  ctx.memory->buffer->defer(ctx, x, operand_bytes);
  set_mask(ctx, all);
  return all & ~global;
}

std::uint64_t address_of(const WarpCtx& ctx, const XInst& x, unsigned side, unsigned lane) {
  const ptx::Inst& inst = *x.inst;
  const bool wide = inst.src[side].bytes == 8 || inst.src[side].kind == ptx::OperandKind::imm;
  const auto offset = side == 0 ? static_cast<std::uint64_t>(x.imm) : 0;
  const bool values = inst.op == ptx::Op::ld || inst.op == ptx::Op::st;
  if (values && (inst.mods.video & ptx::address_in_halves) != 0) {
    const std::uint32_t* const low = ctx.row32(x.src[0]);
    return (low[lane] | std::uint64_t{low[warp_size + lane]} << 32) + offset;
  }
  return wide ? ctx.row64(x.src[side])[lane] + offset
              : static_cast<std::uint32_t>(ctx.row32(x.src[side])[lane] + offset);
}

bool awaits_atomic(const Warp& warp, const XInst& x) {
  const ptx::Inst& inst = *x.inst;
  using enum ptx::Space;
  // They keep their order among themselves
  if (inst.op == ptx::Op::atom || inst.op == ptx::Op::red) return false;
  if (inst.mods.space == shared || inst.mods.space == local || inst.mods.space == param ||
      inst.mods.space == constant)
    return false;
  const WarpCtx& ctx = warp.ctx;
  const unsigned side = inst.op == ptx::Op::cp_async ? 1 : 0;
  if (side >= inst.src_count || inst.op == ptx::Op::tex) return false;
  const std::uint32_t lanes = x.kind & flag_guarded ? warp.active & ctx.pred(x.guard) : warp.active;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t address = address_of(ctx, x, side, lane);
    if (!in_window(address) && ctx.memory->buffer->awaits_atomic(address / line_bytes)) return true;
  }
  return false;
}

bool machine_awaits_atomic(Warp& warp, const XInst& x) {
  const MachineStep& step = *x.machine;
  for (std::uint32_t i = 0; i < step.memory; ++i)
    step.operations[i].fn(warp.ctx, step.operations[i]);  // intermediate values: may be done again
  XInst access = step.operations[step.memory];
  if ((access.kind & flag_guarded) == 0) {
    access.kind = x.kind;
    access.guard = x.guard;
  }
  return awaits_atomic(warp, access);
}

}  // namespace simtlab::exec
