#include "hosts/cuda/functions.h"

#include <algorithm>

#include "device/occupancy.h"

namespace simtlab::hosts::cuda {
namespace {

std::uint32_t registers_of(Runtime& r, const ptx::Function& f) {
  return r.run().registers != 0 ? static_cast<unsigned>(r.run().registers) : f.registers;
}

// The largest block that fits one SM.
int max_threads(Runtime& r, const ptx::Function& f) {
  const device::Device& d = r.device();
  std::uint32_t threads = d.sm.max_threads_per_block;
  if (f.max_ntid[0] != 0) {
    std::uint64_t bound = 1;
    for (const std::uint32_t n : f.max_ntid) bound *= std::max(1u, n);
    threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, bound));
  }
  while (threads > 32 && device::occupancy(d, threads, registers_of(r, f), f.shared_bytes).blocks_per_sm == 0)
    threads -= 32;
  return static_cast<int>(threads);
}

}  // namespace

const ptx::Function& function_of(Runtime& r, KernelEntry& entry) {
  gpu::Gpu& g = r.gpu();
  const gpu::Kernel kernel = r.images.resolve(entry, g);
  return g.module(kernel.module).functions[kernel.function];
}

CudaError function_attributes(Runtime& r, KernelEntry& entry, FuncAttributes& out) {
  const ptx::Function* const f = &function_of(r, entry);
  const device::Device& d = r.device();
  const ptx::Module& module = r.gpu().module(entry.kernel->module);
  out = FuncAttributes{};
  out.shared_bytes = f->shared_bytes;
  for (const ptx::Variable& v : module.variables)
    if (v.space == ptx::Space::constant && v.within < 0) out.const_bytes += v.bytes;
  out.local_bytes = f->total_frame_bytes;
  out.max_threads_per_block = max_threads(r, *f);
  out.registers = static_cast<int>(registers_of(r, *f));
  out.ptx_version = out.binary_version = d.cc_major * 10 + d.cc_minor;
  const std::uint64_t free =
      d.sm.shared_bytes_per_block > f->shared_bytes ? d.sm.shared_bytes_per_block - f->shared_bytes : 0;
  out.max_dynamic_shared = static_cast<int>(std::max<std::uint64_t>(entry.max_dynamic_shared, free));
  out.carveout = entry.carveout;
  return success;
}

CudaError set_function_attribute(Runtime& r, KernelEntry& entry, int attribute, int value) {
  const ptx::Function& f = function_of(r, entry);
  if (attribute == attribute_carveout) {
    entry.carveout = value;
    return success;
  }
  if (attribute == attribute_max_dynamic_shared) {
    if (value < 0 ||
        static_cast<std::uint64_t>(value) + f.shared_bytes > r.device().sm.shared_bytes_per_block_optin)
      return error_invalid_value;
    entry.max_dynamic_shared = static_cast<std::uint64_t>(value);
    return success;
  }
  if (attribute >= attribute_cluster_width && attribute <= attribute_cluster_depth) {
    if (value < 0 || f.req_cluster[0] != 0) return error_invalid_value;
    if (value == 0) {  // nothing is required
      entry.cluster = {0, 0, 0};
      return success;
    }
    std::uint32_t* const sizes[] = {&entry.cluster.x, &entry.cluster.y, &entry.cluster.z};
    for (std::uint32_t* const size : sizes) *size = std::max(*size, 1u);
    *sizes[attribute - attribute_cluster_width] = static_cast<std::uint32_t>(value);
    return success;
  }
  if (attribute == attribute_non_portable) entry.non_portable_cluster = value != 0;
  return attribute == attribute_non_portable || attribute == attribute_cluster_policy ? success
                                                                                      : error_invalid_value;
}

ClusterAttributes cluster_attributes(Runtime& r, KernelEntry& entry) {
  const ptx::Function& f = function_of(r, entry);
  ClusterAttributes out{.must_be_set = f.explicit_cluster ? 1 : 0,
                        .non_portable = entry.non_portable_cluster ? 1 : 0};
  const std::uint32_t own[] = {entry.cluster.x, entry.cluster.y, entry.cluster.z};
  for (int i = 0; i < 3; ++i)
    out.size[i] = static_cast<int>(f.req_cluster[0] != 0 ? std::max(f.req_cluster[i], 1u) : own[i]);
  return out;
}

// Blocks of a cluster go to an SM each.
CudaError clusters_at_once(Runtime& r, KernelEntry& entry, const Dim3Arg& cluster, int threads,
                           std::size_t shared, int* out) {
  int per_sm = 0;
  if (out == nullptr) return error_invalid_value;
  const CudaError code = blocks_per_sm(r, entry, threads, shared, &per_sm);
  if (code != success) return code;
  const device::Device& d = r.device();
  const std::uint64_t blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  const std::uint64_t most = entry.non_portable_cluster ? exec::most_cluster_blocks : d.shared.cluster_blocks;
  if (blocks == 0 || d.shared.cluster_blocks == 0 || blocks > most || blocks > d.sm.count)
    return error_invalid_cluster_size;
  *out = static_cast<int>(d.sm.count / blocks) * per_sm;
  return success;
}

CudaError largest_cluster(Runtime& r, KernelEntry& entry, int threads, std::size_t shared, int* out) {
  int per_sm = 0;
  if (out == nullptr) return error_invalid_value;
  const CudaError code = blocks_per_sm(r, entry, threads, shared, &per_sm);
  if (code != success) return code;
  const device::Device& d = r.device();
  if (per_sm == 0 || d.shared.cluster_blocks == 0) return error_invalid_value;
  *out = static_cast<int>(
      std::min(entry.non_portable_cluster ? exec::most_cluster_blocks : d.shared.cluster_blocks, d.sm.count));
  return success;
}

CudaError parameter_info(Runtime& r, KernelEntry& entry, std::size_t index, std::size_t* offset,
                         std::size_t* bytes) {
  const ptx::Function& f = function_of(r, entry);
  if (offset == nullptr || index >= f.params.size()) return error_invalid_value;
  *offset = f.params[index].offset;
  if (bytes != nullptr) *bytes = f.params[index].bytes;
  return success;
}

CudaError blocks_per_sm(Runtime& r, KernelEntry& entry, int threads, std::size_t shared, int* out) {
  if (out == nullptr || threads <= 0) return error_invalid_value;
  const ptx::Function& f = function_of(r, entry);
  *out = static_cast<int>(device::occupancy(r.device(), static_cast<std::uint32_t>(threads),
                                            registers_of(r, f), shared + f.shared_bytes)
                              .blocks_per_sm);
  return success;
}

CudaError available_shared(Runtime& r, KernelEntry& entry, int blocks, int threads, std::size_t* out) {
  if (out == nullptr || blocks <= 0 || threads <= 0) return error_invalid_value;
  const ptx::Function* const f = &function_of(r, entry);
  const device::Device& d = r.device();
  const auto fits = [&](std::uint64_t dynamic) {
    return device::occupancy(d, static_cast<std::uint32_t>(threads), registers_of(r, *f),
                             dynamic + f->shared_bytes)
               .blocks_per_sm >= static_cast<std::uint32_t>(blocks);
  };
  if (!fits(0)) return error_invalid_value;
  std::uint64_t low = 0, high = d.sm.shared_bytes_per_block_optin -
                                std::min<std::uint64_t>(f->shared_bytes, d.sm.shared_bytes_per_block_optin);
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  *out = low;
  return success;
}

}  // namespace simtlab::hosts::cuda
