// cuda::atomic and cuda::atomic_ref: every operation on every size, on the device and on the host.
#include <cuda/atomic>
#include <cuda/std/atomic>

#include "check.h"

constexpr int results = 32;

// What one thread sees: the same on both sides.
template <class T>
__host__ __device__ void alone(T* memory, T* out) {
  cuda::atomic_ref<T, cuda::thread_scope_device> a(*memory);
  int i = 0;
  a.store(5);
  out[i++] = a.load();
  out[i++] = a.exchange(9, cuda::memory_order_acq_rel);
  out[i++] = a.fetch_add(3, cuda::memory_order_relaxed);
  out[i++] = a.fetch_sub(2, cuda::memory_order_release);
  out[i++] = a.load(cuda::memory_order_acquire);
  out[i++] = a.fetch_min(4);
  out[i++] = a.fetch_max(11, cuda::std::memory_order_acquire);
  T expected = 3;
  out[i++] = a.compare_exchange_strong(expected, 20) ? 1 : 0;
  out[i++] = expected;
  out[i++] = a.compare_exchange_weak(expected, 21, cuda::memory_order_release, cuda::memory_order_relaxed) ? 1 : 0;
  out[i++] = a += 4;
  out[i++] = ++a;
  out[i++] = a--;
  out[i++] = a = 6;
}
template <class T>
__host__ __device__ void alone_with_bits(T* memory, T* out) {
  alone(memory, out);
  cuda::atomic_ref<T> a(*memory);
  out[20] = a.fetch_and(12);
  out[21] = a.fetch_or(3);
  out[22] = a.fetch_xor(5);
  out[23] = a &= 7;
  out[24] = a.load();
}
template <class T>
__global__ void on_device(T* memory, T* out) {
  alone_with_bits(memory, out);
}
template <class T>
__global__ void floats_on_device(T* memory, T* out) {
  alone(memory, out);
}
// Parts of a word: what lies beside them stays.
template <class T, class Kernel>
static void compare(Kernel kernel, void (*on_host)(T*, T*)) {
  Shared<T> memory(8), out(results);
  memory[2] = 77, memory[4] = 78;
  kernel<<<1, 1>>>(memory.p + 3, out.p);
  CUDA(cudaDeviceSynchronize());
  T there = 0, wanted[results] = {};
  on_host(&there, wanted);
  for (int i = 0; i < results; ++i) EXPECT_EQ_AT(i, out[i], wanted[i]);
  EXPECT_EQ(memory[2], T(77));
  EXPECT_EQ(memory[3], there);
  EXPECT_EQ(memory[4], T(78));
}

__global__ void together(cuda::atomic<unsigned>* sum, cuda::atomic<double, cuda::thread_scope_device>* real,
                         unsigned char* bytes, int* least) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  ++*sum;
  real->fetch_add(0.5);
  cuda::atomic_ref<unsigned char>(bytes[t % 3]).fetch_add(1);
  cuda::std::atomic_ref<int>(*least).fetch_min(-t);
}

// A release and an acquire of the device's scope; a lock of a flag and fences.
__global__ void hand_over(int* data, cuda::atomic<int, cuda::thread_scope_device>* ready, int* lock, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    ready->store(1, cuda::memory_order_release);
  } else {
    while (ready->load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = *data;
  }
  cuda::atomic_ref<int, cuda::thread_scope_device> l(*lock);
  while (l.exchange(1, cuda::memory_order_relaxed) != 0) {
  }
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
  out[1] += 1;
  cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
  l.store(0, cuda::memory_order_relaxed);
}

int main() {
  compare<int>(on_device<int>, alone_with_bits<int>);
  compare<unsigned>(on_device<unsigned>, alone_with_bits<unsigned>);
  compare<long long>(on_device<long long>, alone_with_bits<long long>);
  compare<unsigned long>(on_device<unsigned long>, alone_with_bits<unsigned long>);
  compare<short>(on_device<short>, alone_with_bits<short>);
  compare<unsigned char>(on_device<unsigned char>, alone_with_bits<unsigned char>);
  compare<float>(floats_on_device<float>, alone<float>);
  compare<double>(floats_on_device<double>, alone<double>);

  Shared<unsigned> sum(1);
  Shared<double> real(1);
  Shared<unsigned char> bytes(8);
  Shared<int> least(1), data(1), ready(1), lock(1), out(2);
  together<<<2, 96>>>(reinterpret_cast<cuda::atomic<unsigned>*>(sum.p),
                      reinterpret_cast<cuda::atomic<double, cuda::thread_scope_device>*>(real.p), bytes.p, least.p);
  hand_over<<<2, 1>>>(data.p, reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device>*>(ready.p), lock.p, out.p);
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(sum[0], 192u);
  EXPECT_EQ(real[0], 96.0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ_AT(i, (int)bytes[i], 64);
  EXPECT_EQ((int)bytes[3], 0);
  EXPECT_EQ(least[0], -191);
  EXPECT_EQ(out[0], 42);
  EXPECT_EQ(out[1], 2);
  return verdict("libcu_atomic");
}
