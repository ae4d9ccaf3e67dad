// Device variables by the host address that stands for them.
#include "hosts/cuda/call.h"
#include "hosts/cuda/transfer.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

CudaError copy_symbol(Runtime& r, const void* symbol, std::size_t offset, const void* other,
                      std::size_t bytes, int kind, StreamHandle stream, bool async, bool to_symbol) {
  gpu::Symbol s;
  const CudaError code = symbol_of(r, symbol, s);
  if (code != success) return code;
  if (offset > s.bytes || bytes > s.bytes - offset) return error_invalid_value;
  void* place = reinterpret_cast<void*>(s.address + offset);
  if (kind == by_address) {
    const MemoryKind* other_kind = r.kind_of(other);
    const bool device = other_kind != nullptr && *other_kind != MemoryKind::host;
    kind = device ? device_to_device : (to_symbol ? host_to_device : device_to_host);
  }
  if (kind != device_to_device && kind != (to_symbol ? host_to_device : device_to_host))
    return error_invalid_memcpy_direction;
  if (to_symbol) return copy_linear(r, place, other, bytes, kind, stream, async);
  return copy_linear(r, const_cast<void*>(other), place, bytes, kind, stream, async);
}

}  // namespace

SIMTLAB_CUDA_API CudaError cudaMemcpyToSymbol(const void* symbol, const void* src, std::size_t bytes,
                                              std::size_t offset, int kind) {
  return call([&](Runtime& r) { return copy_symbol(r, symbol, offset, src, bytes, kind, 0, false, true); });
}
SIMTLAB_CUDA_API CudaError cudaMemcpyToSymbolAsync(const void* symbol, const void* src, std::size_t bytes,
                                                   std::size_t offset, int kind, StreamHandle stream) {
  return call(
      [&](Runtime& r) { return copy_symbol(r, symbol, offset, src, bytes, kind, stream, true, true); });
}
SIMTLAB_CUDA_API CudaError cudaMemcpyFromSymbol(void* dst, const void* symbol, std::size_t bytes,
                                                std::size_t offset, int kind) {
  return call([&](Runtime& r) { return copy_symbol(r, symbol, offset, dst, bytes, kind, 0, false, false); });
}
SIMTLAB_CUDA_API CudaError cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, std::size_t bytes,
                                                     std::size_t offset, int kind, StreamHandle stream) {
  return call(
      [&](Runtime& r) { return copy_symbol(r, symbol, offset, dst, bytes, kind, stream, true, false); });
}
SIMTLAB_CUDA_API CudaError cudaGetSymbolAddress(void** out, const void* symbol) {
  return call([&](Runtime& r) {
    gpu::Symbol s;
    const CudaError code = out == nullptr ? error_invalid_value : symbol_of(r, symbol, s);
    if (code == success) *out = reinterpret_cast<void*>(s.address);
    return code;
  });
}
SIMTLAB_CUDA_API CudaError cudaGetSymbolSize(std::size_t* out, const void* symbol) {
  return call([&](Runtime& r) {
    gpu::Symbol s;
    const CudaError code = out == nullptr ? error_invalid_value : symbol_of(r, symbol, s);
    if (code == success) *out = s.bytes;
    return code;
  });
}
SIMTLAB_CUDA_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol);
SIMTLAB_CUDA_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync);
SIMTLAB_CUDA_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol);
SIMTLAB_CUDA_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync);
