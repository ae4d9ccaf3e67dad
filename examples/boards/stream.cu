// Kernels that only move data: those of BabelStream, in doubles, and the addition of two rows of floats, of
// pairs and of quadruples. An element a thread.
//
//   stream KERNEL [COUNT [THREADS]]
//     KERNEL  copy, mul, add, triad (doubles); float1, float2, float4 (c = a + b of floats)
//     COUNT   numbers in a row
#include "board.h"

const char* const kUsage = "stream copy|mul|add|triad|float1|float2|float4 [COUNT [THREADS]]";
constexpr double kScalar = 0.4, kA = 0.1, kB = 0.2, kC = 0.3;

__global__ void copy_rows(const double* a, double* c) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  c[i] = a[i];
}
__global__ void scale_rows(double* b, const double* c) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  b[i] = kScalar * c[i];
}
__global__ void add_rows(const double* a, const double* b, double* c) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  c[i] = a[i] + b[i];
}
__global__ void triad_rows(double* a, const double* b, const double* c) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  a[i] = b[i] + kScalar * c[i];
}

__device__ float sum(float a, float b) { return a + b; }
__device__ float2 sum(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ float4 sum(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

template <class Floats>
__global__ void add_floats(const Floats* a, const Floats* b, Floats* c) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  c[i] = sum(a[i], b[i]);
}

int doubles(const std::string& kernel, int count, int threads) {
  const std::size_t size = static_cast<std::size_t>(count);
  Buffer<double> a(std::vector<double>(size, kA)), b(std::vector<double>(size, kB)),
      c(std::vector<double>(size, kC));
  const int blocks = count / threads;
  const double time = milliseconds_each(1, [&] {
    if (kernel == "copy") copy_rows<<<blocks, threads>>>(a.data, c.data);
    if (kernel == "mul") scale_rows<<<blocks, threads>>>(b.data, c.data);
    if (kernel == "add") add_rows<<<blocks, threads>>>(a.data, b.data, c.data);
    if (kernel == "triad") triad_rows<<<blocks, threads>>>(a.data, b.data, c.data);
  });
  const bool of_three = kernel == "add" || kernel == "triad";
  report("time", time * 1e3, "us");
  report("bandwidth", (of_three ? 24e-6 : 16e-6) * count / time, "GB/s");
  const auto are = [&](const Buffer<double>& row, double want) {
    return close(row.get(), std::vector<double>(size, want), 1e-15);
  };
  return verdict("stream", are(a, kernel == "triad" ? kB + kScalar * kC : kA) &&
                               are(b, kernel == "mul" ? kScalar * kC : kB) &&
                               are(c, kernel == "copy"  ? kA
                                      : kernel == "add" ? kA + kB
                                                        : kC));
}

template <class Floats>
int floats(int count, int threads) {
  constexpr int kEach = sizeof(Floats) / sizeof(float);
  if (count % (threads * kEach) != 0) wrong_words(kUsage);
  std::vector<float> a(static_cast<std::size_t>(count)), b(a.size()), want(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 1021), b[i] = static_cast<float>(i % 509);
    want[i] = a[i] + b[i];
  }
  Buffer<float> da(a), db(b), dc(a.size());
  const double time = milliseconds_each(1, [&] {
    add_floats<<<count / (threads * kEach), threads>>>(reinterpret_cast<const Floats*>(da.data),
                                                       reinterpret_cast<const Floats*>(db.data),
                                                       reinterpret_cast<Floats*>(dc.data));
  });
  report("time", time * 1e3, "us");
  report("bandwidth", 12e-6 * count / time, "GB/s");
  return verdict("stream", close(dc.get(), want, 0.0));
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) wrong_words(kUsage);
  const std::string kernel = argv[1];
  const int count = argc > 2 ? whole(argv[2], 1, 1 << 28, kUsage) : 1 << 20;
  const int threads = argc > 3 ? whole(argv[3], 1, 1024, kUsage) : 256;
  if (count % threads != 0) wrong_words(kUsage);
  for (const char* of_doubles : {"copy", "mul", "add", "triad"})
    if (kernel == of_doubles) return doubles(kernel, count, threads);
  if (kernel == "float1") return floats<float>(count, threads);
  if (kernel == "float2") return floats<float2>(count, threads);
  if (kernel == "float4") return floats<float4>(count, threads);
  wrong_words(kUsage);
}
