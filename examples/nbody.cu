// All-pairs gravity: positions pass through shared memory tile by tile, the inner loop is arithmetic with a
// square root.
#include "example.h"

constexpr int kBlock = 128;
constexpr float kSoftening = 0.01f;

__host__ __device__ float3 pull(float4 me, float4 other, float3 sum) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float d2 = dx * dx + dy * dy + dz * dz + kSoftening;
  const float inverse = 1.0f / sqrtf(d2);
  const float s = other.w * inverse * inverse * inverse;
  return make_float3(sum.x + s * dx, sum.y + s * dy, sum.z + s * dz);
}

__global__ void accelerations(int n, const float4* bodies, float3* result) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int t = 0; t < n; t += kBlock) {
    const int j = t + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);  // no mass, no pull
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) sum = pull(me, tile[k], sum);
    __syncthreads();
  }
  if (i < n) result[i] = sum;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 512, 1, 1 << 17);
  Sequence random;
  std::vector<float4> bodies(n);
  for (float4& b : bodies) b = make_float4(random.unit(), random.unit(), random.unit(), random.unit() + 0.1f);
  Buffer<float4> dbodies(bodies);
  Buffer<float3> dresult(n);
  accelerations<<<(n + kBlock - 1) / kBlock, kBlock>>>(n, dbodies.data, dresult.data);
  CHECK(cudaGetLastError());
  const std::vector<float3> result = dresult.get();
  std::vector<float> got, want;
  for (int i = 0; i < n; ++i) {
    float3 sum = make_float3(0, 0, 0);
    for (int j = 0; j < n; ++j) sum = pull(bodies[i], bodies[j], sum);
    want.insert(want.end(), {sum.x, sum.y, sum.z});
    got.insert(got.end(), {result[i].x, result[i].y, result[i].z});
  }
  return verdict("nbody", close(got, want, 1e-3));
}
