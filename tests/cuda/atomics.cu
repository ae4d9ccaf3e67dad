// Atomic functions of every type, on global and shared memory, with their scopes; a lock that one thread of a block takes.
#include "check.h"

template <class T>
__global__ void sums(T* out) {
  __shared__ T s[2];
  if (threadIdx.x < 2) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&out[0], (T)(threadIdx.x % 4));
  atomicAdd_block(&s[0], (T)1);
  atomicAdd_system(&out[2], (T)2);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&out[1], s[0]);
}
template <class T>
static void check_sums() {
  Shared<T> o(3);
  sums<<<4, 128>>>(o.p);
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(o[0], (T)(4 * 128 / 4 * 6));
  EXPECT_EQ(o[1], (T)512);
  EXPECT_EQ(o[2], (T)1024);
}

// 0 min, 1 max, 2 and, 3 or, 4 xor, 5 exchange, 6 compare and swap
template <class T>
__global__ void bitwise(T* out) {
  const T v = (T)(threadIdx.x * 37u + 5u) << (sizeof(T) * 8 - 20);
  atomicMin(&out[0], v);
  atomicMax(&out[1], v);
  atomicAnd(&out[2], v | (T)0xf0);
  atomicOr(&out[3], v);
  atomicXor(&out[4], v);
  atomicAnd_block(&out[6], ~(T)1);
  atomicOr_system(&out[7], (T)1 << (threadIdx.x % 31));
}
template <class T>
static void check_bitwise() {
  Shared<T> o(8);
  T w[8] = {1, 1, (T)-1, 0, 0, 0, (T)-1, 0};
  for (int i = 0; i < 8; ++i) o[i] = w[i];
  for (unsigned int t = 0; t < 256; ++t) {
    const T v = (T)(t * 37u + 5u) << (sizeof(T) * 8 - 20);
    w[0] = v < w[0] ? v : w[0];
    w[1] = v > w[1] ? v : w[1];
    w[2] &= v | (T)0xf0;
    w[3] |= v;
    w[4] ^= v;
  }
  w[6] = ~(T)1;
  w[7] = 0x7fffffff;
  bitwise<<<1, 256>>>(o.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) EXPECT_EQ_AT(i, o[i], w[i]);
}

template <class T>
__global__ void exchanges(T* chain, T* spin) {
  // Every value goes in once and comes out once.
  chain[1 + threadIdx.x + blockIdx.x * blockDim.x] = atomicExch(&chain[0], (T)(1 + threadIdx.x + blockIdx.x * blockDim.x));
  T seen = *(volatile T*)spin, expected;
  do {
    expected = seen;
    seen = atomicCAS(spin, expected, (T)(expected + 3));
  } while (seen != expected);
}
template <class T>
static void check_exchanges() {
  Shared<T> chain(257), spin(1);
  exchanges<<<2, 128>>>(chain.p, spin.p);
  CUDA(cudaDeviceSynchronize());
  std::vector<int> seen(257);
  for (int i = 0; i < 257; ++i) ++seen[(int)chain[i]];
  for (int i = 0; i < 257; ++i) EXPECT_EQ_AT(i, seen[i], 1);
  EXPECT_EQ(spin[0], (T)768);
}

__global__ void counters(unsigned int* out, int* signed_out, float* last) {
  atomicInc(&out[0], 9u);
  atomicDec(&out[1], 9u);
  atomicSub(&out[2], 1u);
  atomicSub(signed_out, 2);
  atomicExch(last, 1.5f);
}
__global__ void locked(int* lock, int* value) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int*)value = *(volatile int*)value + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
__global__ void last_block(int* arrived, const int* in, int* out) {
  __shared__ bool last;
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(arrived, 1) == (int)gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < (int)gridDim.x; ++b) total += ((volatile int*)out)[1 + b];
    out[0] = total;
  }
}

int main() {
  check_sums<int>();
  check_sums<unsigned int>();
  check_sums<unsigned long long>();
  check_sums<float>();
  check_sums<double>();
  check_bitwise<int>();
  check_bitwise<unsigned int>();
  check_bitwise<long long>();
  check_bitwise<unsigned long long>();
  check_exchanges<int>();
  check_exchanges<unsigned int>();
  check_exchanges<unsigned long long>();
  {
    Shared<unsigned int> o(3);
    Shared<int> s(1), lock(2);
    Shared<float> f(1);
    o[2] = 500;
    counters<<<2, 64>>>(o.p, s.p, f.p);
    locked<<<20, 64>>>(lock.p, lock.p + 1);
    CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(o[0], 128u % 10);
    EXPECT_EQ(o[1], (10 - 128u % 10) % 10);
    EXPECT_EQ(o[2], 372u);
    EXPECT_EQ(s[0], -256);
    EXPECT_EQ(f[0], 1.5f);
    EXPECT_EQ(lock[1], 20);
  }
  {
    Shared<int> arrived(1), in(640), out(6);
    for (int i = 0; i < 640; ++i) in[i] = i;
    last_block<<<5, 128>>>(arrived.p, in.p, out.p);
    CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(out[0], 640 * 639 / 2);
  }
  return verdict("atomics");
}
