// C++ in kernels: virtual functions, function pointers, lambdas, templates, large parameters, launch dimensions.
#include <array>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "check.h"

typedef float (*Operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ Operation operations[2] = {add, multiply};

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
  float side;
};
struct Oblong : Square {
  __device__ Oblong(float s, float t) : Square(s), other(t) {}
  __device__ float area() const override { return side * other; }
  float other;
};
__device__ __align__(16) char storage[32 * 32];

__global__ void by_pointer(float* o) { o[threadIdx.x] = operations[threadIdx.x & 1]((float)threadIdx.x, 3.0f); }
__global__ void construct(Shape** s) {
  void* place = storage + 32 * threadIdx.x;
  if (threadIdx.x & 1)
    s[threadIdx.x] = ::new (place) Square((float)threadIdx.x);
  else
    s[threadIdx.x] = ::new (place) Oblong((float)threadIdx.x, 2.0f);
}
__global__ void areas(Shape* const* s, float* o) { o[threadIdx.x] = s[threadIdx.x]->area(); }

// What nvcc compiles with a warning
__global__ void storage_class(float* o) {
  register float x = 2.0f;
  o[threadIdx.x] = x * threadIdx.x;
}

template <class F>
__global__ void call(int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}
template <class... A>
__global__ void variadic(float* o, A... a) {
  if constexpr (sizeof...(a) > 2)
    *o = (a + ...);
  else
    *o = -1;
}
template <class T>
__device__ auto halved_or_doubled(T v) {
  if constexpr (std::is_integral_v<T>)
    return v * 2;
  else
    return v * 0.5f;
}
__global__ void standard_library(float* o) {
  const auto [a, b] = std::pair<int, float>{3, 4.0f};
  constexpr std::array<int, 3> numbers{1, 2, 3};
  const int offset = a;
  const auto shifted = [&](int x) { return x + offset; };
  o[0] = halved_or_doubled(a) + halved_or_doubled(b);
  o[1] = numbers[1];
  o[2] = shifted(5);
}
struct Large {
  double values[64];
  int n;
  char tag[40];
  float4 f;
};
__global__ void large_parameter(Large p, double* o) {
  double s = 0;
  for (int i = 0; i < p.n; ++i) s += p.values[i];
  *o = s + p.f.w + p.tag[3];
}
__global__ void coordinates(unsigned long long* sum) {
  const unsigned long long block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  atomicAdd(sum, block * (blockDim.x * blockDim.y * blockDim.z) + thread);
}
extern __shared__ int dynamic[];
__global__ void __launch_bounds__(128, 2) reversed(int* o, int n) {
  __shared__ int fixed[128];
  for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic[i] = fixed[i] = i;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = dynamic[n - 1 - i] + fixed[i];
}
__global__ void vectors(const float4* in, float4* out, char4* bytes, longlong2* wide) {
  const int i = threadIdx.x;
  float4 v = __ldg(in + i);
  v.x += 1;
  v.w *= 2;
  __stcs(out + i, v);
  bytes[i] = make_char4(1, 2, 3, (signed char)-i);
  wide[i] = make_longlong2(i, -1);
}
__host__ __device__ inline int where() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__;
#else
  return 0;
#endif
}
__global__ void tell_where(int* o) { *o = where(); }
__global__ void time_passes(long long* o) {
  const long long start = clock64();
  float x = (float)threadIdx.x;
  for (int i = 0; i < 50; ++i) x = sinf(x);
  o[0] = x > 2 ? 0 : clock64() - start;
}

int main() {
  Shared<float> o(32);
  Shared<Shape*> shapes(32);
  by_pointer<<<1, 32>>>(o.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQ_AT(i, o[i], i & 1 ? i * 3.0f : i + 3.0f);
  storage_class<<<1, 32>>>(o.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQ_AT(i, o[i], i * 2.0f);
  construct<<<1, 32>>>(shapes.p);
  areas<<<1, 32>>>(shapes.p, o.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQ_AT(i, o[i], i & 1 ? (float)i * i : i * 2.0f);

  Shared<int> numbers(128);
  int* const p = numbers.p;
  const int factor = 5;
  call<<<1, 64>>>(64, [=] __device__(int i) { p[i] = i * factor; });
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQ_AT(i, numbers[i], i * 5);
  call<<<2, 32>>>(64, [=] __host__ __device__(int i) { p[i] += factor; });
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQ_AT(i, numbers[i], i * 5 + 5);
  variadic<<<1, 1>>>(o.p, 1, 2.5f, 3.0);
  variadic<<<1, 1>>>(o.p + 1, 1);
  standard_library<<<1, 1>>>(o.p + 2);
  CUDA(cudaDeviceSynchronize());
  const float wanted[] = {6.5f, -1, 8, 2, 8};
  for (int i = 0; i < 5; ++i) EXPECT_EQ_AT(i, o[i], wanted[i]);

  Large large = {};
  large.n = 64;
  for (int i = 0; i < 64; ++i) large.values[i] = i;
  large.f.w = 0.5f;
  large.tag[3] = 7;
  Shared<double> sum(1);
  Shared<unsigned long long> all(1);
  large_parameter<<<1, 1>>>(large, sum.p);
  coordinates<<<dim3(5, 3, 4), dim3(4, 3, 2)>>>(all.p);
  reversed<<<1, 128, 128 * sizeof(int)>>>(p, 128);
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(sum[0], 2016 + 7.5);
  EXPECT_EQ(all[0], 1440ull * 1439 / 2);
  for (int i = 0; i < 128; ++i) EXPECT_EQ_AT(i, numbers[i], 127);

  Shared<float4> in(32), out(32);
  Shared<char4> bytes(32);
  Shared<longlong2> wide(32);
  for (int i = 0; i < 32; ++i) in[i] = make_float4(i, i + 1, i + 2, i + 3);
  vectors<<<1, 32>>>(in.p, out.p, bytes.p, wide.p);
  tell_where<<<1, 1>>>(p);
  Shared<long long> time(1);
  time_passes<<<1, 32>>>(time.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) {
    EXPECT(out[i].x == i + 1 && out[i].y == i + 1 && out[i].z == i + 2 && out[i].w == 2 * (i + 3));
    EXPECT(bytes[i].z == 3 && bytes[i].w == -i && wide[i].x == i && wide[i].y == -1);
  }
  EXPECT(numbers[0] >= 350 && where() == 0);
  EXPECT(time[0] > 0);
  return verdict("language");
}
