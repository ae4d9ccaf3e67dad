// Barriers in shared memory (mbarrier): phases of a block, producers and consumers, copies that arrive by
// themselves.
#include "../example.h"

constexpr int width = 64;
using Barrier = unsigned long long;

__device__ unsigned place(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void awaits(Barrier* b, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ void arrive(Barrier* b) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(place(b)) : "memory");
}
// Is the phase of this parity over?
__device__ bool over(Barrier* b, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(place(b)), "r"(parity)
               : "memory");
  return done != 0;
}
__device__ void copy(int* to, const int* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place(to)), "l"(from) : "memory");
}
__device__ void arrive_behind_copies(Barrier* b) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(place(b)) : "memory");
}

// All threads of a block, round by round.
__global__ void rounds_of_a_block(int rounds, const int* in, int* out) {
  __shared__ Barrier written, read;
  __shared__ int line[width];
  const int t = threadIdx.x;
  if (t == 0) awaits(&written, width);
  if (t == 0) awaits(&read, width);
  __syncthreads();
  int value = in[blockIdx.x * width + t];
  for (int r = 0; r < rounds; ++r) {
    line[t] = value;
    arrive(&written);
    while (!over(&written, r % 2));
    value = value * 3 + line[(t + r + 1) % width];
    arrive(&read);
    while (!over(&read, r % 2));
  }
  out[blockIdx.x * width + t] = value;
}

// Warp 0 fills two buffers by turns, warp 1 reads them.
__global__ void hand_over(int rounds, const int* in, int* out) {
  __shared__ Barrier full[2], empty[2];
  __shared__ int buffer[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 2) awaits(&full[threadIdx.x], 32);
  if (threadIdx.x < 2) awaits(&empty[threadIdx.x], 32);
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    const unsigned parity = r / 2 % 2;
    if (threadIdx.x < 32) {
      while (!over(&empty[r % 2], parity ^ 1));
      buffer[r % 2][lane] = in[r * 32 + lane];
      arrive(&full[r % 2]);
    } else {
      while (!over(&full[r % 2], parity));
      out[r * 32 + lane] = buffer[r % 2][31 - lane];
      arrive(&empty[r % 2]);
    }
  }
}

// Copies one round ahead; they arrive when they are done.
__global__ void copies(int rounds, const int* in, int* out) {
  __shared__ Barrier there[2];
  __shared__ int buffer[2][width];
  const int t = threadIdx.x;
  if (t < 2) awaits(&there[t], width);
  __syncthreads();
  copy(&buffer[0][t], &in[t]);
  arrive_behind_copies(&there[0]);
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    if (r + 1 < rounds) {
      copy(&buffer[(r + 1) % 2][t], &in[(r + 1) * width + t]);
      arrive_behind_copies(&there[(r + 1) % 2]);
    }
    while (!over(&there[r % 2], r / 2 % 2));
    sum += buffer[r % 2][width - 1 - t];
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  const int rounds = 6, blocks = 2, n = rounds * width;
  std::vector<int> values(n), got(blocks * width), got_over(rounds * 32), got_copies(width);
  for (int i = 0; i < n; ++i) values[i] = i * 7 % 97;
  int *in, *out, *out_over, *out_copies;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, blocks * width * sizeof(int)));
  CHECK(cudaMalloc(&out_over, rounds * 32 * sizeof(int)));
  CHECK(cudaMalloc(&out_copies, width * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  rounds_of_a_block<<<blocks, width>>>(rounds, in, out);
  hand_over<<<1, 64>>>(rounds, in, out_over);
  copies<<<1, width>>>(rounds, in, out_copies);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, blocks * width * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_over.data(), out_over, rounds * 32 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_copies.data(), out_copies, width * sizeof(int), cudaMemcpyDeviceToHost));
  bool pass = true;
  for (int b = 0; b < blocks; ++b) {
    std::vector<int> line(values.begin() + b * width, values.begin() + (b + 1) * width);
    for (int r = 0; r < rounds; ++r) {
      const std::vector<int> before = line;
      for (int t = 0; t < width; ++t) line[t] = before[t] * 3 + before[(t + r + 1) % width];
    }
    for (int t = 0; t < width; ++t) pass = pass && got[b * width + t] == line[t];
  }
  for (int i = 0; i < rounds * 32; ++i) pass = pass && got_over[i] == values[i / 32 * 32 + 31 - i % 32];
  for (int t = 0; t < width; ++t) {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) sum += values[r * width + width - 1 - t];
    pass = pass && got_copies[t] == sum;
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(out_over));
  CHECK(cudaFree(out_copies));
  return verdict("phases", pass);
}
