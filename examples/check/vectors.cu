// Vectors of two and four: loads and stores of 8 and 16 bytes, and rows of vectors in shared memory.
#include "../example.h"

__global__ void scale(int quads, const float4* in, float4* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < quads) {
    const float4 v = in[i];
    out[i] = make_float4(2 * v.x, 3 * v.y, 4 * v.z, 5 * v.w);
  }
}

// Quads are turned round in shared memory: lanes read single floats of what others wrote as a whole.
__global__ void turn(int quads, const float4* in, float* out) {
  __shared__ float4 mine[32];
  const int t = threadIdx.x, first = blockIdx.x * 32;
  if (first + t < quads) mine[t] = in[first + t];
  __syncthreads();
  const float* const flat = reinterpret_cast<const float*>(mine);
  for (int k = t; k < 128; k += 32)
    if (first + k / 4 < quads) out[4 * first + k] = flat[k / 4 * 4 + 3 - k % 4];
}

__global__ void products(int pairs, const float2* a, const float2* b, float* out) {
  __shared__ float2 part[64];
  const int t = threadIdx.x;
  float2 sum = make_float2(0, 0);
  for (int i = blockIdx.x * 64 + t; i < pairs; i += gridDim.x * 64) {
    sum.x += a[i].x * b[i].x;
    sum.y += a[i].y * b[i].y;
  }
  part[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) {
      part[t].x += part[t + half].x;
      part[t].y += part[t + half].y;
    }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0].x + part[0].y;
}

int main() {
  const int quads = 250, pairs = 2 * quads, blocks = 3;
  std::vector<float> values(4 * quads), got(4 * quads), got_turned(4 * quads), got_products(blocks);
  for (int i = 0; i < 4 * quads; ++i) values[i] = static_cast<float>(i * 7 % 13);
  float4 *in, *out;
  float *turned, *sums;
  CHECK(cudaMalloc(&in, quads * sizeof(float4)));
  CHECK(cudaMalloc(&out, quads * sizeof(float4)));
  CHECK(cudaMalloc(&turned, 4 * quads * sizeof(float)));
  CHECK(cudaMalloc(&sums, blocks * sizeof(float)));
  CHECK(cudaMemcpy(in, values.data(), quads * sizeof(float4), cudaMemcpyHostToDevice));
  scale<<<4, 64>>>(quads, in, out);
  turn<<<8, 32>>>(quads, in, turned);
  const float2* const pair = reinterpret_cast<const float2*>(in);
  products<<<blocks, 64>>>(pairs, pair, pair, sums);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, quads * sizeof(float4), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_turned.data(), turned, 4 * quads * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_products.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
  float want = 0, sum = 0;
  bool pass = true;
  for (int i = 0; i < 4 * quads; ++i) {
    want += values[i] * values[i];
    pass = pass && got[i] == values[i] * static_cast<float>(2 + i % 4) && got_turned[i] == values[i / 4 * 4 + 3 - i % 4];
  }
  for (const float v : got_products) sum += v;
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(turned));
  CHECK(cudaFree(sums));
  return verdict("vectors", pass && sum == want);
}
