// Barriers for a part of a block: two groups on their own, and warps that fill buffers for others.
#include "../example.h"

// The first 64 threads and the last 64 each reverse their half, with a barrier of their own.
__global__ void groups(int n, const int* in, int* out) {
  __shared__ int half[2][64];
  const int t = threadIdx.x % 64, i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x < 64) {
    half[0][t] = i < n ? in[i] : 0;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[i] = half[0][63 - t];
  } else {
    half[1][t] = i < n ? in[i] : 0;
    asm volatile("bar.sync 2, 64;" ::: "memory");
    out[i] = half[1][63 - t] + half[1][t];
  }
}

// Warp 0 writes two buffers by turns, warp 1 reads them. Barriers 1 and 2: filled; 3 and 4: read.
__global__ void hand_over(int rounds, const int* in, int* out) {
  __shared__ int buffer[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; r += 2) {
      if (r > 0) asm volatile("bar.sync 3, 64;" ::: "memory");
      buffer[0][lane] = in[r * 32 + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      if (r > 0) asm volatile("bar.sync 4, 64;" ::: "memory");
      buffer[1][lane] = in[r * 32 + 32 + lane];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  } else {
    for (int r = 0; r < rounds; r += 2) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[r * 32 + lane] = buffer[0][31 - lane];
      if (r + 2 < rounds) asm volatile("bar.arrive 3, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
      out[r * 32 + 32 + lane] = buffer[1][31 - lane];
      if (r + 2 < rounds) asm volatile("bar.arrive 4, 64;" ::: "memory");
    }
  }
}

// Three warps work together, the fourth one does something else.
__global__ void three_of_four(int* out, int* alone) {
  __shared__ int part[96];
  const int t = threadIdx.x;
  if (t < 96) {
    part[t] = t;
    asm volatile("bar.sync 5, 96;" ::: "memory");
    const int sum = part[(t + 32) % 96] + part[(t + 64) % 96];
    asm volatile("bar.sync 5, 96;" ::: "memory");
    part[t] = sum;
    asm volatile("bar.sync 5, 96;" ::: "memory");
    out[blockIdx.x * 96 + t] = part[95 - t];
  } else {
    alone[blockIdx.x * 32 + t - 96] = t;
  }
  __syncthreads();
  if (t < 32) alone[blockIdx.x * 32 + t] += part[t];
}

int main() {
  const int n = 500, rounds = 8;
  std::vector<int> values(512), got(512), got_over(rounds * 32), got_three(192), got_alone(64);
  for (int i = 0; i < n; ++i) values[i] = i * 3 % 91;
  int *in, *out, *over, *three, *alone;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, 512 * sizeof(int)));
  CHECK(cudaMalloc(&over, rounds * 32 * sizeof(int)));
  CHECK(cudaMalloc(&three, 192 * sizeof(int)));
  CHECK(cudaMalloc(&alone, 64 * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  groups<<<4, 128>>>(n, in, out);
  hand_over<<<1, 64>>>(rounds, in, over);
  three_of_four<<<2, 128>>>(three, alone);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, 512 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_over.data(), over, rounds * 32 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_three.data(), three, 192 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_alone.data(), alone, 64 * sizeof(int), cudaMemcpyDeviceToHost));
  bool pass = true;
  for (int i = 0; i < 512; ++i) {
    const int other = values[i / 64 * 64 + 63 - i % 64];
    pass = pass && got[i] == (i % 128 < 64 ? other : other + values[i]);
  }
  for (int i = 0; i < rounds * 32; ++i) pass = pass && got_over[i] == values[i / 32 * 32 + 31 - i % 32];
  const auto sum = [](int t) { return (t + 32) % 96 + (t + 64) % 96; };
  for (int i = 0; i < 192; ++i) pass = pass && got_three[i] == sum(95 - i % 96);
  for (int i = 0; i < 64; ++i) pass = pass && got_alone[i] == 96 + i % 32 + sum(i % 32);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(over));
  CHECK(cudaFree(three));
  CHECK(cudaFree(alone));
  return verdict("named_barriers", pass);
}
