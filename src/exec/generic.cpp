// Slow accesses by address: strings of printf, bounds of allocations.
#include <cstring>

#include "exec/memory.h"
#include "exec/state.h"
#include "exec/store_buffer.h"

namespace simtlab::exec {

void MemoryView::forget_bounds() {
  for (unsigned i = 0; i < bounds_slots; ++i) read[i] = write[i] = Bounds{1, 0};
}

bool find_bounds(const MemoryView& memory, std::uint64_t address, unsigned bytes, bool writes,
                 Bounds& bounds) {
  const Allocation* found = memory.global->find(address, bytes);
  if (found == nullptr || (writes && found->read_only)) return false;
  bounds = {found->address, found->address + found->bytes};
  return true;
}

std::byte* shared_host(const MemoryView& view, std::uint64_t address, std::uint64_t bytes) {
  const auto within = [&](std::uint64_t offset) {
    return offset <= view.shared_bytes && view.shared_bytes - offset >= bytes;
  };
  if (within(address - view.shared_first)) return view.shared + (address - view.shared_first);
  if (view.cluster == nullptr) return nullptr;
  const std::uint64_t rank = address >> ptx::cluster_shift, offset = address % ptx::cluster_stride;
  if (rank >= view.cluster->blocks() || view.cluster->has_ended(static_cast<unsigned>(rank)) ||
      !within(offset))
    return nullptr;
  return view.cluster->shared(static_cast<unsigned>(rank)) + offset;
}

bool reaches_cluster(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes) {
  const MemoryView& view = *ctx.memory;
  std::uint64_t& address = ctx.addresses[lane];
  if (x.inst->src[0].kind == ptx::OperandKind::imm && address < view.shared_bytes)
    address += view.shared_first;
  return shared_host(view, address, bytes) != nullptr;
}

bool read_generic(const WarpCtx& ctx, unsigned lane, std::uint64_t address, std::byte* out,
                  std::size_t bytes) {
  const MemoryView& view = *ctx.memory;
  const std::uint64_t offset = address % ptx::window_bytes;
  const auto within = [&](const std::byte* base, std::uint64_t limit) {
    if (offset > limit || bytes > limit - offset) return false;
    std::memcpy(out, base + offset, bytes);
    return true;
  };
  switch (address / ptx::window_bytes) {
    case ptx::shared_window / ptx::window_bytes: {
      const std::byte* const from = shared_host(view, offset, bytes);
      if (from != nullptr) std::memcpy(out, from, bytes);
      return from != nullptr;
    }
    case ptx::local_window / ptx::window_bytes:
      return within(ctx.local + lane * view.local_stride, view.local_bytes);
    case ptx::param_window / ptx::window_bytes: return within(view.param, view.param_bytes);
    default:
      if (!view.global->read(address, {out, bytes})) return false;
      if (view.buffer != nullptr) view.buffer->patch(address, out, bytes);
      return true;
  }
}

std::optional<std::string> read_string(const WarpCtx& ctx, unsigned lane, std::uint64_t address,
                                       std::size_t limit) {
  std::string text;
  for (std::byte c{}; text.size() < limit; text.push_back(static_cast<char>(c))) {
    if (!read_generic(ctx, lane, address + text.size(), &c, 1)) return std::nullopt;
    if (c == std::byte{0}) break;
  }
  return text;
}

}  // namespace simtlab::exec
