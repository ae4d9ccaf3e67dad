// Streams, events, callbacks, launches by every function; what they return when used wrongly.
#include <cstring>

#include "check.h"

__global__ void scale(float* p, int n, float f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * f + 1;
}
__global__ void add(float* to, const float* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
static void CUDART_CB on_host(void* p) { *static_cast<int*>(p) += 1; }
static void CUDART_CB on_stream(cudaStream_t, cudaError_t status, void* p) {
  if (status == cudaSuccess) *static_cast<int*>(p) += 10;
}

int main() {
  const int n = 4096, parts = 4;
  float *host, *device;
  CUDA(cudaMallocHost(&host, n * sizeof(float)));
  CUDA(cudaMalloc(&device, n * sizeof(float)));
  for (int i = 0; i < n; ++i) host[i] = (float)i;
  cudaStream_t streams[parts];
  for (int i = 0; i < parts; ++i)
    CUDA(i % 2 ? cudaStreamCreate(&streams[i]) : cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  cudaEvent_t start, stop, order;
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&stop));
  CUDA(cudaEventCreateWithFlags(&order, cudaEventDisableTiming));

  CUDA(cudaEventRecord(start, 0));
  for (int i = 0; i < parts; ++i) {
    const int size = n / parts, at = i * size;
    CUDA(cudaMemcpyAsync(device + at, host + at, size * sizeof(float), cudaMemcpyHostToDevice, streams[i]));
    scale<<<size / 256, 256, 0, streams[i]>>>(device + at, size, 2.0f);
    CUDA(cudaMemcpyAsync(host + at, device + at, size * sizeof(float), cudaMemcpyDeviceToHost, streams[i]));
  }
  for (cudaStream_t s : streams) CUDA(cudaStreamSynchronize(s));
  CUDA(cudaEventRecord(stop));
  CUDA(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0);
  for (int i = 0; i < n; ++i) EXPECT_EQ_AT(i, host[i], i * 2.0f + 1);

  // An event orders two streams.
  int called = 0;
  scale<<<1, 256, 0, streams[0]>>>(device, 256, 0.0f);
  CUDA(cudaEventRecord(order, streams[0]));
  CUDA(cudaStreamWaitEvent(streams[1], order, 0));
  add<<<1, 256, 0, streams[1]>>>(device + 256, device, 256);
  CUDA(cudaLaunchHostFunc(streams[1], on_host, &called));
  CUDA(cudaStreamAddCallback(streams[1], on_stream, &called, 0));
  CUDA(cudaMemcpyAsync(host, device + 256, 256 * sizeof(float), cudaMemcpyDeviceToHost, streams[1]));
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(called, 11);
  for (int i = 0; i < 256; ++i) EXPECT_EQ_AT(i, host[i], (256 + i) * 2.0f + 2);
  EXPECT_EQ(cudaStreamQuery(streams[0]), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(order), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, order, stop), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);

  int least = 0, greatest = 0, priority = 99, in_device = -1;
  unsigned int flags = 0;
  unsigned long long id0 = 0, id1 = 0;
  cudaStream_t urgent;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CUDA(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  CUDA(cudaStreamGetPriority(urgent, &priority));
  EXPECT_EQ(priority, greatest);
  CUDA(cudaStreamGetFlags(urgent, &flags));
  EXPECT_EQ(flags, (unsigned)cudaStreamNonBlocking);
  CUDA(cudaStreamGetId(urgent, &id0));
  CUDA(cudaStreamGetId(streams[0], &id1));
  EXPECT(id0 != id1);
  CUDA(cudaStreamGetDevice(urgent, &in_device));
  EXPECT_EQ(in_device, 0);
  float* pooled;
  CUDA(cudaMallocAsync(&pooled, 1024, urgent));
  CUDA(cudaMemsetAsync(pooled, 0, 1024, urgent));
  scale<<<1, 256, 0, urgent>>>(pooled, 256, 3.0f);
  CUDA(cudaMemcpyAsync(host, pooled, 1024, cudaMemcpyDeviceToHost, urgent));
  CUDA(cudaFreeAsync(pooled, urgent));
  CUDA(cudaStreamSynchronize(urgent));
  EXPECT_EQ(host[255], 1.0f);

  // The same kernel by each way to launch it.
  CUDA(cudaMemset(device, 0, n * sizeof(float)));
  float f = 1.0f;
  int count = 64;
  void* arguments[] = {&device, &count, &f};
  CUDA(cudaLaunchKernel(scale, dim3(1), dim3(64), arguments, 0, 0));
  CUDA(cudaLaunchKernel((const void*)scale, dim3(1), dim3(64), arguments, 0, 0));
  CUDA(cudaLaunchKernel(scale, 1, 64, arguments));
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  CUDA(cudaLaunchKernelEx(&config, scale, device, 64, 1.0f));
  scale<<<1, 64, 0, cudaStreamPerThread>>>(device, 64, 1.0f);
  scale<<<1, 64, 0, cudaStreamLegacy>>>(device, 64, 1.0f);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpy(host, device, 256, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT_EQ_AT(i, host[i], 6.0f);

  size_t offset = 99, size = 0, room = 0;
  const char* name = "";
  cudaKernel_t kernel = nullptr;
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetName(&name, scale));
  EXPECT(strstr(name, "scale") != nullptr);
  CUDA(cudaFuncGetParamInfo(scale, 1, &offset, &size));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  CUDA(cudaGetKernel(&kernel, scale));
  EXPECT(kernel != nullptr);
  CUDA(cudaFuncGetAttributes(&attributes, scale));
  EXPECT(attributes.maxThreadsPerBlock >= 256);
  CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&room, scale, 2, 128));
  EXPECT(room > 0);

  scale<<<1, 2048>>>(device, n, 1.0f);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  scale<<<0, 32>>>(device, n, 1.0f);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);

  for (cudaStream_t s : streams) CUDA(cudaStreamDestroy(s));
  CUDA(cudaStreamDestroy(urgent));
  CUDA(cudaEventDestroy(start));
  CUDA(cudaEventDestroy(stop));
  CUDA(cudaEventDestroy(order));
  CUDA(cudaFreeHost(host));
  CUDA(cudaFree(device));
  return verdict("streams_events");
}
