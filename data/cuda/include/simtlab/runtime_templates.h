// C++ conveniences of the runtime API: typed allocation, symbols by name, kernels by name, textures by reference.
#pragma once

#include "../cuda_runtime_api.h"

// Templates instead of default arguments where the C function has none. T may be const.
template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t size) {
  return ::cudaMalloc((void**)pointer, size);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)pointer, size, flags);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc((void**)pointer, size, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device_pointer, void* host_pointer, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)device_pointer, host_pointer, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)pointer, size, flags);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)pointer, pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)pointer, size, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(pointer, size, pool, stream);
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) { return ::cudaEventCreateWithFlags(event, flags); }

// A symbol is named by the variable itself.
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(reinterpret_cast<const void*>(&symbol), from, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, reinterpret_cast<const void*>(&symbol), count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t count, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync(reinterpret_cast<const void*>(&symbol), from, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t count, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, reinterpret_cast<const void*>(&symbol), count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress(pointer, reinterpret_cast<const void*>(&symbol));
}
template <class T, class U>
inline cudaError_t cudaGetSymbolAddress(U** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress((void**)pointer, reinterpret_cast<const void*>(&symbol));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return ::cudaGetSymbolSize(size, reinterpret_cast<const void*>(&symbol));
}

// A kernel is named by the function itself.
template <class T>
inline cudaError_t cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                    cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                               size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes, stream);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* function, cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
  return ::cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(function), attribute, value);
}
template <class T>
inline cudaError_t cudaFuncGetName(const char** name, T* function) {
  return ::cudaFuncGetName(name, reinterpret_cast<const void*>(function));
}
template <class T>
inline cudaError_t cudaFuncGetParamInfo(T* function, size_t index, size_t* offset, size_t* size) {
  return ::cudaFuncGetParamInfo(reinterpret_cast<const void*>(function), index, offset, size);
}
template <class T>
inline cudaError_t cudaGetKernel(cudaKernel_t* kernel, T* function) {
  return ::cudaGetKernel(kernel, reinterpret_cast<const void*>(function));
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared, T* function, int blocks, int block_size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamic_shared, reinterpret_cast<const void*>(function), blocks, block_size);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, T* function, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, T* function, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxPotentialClusterSize(blocks, reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* function, int block_size, size_t dynamic_shared) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(function), block_size,
                                                         dynamic_shared);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T* function, int block_size,
                                                                          size_t dynamic_shared, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void*>(function), block_size,
                                                                  dynamic_shared, flags);
}
// Tries every multiple of the warp size and keeps the block size with most resident threads, the larger one on a tie.
template <class UnaryFunction, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* best_block, T function,
                                                                  UnaryFunction shared_of_block, int limit = 0) {
  int device = 0, sms = 0, max_threads = 0;
  cudaError_t e = cudaGetDevice(&device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaFuncAttributes attributes;
  if (e == cudaSuccess) e = ::cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(function));
  if (e != cudaSuccess) return e;
  max_threads = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < max_threads) max_threads = limit;
  int best_threads = 0, best_blocks = 0;
  *best_block = 0;
  for (int size = (max_threads / 32) * 32; size >= 32; size -= 32) {
    int blocks = 0;
    e = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(function), size,
                                                        shared_of_block(size));
    if (e != cudaSuccess) return e;
    if (blocks * size > best_threads) {
      best_threads = blocks * size;
      best_blocks = blocks;
      *best_block = size;
    }
  }
  *min_grid = best_blocks * sms;
  return cudaSuccess;
}
namespace simtlab_detail {
struct FixedSharedMemory {
  size_t bytes;
  size_t operator()(int) const { return bytes; }
};
}  // namespace simtlab_detail
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* best_block, T function, size_t dynamic_shared = 0,
                                                      int limit = 0) {
  simtlab_detail::FixedSharedMemory shared = {dynamic_shared};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(min_grid, best_block, function, shared, limit);
}

#if __cplusplus >= 201103L
namespace simtlab_detail {
template <class T>
struct Identity {
  using type = T;
};
}  // namespace simtlab_detail
template <class... Parameters>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                      typename simtlab_detail::Identity<Parameters>::type... arguments) {
  void* pointers[sizeof...(Parameters) + 1] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  return ::cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), pointers);
}
#endif

// Legacy texture references. The attribute makes clang emit a .texref on the device and register the host variable.
template <class T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
#if defined(__CUDA__) && defined(__clang__)
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
#else
struct texture : public textureReference {
#endif
  texture(int normalise = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
          cudaTextureAddressMode address = cudaAddressModeClamp) {
    init(normalise, filter, address, cudaCreateChannelDesc<T>());
  }
  texture(int normalise, cudaTextureFilterMode filter, cudaTextureAddressMode address, cudaChannelFormatDesc descriptor) {
    init(normalise, filter, address, descriptor);
  }

 private:
  void init(int normalise, cudaTextureFilterMode filter, cudaTextureAddressMode address, cudaChannelFormatDesc descriptor) {
    memset(static_cast<textureReference*>(this), 0, sizeof(textureReference));
    normalized = normalise;
    filterMode = filter;
    addressMode[0] = addressMode[1] = addressMode[2] = address;
    channelDesc = descriptor;
  }
};

template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, d, m>& t, const void* pointer,
                                   const cudaChannelFormatDesc& descriptor, size_t size = UINT_MAX) {
  return ::cudaBindTexture(offset, &t, pointer, &descriptor, size);
}
template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, d, m>& t, const void* pointer, size_t size = UINT_MAX) {
  return ::cudaBindTexture(offset, &t, pointer, &t.channelDesc, size);
}
template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, d, m>& t, const void* pointer,
                                     const cudaChannelFormatDesc& descriptor, size_t width, size_t height, size_t pitch) {
  return ::cudaBindTexture2D(offset, &t, pointer, &descriptor, width, height, pitch);
}
template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, d, m>& t, const void* pointer, size_t width, size_t height,
                                     size_t pitch) {
  return ::cudaBindTexture2D(offset, &t, pointer, &t.channelDesc, width, height, pitch);
}
template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaBindTextureToArray(const texture<T, d, m>& t, cudaArray_const_t array,
                                          const cudaChannelFormatDesc& descriptor) {
  return ::cudaBindTextureToArray(&t, array, &descriptor);
}
template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaBindTextureToArray(const texture<T, d, m>& t, cudaArray_const_t array) {
  cudaChannelFormatDesc descriptor;
  cudaError_t e = ::cudaGetChannelDesc(&descriptor, array);
  return e == cudaSuccess ? ::cudaBindTextureToArray(&t, array, &descriptor) : e;
}
template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaUnbindTexture(const texture<T, d, m>& t) {
  return ::cudaUnbindTexture(&t);
}
template <class T, int d, cudaTextureReadMode m>
inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const texture<T, d, m>& t) {
  return ::cudaGetTextureAlignmentOffset(offset, &t);
}
// As CUDA 11 has it.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* program, cudaGraph_t graph, cudaGraphNode_t* error_node, char*, size_t) {
  if (error_node != nullptr) *error_node = nullptr;
  return ::cudaGraphInstantiate(program, graph, 0ull);
}
