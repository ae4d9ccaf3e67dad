// Copies and fills behind the many cudaMemcpy and cudaMemset forms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/gpu.h"
#include "hosts/cuda/cuda_api.h"
#include "hosts/cuda/runtime.h"

namespace simtlab::hosts::cuda {

// Box: gpu::Gpu::Box. kind is MemcpyKind; by_address decides from the pointers.
CudaError copy_box(Runtime& runtime, void* dst, const void* src, const gpu::Gpu::Box& box, int kind,
                   StreamHandle stream, bool async);
CudaError copy_linear(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int kind,
                      StreamHandle stream, bool async);
CudaError fill_box(Runtime& runtime, void* dst, int value, const gpu::Gpu::Box& box, StreamHandle stream,
                   bool async);

CudaError copy_3d(Runtime& runtime, const Memcpy3DParms& parameters, StreamHandle stream, bool async);

// Address of a device variable (cudaMemcpyToSymbol and friends). Loads its module; throws Error.
CudaError symbol_of(Runtime& runtime, const void* host, gpu::Symbol& symbol);

}  // namespace simtlab::hosts::cuda
