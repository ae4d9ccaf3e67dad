// Headers that programs include in passing: profiler annotations, pipeline primitives, device queries of the driver API,
// the samples' helper.
#include <cuda.h>
#include <cuda_pipeline.h>
#include <helper_cuda.h>
#include <nvToolsExt.h>

#include <cstring>

#include "check.h"

// Two stages: the copy of the next tile is under way while this one is summed.
__global__ void staged(const float4* in, float* out, int tiles) {
  __shared__ float4 buffer[2][32];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&buffer[0][t], &in[t], sizeof(float4));
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) __pipeline_memcpy_async(&buffer[(i + 1) % 2][t], &in[(i + 1) * 32 + t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    const float4 v = buffer[i % 2][31 - t];
    sum += v.x + v.y + v.z + v.w;
    __syncwarp();
  }
  __assume(sum >= 0);
  out[31 - t] = sum;
}

int main() {
  nvtxRangePushA("staged copies");
  const int tiles = 5;
  Shared<float> in(tiles * 128), out(32);
  for (int i = 0; i < tiles * 128; ++i) in[i] = (float)i;
  staged<<<1, 32>>>((const float4*)in.p, out.p, tiles);
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < 32; ++t) {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) sum += 4 * (i * 128 + 4 * t) + 6;
    EXPECT_EQ_AT(t, out[t], sum);
  }
  nvtxRangePop();

  CUdevice device = -1;
  int count = 0, major = 0, multiprocessors = 0;
  char name[64] = "";
  size_t total = 0, available = 0, same = 0;
  cudaDeviceProp properties;
  checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceTotalMem(&total, device), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetInfo(&available, &same), CUDA_SUCCESS);
  EXPECT_EQ(major, properties.major);
  EXPECT_EQ(multiprocessors, properties.multiProcessorCount);
  EXPECT_EQ(total, properties.totalGlobalMem);
  EXPECT(strcmp(name, properties.name) == 0);
  EXPECT_EQ(_ConvertSMVer2Cores(8, 0), 64);
  EXPECT(checkCudaCapabilities(2, 0));
  return verdict("small_headers");
}
