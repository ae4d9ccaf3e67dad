#include "exec/heap.h"

#include <fmt/format.h>

#include "base/error.h"
#include "exec/state.h"

namespace simtlab::exec {
namespace {

constexpr std::uint64_t granule = 16;

std::uint64_t value_of(const WarpCtx& ctx, const XInst& x, unsigned lane) {
  return x.inst->src[0].bytes == 8 ? ctx.row64(x.src[0])[lane] : ctx.row32(x.src[0])[lane];
}

}  // namespace

bool DeviceHeap::set_bytes(std::uint64_t bytes) {
  if (base_) return false;
  bytes_ = (bytes + granule - 1) / granule * granule;
  return true;
}

void DeviceHeap::prepare() {
  if (base_ || bytes_ == 0) return;
  base_ = memory_.allocate(bytes_, "device heap");
  if (!base_)
    throw Error(
        ExitCode::program_failed, "device-heap",
        fmt::format("the heap of {} bytes for malloc in kernels does not fit into device memory", bytes_),
        "free memory first, or make it smaller: cudaDeviceSetLimit(cudaLimitMallocHeapSize, ...)");
  free_.emplace(*base_, bytes_);
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > bytes_) return 0;
  const std::uint64_t need = (bytes + granule - 1) / granule * granule;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [address, room] = *it;
    if (room < need) continue;
    free_.erase(it);
    if (room > need) free_.emplace(address + need, room - need);
    used_.emplace(address, need);
    return address;
  }
  return 0;
}

bool DeviceHeap::release(std::uint64_t address) {
  const auto block = used_.find(address);
  if (block == used_.end()) return false;
  auto at = free_.emplace(address, block->second).first;
  used_.erase(block);
  if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }
  return true;
}

void DeviceHeap::reset() {
  if (base_) memory_.release(*base_);
  base_.reset();
  free_.clear();
  used_.clear();
}

bool DeviceHeap::restore(const std::map<std::uint64_t, std::uint64_t>& blocks) {
  if (!base_) return blocks.empty();
  std::map<std::uint64_t, std::uint64_t> free;
  std::uint64_t at = *base_;
  const std::uint64_t end = at + bytes_;
  for (const auto& [address, bytes] : blocks) {
    if (address < at || address >= end || bytes == 0 || bytes > end - address || address % granule != 0 ||
        bytes % granule != 0)
      return false;
    if (address > at) free.emplace(at, address - at);
    at = address + bytes;
  }
  if (at < end) free.emplace(at, end - at);
  free_ = std::move(free);
  used_ = blocks;
  return true;
}

void handle_heap_alloc(WarpCtx& ctx, const XInst& x) {
  DeviceHeap* const heap = block_of(ctx).launch->params.heap;
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t address = heap == nullptr ? 0 : heap->allocate(value_of(ctx, x, lane));
    ctx.row64(x.dst)[lane] = address;
  }
}

void handle_heap_free(WarpCtx& ctx, const XInst& x) {
  const Block::Impl& b = block_of(ctx);
  DeviceHeap* const heap = b.launch->params.heap;
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t address = value_of(ctx, x, lane);
    if (address == 0 || (heap != nullptr && heap->release(address))) continue;
    raise(b, *x.inst, Fault::Kind::illegal_address, "illegal-address",
          fmt::format("free of address {:#x}, where no block of the device heap begins, by {} of {}", address,
                      thread_name(b, ctx.warp, lane), kernel_name(b, *x.inst)),
          "free and delete in kernels take what malloc and new in kernels gave, once");
  }
}

}  // namespace simtlab::exec
