// A histogram of bytes: counts of the block in shared memory, then in global memory; and one without shared memory.
#include "../example.h"

constexpr int bins = 64;

__global__ void count(int n, const int* in, unsigned* out) {
  __shared__ unsigned mine[bins];
  const int t = threadIdx.x;
  if (t < bins) mine[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 96 + t; i < n; i += gridDim.x * 96) atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  if (t < bins) atomicAdd(&out[t], mine[t]);
}

// Each warp has counts of its own, which are added up at the end.
__global__ void count_by_warps(int n, const int* in, unsigned* out) {
  __shared__ unsigned mine[3][bins];
  const int t = threadIdx.x, warp = t / 32;
  for (int i = t; i < 3 * bins; i += 96) mine[i / bins][i % bins] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 96 + t; i < n; i += gridDim.x * 96) atomicAdd(&mine[warp][in[i]], 1u);
  __syncthreads();
  if (t < bins) {
    unsigned sum = 0;
    for (int w = 0; w < 3; ++w) sum += mine[w][t];
    atomicAdd(&out[t], sum);
  }
}

__global__ void bounds(int n, const int* in, int* least, int* most, unsigned* odd) {
  const int i = blockIdx.x * 96 + threadIdx.x;
  if (i < n) atomicMin(least, in[i]);
  if (i < n) atomicMax(most, in[i]);
  if (i < n && in[i] % 2 != 0) atomicAdd(odd, 1u);
}

int main() {
  const int n = 3000;
  Sequence random;
  std::vector<int> values(n);
  std::vector<unsigned> want(bins), got(bins), got_warps(bins);
  int least = bins, most = 0;
  unsigned odd = 0;
  for (int& v : values) {
    v = static_cast<int>(random.next() % bins);
    ++want[v];
    least = v < least ? v : least;
    most = v > most ? v : most;
    odd += v % 2;
  }
  int *in, *extremes;
  unsigned *out, *out_warps, *odds;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&extremes, 2 * sizeof(int)));
  CHECK(cudaMalloc(&out, bins * sizeof(unsigned)));
  CHECK(cudaMalloc(&out_warps, bins * sizeof(unsigned)));
  CHECK(cudaMalloc(&odds, sizeof(unsigned)));
  const int start[2] = {bins, 0};
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(extremes, start, sizeof(start), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, bins * sizeof(unsigned)));
  CHECK(cudaMemset(out_warps, 0, bins * sizeof(unsigned)));
  CHECK(cudaMemset(odds, 0, sizeof(unsigned)));
  count<<<5, 96>>>(n, in, out);
  count_by_warps<<<5, 96>>>(n, in, out_warps);
  bounds<<<(n + 95) / 96, 96>>>(n, in, extremes, extremes + 1, odds);
  CHECK(cudaGetLastError());
  int got_extremes[2];
  unsigned got_odd;
  CHECK(cudaMemcpy(got.data(), out, bins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_warps.data(), out_warps, bins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_extremes, extremes, sizeof(got_extremes), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&got_odd, odds, sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(extremes));
  CHECK(cudaFree(out));
  CHECK(cudaFree(out_warps));
  CHECK(cudaFree(odds));
  return verdict("histogram", got == want && got_warps == want && got_extremes[0] == least &&
                                  got_extremes[1] == most && got_odd == odd);
}
