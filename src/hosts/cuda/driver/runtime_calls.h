// Functions of the runtime that functions of the driver API are made of, as their files define them.
#pragma once

#include "hosts/cuda/cuda_api.h"

namespace simtlab::hosts::cuda {
struct Graph;
struct GraphNode;
struct GraphProgram;
}  // namespace simtlab::hosts::cuda

extern "C" {
#define SIMTLAB_RUNTIME simtlab::hosts::cuda::CudaError
using simtlab::hosts::cuda::EventHandle;
using simtlab::hosts::cuda::StreamHandle;

SIMTLAB_RUNTIME cudaDeviceGetAttribute(int*, int, int);
SIMTLAB_RUNTIME cudaDeviceGetByPCIBusId(int*, const char*);
SIMTLAB_RUNTIME cudaDeviceGetLimit(std::size_t*, int);
SIMTLAB_RUNTIME cudaDeviceGetPCIBusId(char*, int, int);
SIMTLAB_RUNTIME cudaDeviceGetStreamPriorityRange(int*, int*);
SIMTLAB_RUNTIME cudaDeviceSetLimit(int, std::size_t);
SIMTLAB_RUNTIME cudaDeviceSynchronize();

SIMTLAB_RUNTIME cudaFree(void*);
SIMTLAB_RUNTIME cudaFreeAsync(void*, StreamHandle);
SIMTLAB_RUNTIME cudaFreeHost(void*);
SIMTLAB_RUNTIME cudaHostAlloc(void**, std::size_t, unsigned);
SIMTLAB_RUNTIME cudaHostGetDevicePointer(void**, void*, unsigned);
SIMTLAB_RUNTIME cudaHostGetFlags(unsigned*, void*);
SIMTLAB_RUNTIME cudaHostRegister(void*, std::size_t, unsigned);
SIMTLAB_RUNTIME cudaHostUnregister(void*);
SIMTLAB_RUNTIME cudaMalloc(void**, std::size_t);
SIMTLAB_RUNTIME cudaMallocAsync(void**, std::size_t, StreamHandle);
SIMTLAB_RUNTIME cudaMallocHost(void**, std::size_t);
SIMTLAB_RUNTIME cudaMallocManaged(void**, std::size_t, unsigned);
SIMTLAB_RUNTIME cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
SIMTLAB_RUNTIME cudaMemAdvise(const void*, std::size_t);
SIMTLAB_RUNTIME cudaMemGetInfo(std::size_t*, std::size_t*);
SIMTLAB_RUNTIME cudaMemPrefetchAsync(const void*, std::size_t);
SIMTLAB_RUNTIME cudaMemcpy(void*, const void*, std::size_t, int);
SIMTLAB_RUNTIME cudaMemcpyAsync(void*, const void*, std::size_t, int, StreamHandle);
SIMTLAB_RUNTIME cudaStreamAttachMemAsync(StreamHandle, void*, std::size_t, unsigned);

SIMTLAB_RUNTIME cudaArrayGetInfo(simtlab::hosts::cuda::ChannelFormat*, simtlab::hosts::cuda::Extent*,
                                 unsigned*, const simtlab::hosts::cuda::CudaArray*);
SIMTLAB_RUNTIME cudaCreateTextureObject(unsigned long long*, const simtlab::hosts::cuda::ResourceDesc*,
                                        const simtlab::hosts::cuda::TextureDesc*, const void*);
SIMTLAB_RUNTIME cudaDestroyTextureObject(unsigned long long);
SIMTLAB_RUNTIME cudaFreeArray(simtlab::hosts::cuda::CudaArray*);
SIMTLAB_RUNTIME cudaMalloc3DArray(simtlab::hosts::cuda::CudaArray**,
                                  const simtlab::hosts::cuda::ChannelFormat*, simtlab::hosts::cuda::Extent,
                                  unsigned);

SIMTLAB_RUNTIME cudaEventCreateWithFlags(EventHandle*, unsigned);
SIMTLAB_RUNTIME cudaEventDestroy(EventHandle);
SIMTLAB_RUNTIME cudaEventElapsedTime(float*, EventHandle, EventHandle);
SIMTLAB_RUNTIME cudaEventQuery(EventHandle);
SIMTLAB_RUNTIME cudaEventRecord(EventHandle, StreamHandle);
SIMTLAB_RUNTIME cudaEventSynchronize(EventHandle);
SIMTLAB_RUNTIME cudaLaunchHostFunc(StreamHandle, void (*)(void*), void*);
SIMTLAB_RUNTIME cudaStreamAddCallback(StreamHandle, void (*)(StreamHandle, SIMTLAB_RUNTIME, void*), void*,
                                      unsigned);
SIMTLAB_RUNTIME cudaStreamCreateWithPriority(StreamHandle*, unsigned, int);
SIMTLAB_RUNTIME cudaStreamDestroy(StreamHandle);
SIMTLAB_RUNTIME cudaStreamGetFlags(StreamHandle, unsigned*);
SIMTLAB_RUNTIME cudaStreamGetId(StreamHandle, unsigned long long*);
SIMTLAB_RUNTIME cudaStreamGetPriority(StreamHandle, int*);
SIMTLAB_RUNTIME cudaStreamQuery(StreamHandle);
SIMTLAB_RUNTIME cudaStreamSynchronize(StreamHandle);
SIMTLAB_RUNTIME cudaStreamWaitEvent(StreamHandle, EventHandle, unsigned);

SIMTLAB_RUNTIME cudaGraphCreate(simtlab::hosts::cuda::Graph**, unsigned);
SIMTLAB_RUNTIME cudaGraphDestroy(simtlab::hosts::cuda::Graph*);
SIMTLAB_RUNTIME cudaGraphExecDestroy(simtlab::hosts::cuda::GraphProgram*);
SIMTLAB_RUNTIME cudaGraphInstantiateWithFlags(simtlab::hosts::cuda::GraphProgram**,
                                              const simtlab::hosts::cuda::Graph*, unsigned long long);
SIMTLAB_RUNTIME cudaGraphLaunch(simtlab::hosts::cuda::GraphProgram*, StreamHandle);
SIMTLAB_RUNTIME cudaGraphUpload(simtlab::hosts::cuda::GraphProgram*, StreamHandle);
SIMTLAB_RUNTIME cudaStreamBeginCapture(StreamHandle, int);
SIMTLAB_RUNTIME cudaStreamEndCapture(StreamHandle, simtlab::hosts::cuda::Graph**);
SIMTLAB_RUNTIME cudaStreamIsCapturing(StreamHandle, int*);
SIMTLAB_RUNTIME cudaThreadExchangeStreamCaptureMode(int*);

SIMTLAB_RUNTIME cudaProfilerStart();
SIMTLAB_RUNTIME cudaProfilerStop();
#undef SIMTLAB_RUNTIME
}
