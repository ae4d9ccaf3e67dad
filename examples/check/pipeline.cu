// Copies to shared memory that run beside the work (cp.async): two buffers by turns, and one wait for all.
#include "../example.h"

constexpr int width = 64;

__device__ void copy(int* to, const int* from) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
}
__device__ void copy16(int* to, const int* from) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

__global__ void by_turns(int rounds, const int* in, int* out) {
  __shared__ int buffer[2][width];
  const int t = threadIdx.x;
  const int* const mine = in + blockIdx.x * rounds * width;
  int sum = 0;
  copy(&buffer[0][t], &mine[t]);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int r = 0; r < rounds; ++r) {
    if (r + 1 < rounds) copy(&buffer[(r + 1) % 2][t], &mine[(r + 1) * width + t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += buffer[r % 2][t] * 2 + buffer[r % 2][(t + 1) % width];
    __syncthreads();
  }
  out[blockIdx.x * width + t] = sum;
}

__global__ void all_at_once(int n, const int* in, int* out) {
  __shared__ __align__(16) int tile[4 * width];
  const int t = threadIdx.x, at = blockIdx.x * 4 * width;
  if (at + 4 * t < n) copy16(&tile[4 * t], &in[at + 4 * t]);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int k = t; k < 4 * width; k += width)
    if (at + k < n) out[at + k] = tile[k] + tile[k / 4 * 4];
}

// Three buffers, copies two rounds ahead, by single warps.
__global__ void ahead(int rounds, const int* in, int* out) {
  __shared__ int buffer[3][32];
  const int lane = threadIdx.x;
  copy(&buffer[0][lane], &in[lane]);
  asm volatile("cp.async.commit_group;" ::: "memory");
  copy(&buffer[1][lane], &in[32 + lane]);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int r = 0; r < rounds; ++r) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncwarp();
    out[r * 32 + lane] = buffer[r % 3][31 - lane];
    if (r + 2 < rounds) copy(&buffer[(r + 2) % 3][lane], &in[(r + 2) * 32 + lane]);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
}

int main() {
  const int rounds = 6, blocks = 3, n = rounds * blocks * width, part = n - 12;
  std::vector<int> values(n), got(blocks * width), got_all(part), got_ahead(rounds * 32);
  for (int i = 0; i < n; ++i) values[i] = i * 11 % 103;
  int *in, *in_part, *out, *out_all, *out_ahead;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&in_part, part * sizeof(int)));
  CHECK(cudaMalloc(&out, blocks * width * sizeof(int)));
  CHECK(cudaMalloc(&out_all, part * sizeof(int)));
  CHECK(cudaMalloc(&out_ahead, rounds * 32 * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(in_part, values.data(), part * sizeof(int), cudaMemcpyHostToDevice));
  by_turns<<<blocks, width>>>(rounds, in, out);
  all_at_once<<<(part + 4 * width - 1) / (4 * width), width>>>(part, in_part, out_all);
  ahead<<<1, 32>>>(rounds, in, out_ahead);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, blocks * width * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_all.data(), out_all, part * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_ahead.data(), out_ahead, rounds * 32 * sizeof(int), cudaMemcpyDeviceToHost));
  std::vector<int> want(blocks * width);
  bool pass = true;
  for (int i = 0; i < n; ++i) {
    const int line = i / width * width, t = i % width;
    want[i / (rounds * width) * width + t] += values[i] * 2 + values[line + (t + 1) % width];
  }
  for (int i = 0; i < part; ++i) pass = pass && got_all[i] == values[i] + values[i / 4 * 4];
  for (int i = 0; i < rounds * 32; ++i) pass = pass && got_ahead[i] == values[i / 32 * 32 + 31 - i % 32];
  CHECK(cudaFree(in));
  CHECK(cudaFree(in_part));
  CHECK(cudaFree(out));
  CHECK(cudaFree(out_all));
  CHECK(cudaFree(out_ahead));
  return verdict("pipeline", pass && got == want);
}
