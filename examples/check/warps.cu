// Work of single warps in shared memory, whose lanes synchronise with __syncwarp(), also by parts of a warp.
#include "../example.h"

__global__ void sums(int n, const int* in, int* out) {
  __shared__ int part[4][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 128 + threadIdx.x;
  part[warp][lane] = i < n ? in[i] : 0;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) part[warp][lane] += part[warp][lane + half];
    __syncwarp();
  }
  if (lane == 0) out[blockIdx.x * 4 + warp] = part[warp][0];
}

// Each half of a warp reverses sixteen elements.
__global__ void halves(int n, const int* in, int* out) {
  __shared__ int mine[64];
  const int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 64 + t;
  const int first = t / 16 * 16;
  const unsigned low = 0x0000ffffu, high = 0xffff0000u;
  if (i < n) mine[t] = in[i];
  if (lane < 16) {
    __syncwarp(low);
    if (i < n) out[i] = mine[first + 15 - t % 16];
  } else {
    __syncwarp(high);
    if (i < n) out[i] = mine[first + 15 - t % 16] + 1000;
  }
}

// Neighbours by shuffles and votes, among the lanes that take part.
__global__ void neighbours(int n, const int* in, int* out, int* odd) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const unsigned here = __ballot_sync(0xffffffff, i < n);
  if (i < n) {
    const int v = in[i];
    const int left = __shfl_up_sync(here, v, 1);
    const unsigned odds = __ballot_sync(here, v % 2 != 0);
    out[i] = threadIdx.x == 0 ? v : v - left;
    if (threadIdx.x == 0) odd[blockIdx.x] = __popc(odds);
  }
}

// Lanes pass a value on, one step at a time.
__global__ void relay(int* out) {
  __shared__ int cell[32];
  const int lane = threadIdx.x;
  cell[lane] = lane;
  __syncwarp();
  for (int step = 0; step < 5; ++step) {
    const int next = cell[(lane + 1) % 32];
    __syncwarp();
    cell[lane] = next + 1;
    __syncwarp();
  }
  out[blockIdx.x * 32 + lane] = cell[31 - lane];
}

int main() {
  const int n = 624, warps = 20, m = 608;
  std::vector<int> values(n), got_sums(warps), got_halves(m), got_next(n), got_odd(warps), got_relay(64);
  for (int i = 0; i < n; ++i) values[i] = i * 7 % 101;
  int *in, *sum, *half, *next, *odd, *passed;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&sum, warps * sizeof(int)));
  CHECK(cudaMalloc(&half, m * sizeof(int)));
  CHECK(cudaMalloc(&next, n * sizeof(int)));
  CHECK(cudaMalloc(&odd, warps * sizeof(int)));
  CHECK(cudaMalloc(&passed, 64 * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  sums<<<warps / 4, 128>>>(n, in, sum);
  halves<<<warps / 2, 64>>>(m, in, half);
  neighbours<<<warps, 32>>>(n, in, next, odd);
  relay<<<2, 32>>>(passed);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got_sums.data(), sum, warps * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_halves.data(), half, m * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_next.data(), next, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_odd.data(), odd, warps * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_relay.data(), passed, 64 * sizeof(int), cudaMemcpyDeviceToHost));
  std::vector<int> want_sums(warps), want_odd(warps);
  bool pass = true;
  for (int i = 0; i < n; ++i) {
    want_sums[i / 32] += values[i];
    want_odd[i / 32] += values[i] % 2;
    pass = pass && (i >= m || got_halves[i] == values[i / 16 * 16 + 15 - i % 16] + (i % 32 < 16 ? 0 : 1000));
    pass = pass && got_next[i] == (i % 32 == 0 ? values[i] : values[i] - values[i - 1]);
  }
  for (int i = 0; i < 64; ++i) pass = pass && got_relay[i] == (31 - i % 32 + 5) % 32 + 5;
  CHECK(cudaFree(in));
  CHECK(cudaFree(sum));
  CHECK(cudaFree(half));
  CHECK(cudaFree(next));
  CHECK(cudaFree(odd));
  CHECK(cudaFree(passed));
  return verdict("warps", pass && got_sums == want_sums && got_odd == want_odd);
}
