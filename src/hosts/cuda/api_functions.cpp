// What a program can ask and set about a kernel, and occupancy.
#include <algorithm>

#include "device/occupancy.h"
#include "hosts/cuda/call.h"

using namespace simtlab::hosts::cuda;
namespace device = simtlab::device;
namespace gpu = simtlab::gpu;
namespace ptx = simtlab::ptx;

namespace {

const ptx::Function* function_of(Runtime& r, const void* host, KernelEntry*& entry) {
  entry = r.images.find_kernel(host);
  if (entry == nullptr) return nullptr;
  gpu::Gpu& g = r.gpu();
  const gpu::Kernel kernel = r.images.resolve(*entry, g);
  return &g.module(kernel.module).functions[kernel.function];
}

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

CudaError attributes(Runtime& r, const void* host, FuncAttributes& out) {
  KernelEntry* entry = nullptr;
  const ptx::Function* f = function_of(r, host, entry);
  if (f == nullptr) return error_invalid_device_function;
  const device::Device& d = r.device();
  const ptx::Module& module = r.gpu().module(entry->kernel->module);
  out = FuncAttributes{};
  out.shared_bytes = f->shared_bytes;
  for (const ptx::Variable& v : module.variables)
    if (v.space == ptx::Space::constant) out.const_bytes += v.bytes;
  out.local_bytes = f->total_frame_bytes;
  out.max_threads_per_block = max_threads(r, *f);
  out.registers = static_cast<int>(registers_of(r, *f));
  out.ptx_version = out.binary_version = d.cc_major * 10 + d.cc_minor;
  const std::uint64_t free =
      d.sm.shared_bytes_per_block > f->shared_bytes ? d.sm.shared_bytes_per_block - f->shared_bytes : 0;
  out.max_dynamic_shared = static_cast<int>(std::max<std::uint64_t>(entry->max_dynamic_shared, free));
  out.carveout = entry->carveout;
  return success;
}

CudaError blocks_per_sm(int* out, const void* host, int threads, std::size_t shared) {
  return call([&](Runtime& r) {
    if (out == nullptr || threads <= 0) return error_invalid_value;
    KernelEntry* entry = nullptr;
    const ptx::Function* f = function_of(r, host, entry);
    if (f == nullptr) return error_invalid_device_function;
    *out = static_cast<int>(device::occupancy(r.device(), static_cast<std::uint32_t>(threads),
                                              registers_of(r, *f), shared + f->shared_bytes)
                                .blocks_per_sm);
    return success;
  });
}

}  // namespace

// CUDA 12 added members at the end (clusters), CUDA 11 programs have no room for them.
SIMTLAB_CUDA_API CudaError cudaFuncGetAttributes(FuncAttributes* out, const void* host) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    const CudaError code = attributes(r, host, *out);
    constexpr int cluster_members = 6;
    if (code == success && library_major >= 12)
      std::fill_n(reinterpret_cast<int*>(&out->carveout) + 1, cluster_members, 0);
    return code;
  });
}

SIMTLAB_CUDA_API CudaError cudaFuncSetAttribute(const void* host, int attribute, int value) {
  return call([&](Runtime& r) {
    constexpr int max_dynamic_shared = 8, carveout = 9;
    KernelEntry* entry = nullptr;
    const ptx::Function* f = function_of(r, host, entry);
    if (f == nullptr) return error_invalid_device_function;
    if (attribute == carveout) {
      entry->carveout = value;
      return success;
    }
    if (attribute == max_dynamic_shared) {
      if (value < 0 ||
          static_cast<std::uint64_t>(value) + f->shared_bytes > r.device().sm.shared_bytes_per_block_optin)
        return error_invalid_value;
      entry->max_dynamic_shared = static_cast<std::uint64_t>(value);
      return success;
    }
    if (attribute > carveout && attribute < 16)
      return r.unsupported("cudaFuncSetAttribute", "thread block clusters");
    return error_invalid_value;
  });
}

// Hints; the device file decides.
SIMTLAB_CUDA_API CudaError cudaFuncSetCacheConfig(const void* host, int) {
  return call([&](Runtime& r) {
    return r.images.find_kernel(host) != nullptr ? success : error_invalid_device_function;
  });
}
SIMTLAB_CUDA_API CudaError cudaFuncSetSharedMemConfig(const void* host, int) {
  return call([&](Runtime& r) {
    return r.images.find_kernel(host) != nullptr ? success : error_invalid_device_function;
  });
}
SIMTLAB_CUDA_API CudaError cudaFuncGetName(const char** name, const void* host) {
  return call([&](Runtime& r) {
    const KernelEntry* entry = r.images.find_kernel(host);
    if (entry == nullptr) return error_invalid_device_function;
    if (name == nullptr) return error_invalid_value;
    *name = entry->name.c_str();
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset,
                                                std::size_t* bytes) {
  return call([&](Runtime& r) {
    KernelEntry* entry = nullptr;
    const ptx::Function* f = function_of(r, host, entry);
    if (f == nullptr) return error_invalid_device_function;
    if (offset == nullptr || index >= f->params.size()) return error_invalid_value;
    *offset = f->params[index].offset;
    if (bytes != nullptr) *bytes = f->params[index].bytes;
    return success;
  });
}

SIMTLAB_CUDA_API CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* host,
                                                                         int threads, std::size_t shared) {
  return blocks_per_sm(out, host, threads, shared);
}
SIMTLAB_CUDA_API CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* host,
                                                                                  int threads,
                                                                                  std::size_t shared,
                                                                                  unsigned) {
  return blocks_per_sm(out, host, threads, shared);
}

SIMTLAB_CUDA_API CudaError cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* out, const void* host,
                                                                     int blocks, int threads) {
  return call([&](Runtime& r) {
    if (out == nullptr || blocks <= 0 || threads <= 0) return error_invalid_value;
    KernelEntry* entry = nullptr;
    const ptx::Function* f = function_of(r, host, entry);
    if (f == nullptr) return error_invalid_device_function;
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
  });
}
