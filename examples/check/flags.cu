// Blocks that hand data on: by flags with release and acquire, with fences, and by a ring of buffers.
#include "../example.h"

constexpr int width = 64, rounds = 6, slots = 2;

__device__ void put(unsigned* flag, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ unsigned get(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// Each block adds 1 to what the one before it has left.
__global__ void chain(int* data, unsigned* flags) {
  const int t = threadIdx.x, b = blockIdx.x;
  if (t == 0)
    while (b > 0 && get(&flags[b - 1]) == 0) {
    }
  __syncthreads();
  data[b * width + t] = b > 0 ? data[(b - 1) * width + t] + 1 : t;
  __syncthreads();
  if (t == 0) put(&flags[b], 1);
}

// The same with fences and relaxed operations.
__global__ void fenced(int* data, unsigned* flags) {
  const int t = threadIdx.x, b = blockIdx.x;
  if (b > 0) {
    if (t == 0)
      while (atomicAdd(&flags[b - 1], 0u) == 0) {
      }
    __threadfence();
    __syncthreads();
    data[b * width + t] = data[(b - 1) * width + t] + 1;
  } else {
    data[t] = t;
  }
  __threadfence();
  __syncthreads();
  if (t == 0) atomicExch(&flags[b], 1u);
}

// Block 0 fills slots, block 1 empties them; each waits for the other.
__global__ void ring(const int* in, int* out, int* slot, unsigned* full, unsigned* empty) {
  const int t = threadIdx.x;
  for (unsigned r = 0; r < rounds; ++r) {
    int* const here = slot + r % slots * width;
    if (blockIdx.x == 0) {
      if (t == 0)
        while (get(empty) + slots <= r) {
        }
      __syncthreads();
      here[t] = in[r * width + t];
      __syncthreads();
      if (t == 0) put(full, r + 1);
    } else {
      if (t == 0)
        while (get(full) <= r) {
        }
      __syncthreads();
      out[r * width + t] = here[t] * 2;
      __syncthreads();
      if (t == 0) put(empty, r + 1);
    }
  }
}

int main() {
  const int blocks = 6;
  std::vector<int> values(rounds * width), got(rounds * width), got_chain(blocks * width),
      got_fenced(blocks * width);
  for (int i = 0; i < rounds * width; ++i) values[i] = i * 5 % 97;
  int *in, *out, *slot, *data, *data_fenced;
  unsigned *flags, *flags_fenced, *turns;
  CHECK(cudaMalloc(&in, rounds * width * sizeof(int)));
  CHECK(cudaMalloc(&out, rounds * width * sizeof(int)));
  CHECK(cudaMalloc(&slot, slots * width * sizeof(int)));
  CHECK(cudaMalloc(&data, blocks * width * sizeof(int)));
  CHECK(cudaMalloc(&data_fenced, blocks * width * sizeof(int)));
  CHECK(cudaMalloc(&flags, blocks * sizeof(unsigned)));
  CHECK(cudaMalloc(&flags_fenced, blocks * sizeof(unsigned)));
  CHECK(cudaMalloc(&turns, 2 * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, values.data(), rounds * width * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(flags, 0, blocks * sizeof(unsigned)));
  CHECK(cudaMemset(flags_fenced, 0, blocks * sizeof(unsigned)));
  CHECK(cudaMemset(turns, 0, 2 * sizeof(unsigned)));
  chain<<<blocks, width>>>(data, flags);
  fenced<<<blocks, width>>>(data_fenced, flags_fenced);
  ring<<<2, width>>>(in, out, slot, turns, turns + 1);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, rounds * width * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_chain.data(), data, blocks * width * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_fenced.data(), data_fenced, blocks * width * sizeof(int), cudaMemcpyDeviceToHost));
  bool pass = true;
  for (int i = 0; i < rounds * width; ++i) pass = pass && got[i] == values[i] * 2;
  for (int i = 0; i < blocks * width; ++i)
    pass = pass && got_chain[i] == i % width + i / width && got_fenced[i] == got_chain[i];
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(slot));
  CHECK(cudaFree(data));
  CHECK(cudaFree(data_fenced));
  CHECK(cudaFree(flags));
  CHECK(cudaFree(flags_fenced));
  CHECK(cudaFree(turns));
  return verdict("flags", pass);
}
