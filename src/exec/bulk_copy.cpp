// cp.async.bulk between global and shared memory, without a tensor map: copied when it is issued, as
// cp.async.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/state.h"
#include "exec/store_buffer.h"
#include "ptx/machine_ops.h"

namespace simtlab::exec {
namespace {

constexpr unsigned grain = 16;  // bytes of which addresses and sizes are multiples

struct Copy {
  std::uint64_t shared = 0, global = 0;
  std::uint32_t bytes = 0;
};

void check_copy(WarpCtx& ctx, const XInst& x, unsigned lane, const Copy& copy, bool load) {
  const MemoryView& memory = *ctx.memory;
  if (copy.bytes % grain != 0)
    raise(
        block_of(ctx), *x.inst, Fault::Kind::misaligned_address, "misaligned-address",
        fmt::format("Invalid bulk copy of {} bytes, which is no multiple of {}, by {} of {}", copy.bytes,
                    grain, thread_name(block_of(ctx), ctx.warp, lane), kernel_name(block_of(ctx), *x.inst)));
  Bounds bounds{};
  ctx.space = ptx::Space::global;
  if (copy.global % grain != 0 || !find_bounds(memory, copy.global, copy.bytes, !load, bounds))
    bad_access(ctx, x, lane, copy.bytes, !load);
  if (copy.shared % grain == 0 && shared_host(memory, copy.shared, copy.bytes) != nullptr) return;
  ctx.space = ptx::Space::shared;
  ctx.addresses[lane] = copy.shared;
  bad_access(ctx, x, lane, copy.bytes, load);
}

}  // namespace

// src[0] = shared address, src[1] = global address, src[2] = bytes. Mods::space is where it writes.
void handle_bulk_copy(WarpCtx& ctx, const XInst& x) {
  MemoryView& memory = *ctx.memory;
  const bool load = x.inst->mods.space == ptx::Space::shared;
  ctx.space = ptx::Space::global;
  const auto leader = static_cast<unsigned>(std::countr_zero(ctx.mask));
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const unsigned from = (ctx.mask >> lane & 1) != 0 ? lane : leader;
    std::uint64_t shared = address_of(ctx, x, 0, from) % ptx::window_bytes;
    if (x.inst->src[0].kind == ptx::OperandKind::imm) shared += memory.shared_first;
    ctx.addresses[lane] = address_of(ctx, x, 1, from);
    ctx.addresses2[lane] = shared | std::uint64_t{ctx.row32(x.src[2])[from]} << ptx::bulk_bytes_at;
  }
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const Copy copy{ctx.addresses2[lane] % ptx::window_bytes, ctx.addresses[lane],
                    static_cast<std::uint32_t>(ctx.addresses2[lane] >> ptx::bulk_bytes_at)};
    if (copy.bytes == 0) continue;
    check_copy(ctx, x, lane, copy, load);
    std::byte* const to_or_from = shared_host(memory, copy.shared, copy.bytes);
    for (std::uint32_t at = 0; at < copy.bytes; at += grain) {
      const std::uint64_t global = copy.global + at;
      std::byte* const here = to_or_from + at;
      if (load) {
        std::memcpy(here, reinterpret_cast<const void*>(host_to_read(memory, global)), grain);  // NOLINT
        continue;
      }
      std::byte* to = reinterpret_cast<std::byte*>(global + memory.global_delta);  // NOLINT: of the host
      constexpr std::uint64_t line = StoreBuffer::line_bytes;
      if (memory.buffer != nullptr)
        to = memory.buffer->write(global / line, static_cast<unsigned>(global % line), grain) + global % line;
      std::memcpy(to, here, grain);
    }
  }
}

}  // namespace simtlab::exec
