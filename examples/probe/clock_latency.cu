// Latencies by one interval between two readings of the clock, after the description of Sanchez' micro-benchmarks
// (thesis, 5.3 to 5.6): what his unoptimised machine code does is written out, so that it is the same under every
// compiler. A reading is copied at once, a load's address before it, and what was loaded behind it: the copy is
// what waits. It prints a sample for each thread (three for a load), for
//
//   simtlab run examples/probe/clock_latency.cu --gpu k40 -q -- local 15 1024 > local.txt
//   simtlab run examples/probe/clock_latency.cu --gpu k40 -q -- clock 15 1024 > clock.txt
//   simtlab probe --samples local.txt --cost clock.txt --boundary 150
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// A copy that no assembler can leave out: it does not know that `zero` is 0.
#define READ(to) "mov.u32 %%k, %%clock; xor.b32 " to ", %%k, %4;\n\t"
#define COPY(to, from) "xor.b32 " to ", " from ", %4;\n\t"

__device__ float word;

__global__ void clock_cost(unsigned* times, float* results, float a, float b, unsigned zero) {
  unsigned begin, end;
  float sum = 0;
  asm volatile("{ .reg .b32 %%k; bar.sync 0;\n\t" READ("%0") READ("%1") "bar.sync 0; mov.f32 %2, %3; }"
               : "=r"(begin), "=r"(end), "=f"(sum)
               : "f"(a), "r"(zero));
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  times[i] = end - begin, results[i] = sum - a + b;
}

// One operation; `text` leaves its result in %r.
#define OPERATION(name, text)                                                                               \
  __global__ void name(unsigned* times, float* results, float a, float b, unsigned zero) {                 \
    unsigned begin, end;                                                                                    \
    float result;                                                                                           \
    asm volatile("{ .reg .b32 %%k; .reg .f32 %%r; bar.sync 0;\n\t" READ("%0") text COPY("%2", "%%r")        \
                     READ("%1") "bar.sync 0; }"                                                             \
                 : "=r"(begin), "=r"(end), "=f"(result)                                                     \
                 : "f"(a), "r"(zero), "f"(b));                                                              \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                    \
    times[i] = end - begin, results[i] = result;                                                            \
  }
OPERATION(add, "add.f32 %%r, %3, %5;\n\t")
OPERATION(sub, "sub.f32 %%r, %3, %5;\n\t")
OPERATION(mul, "mul.f32 %%r, %3, %5;\n\t")
OPERATION(div_rn, "div.rn.f32 %%r, %3, %5;\n\t")
OPERATION(mad, "mad.rn.f32 %%r, %3, %5, %3;\n\t")

// Three loads of one word, an interval each.
#define LOADS(load, begin0, end0, begin1, end1, begin2, end2)                                              \
  LOAD(load, begin0, end0, "%%y0") LOAD(load, begin1, end1, "%%y1") LOAD(load, begin2, end2, "%%y2")       \
  "bar.sync 0; add.f32 %%y0, %%y0, %%y1; add.f32 %6, %%y0, %%y2;\n\t"
#define LOAD(load, begin, end, to)                                                                         \
  "bar.sync 0; mov.u32 %%k, %%clock; xor.b32 " begin ", %%k, %8;\n\t"                                      \
  "xor.b64 %%q, %%p, %%none; " load " %%r, [%%q]; xor.b32 " to ", %%r, %8;\n\t"                            \
  "mov.u32 %%k, %%clock; xor.b32 " end ", %%k, %8;\n\t"
#define REGISTERS ".reg .b32 %%k; .reg .b64 %%p, %%q, %%none; .reg .f32 %%r, %%y0, %%y1, %%y2;\n\t"        \
                  "cvt.u64.u32 %%none, %8;\n\t"

// Of local memory: the first of 256 words, more than a thread has registers for.
__global__ void local(unsigned* times, float* results, float a, float b, unsigned zero) {
  unsigned t[6];
  float sum;
  asm volatile("{ .local .align 8 .b8 words[1024];\n\t" REGISTERS
               "mov.u64 %%p, words; st.local.cs.f32 [%%p], %7;\n\t"
               LOADS("ld.local.ca.f32", "%0", "%1", "%2", "%3", "%4", "%5") "}"
               : "=&r"(t[0]), "=&r"(t[1]), "=&r"(t[2]), "=&r"(t[3]), "=&r"(t[4]), "=&r"(t[5]), "=f"(sum)
               : "f"(a), "r"(zero));
  const int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int k = 0; k < 3; ++k) times[k * all + i] = t[2 * k + 1] - t[2 * k];
  results[i] = sum;
}

// Of global memory, past L1: one word that all threads have stored to.
__global__ void global(unsigned* times, float* results, float a, float b, unsigned zero) {
  unsigned t[6];
  float sum;
  asm volatile("{ " REGISTERS "mov.u64 %%p, %9; st.global.wt.f32 [%%p], %7;\n\t"
               LOADS("ld.global.cg.f32", "%0", "%1", "%2", "%3", "%4", "%5") "}"
               : "=&r"(t[0]), "=&r"(t[1]), "=&r"(t[2]), "=&r"(t[3]), "=&r"(t[4]), "=&r"(t[5]), "=f"(sum)
               : "f"(a), "r"(zero), "l"(&word)
               : "memory");
  const int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int k = 0; k < 3; ++k) times[k * all + i] = t[2 * k + 1] - t[2 * k];
  results[i] = sum;
}

struct Kind {
  const char* name;
  void (*kernel)(unsigned*, float*, float, float, unsigned);
  int intervals;
  float result;
};

int main(int argc, char** argv) {
  const float a = 2.625f, b = 1.375f;
  const Kind kinds[] = {{"clock", clock_cost, 1, b},   {"add", add, 1, a + b},
                        {"sub", sub, 1, a - b},        {"mul", mul, 1, a * b},
                        {"div", div_rn, 1, a / b},     {"mad", mad, 1, a * b + a},
                        {"local", local, 3, 3 * a},    {"global", global, 3, 3 * a}};
  const char* name = argc > 1 ? argv[1] : "add";
  const int blocks = argc > 2 ? std::atoi(argv[2]) : 1, threads = argc > 3 ? std::atoi(argv[3]) : 32;
  const Kind* kind = nullptr;
  for (const Kind& k : kinds)
    if (std::strcmp(k.name, name) == 0) kind = &k;
  if (kind == nullptr || blocks < 1 || threads < 1 || threads > 1024) {
    std::fprintf(stderr, "usage: clock_latency [clock|add|sub|mul|div|mad|local|global [BLOCKS [THREADS]]]\n");
    return 2;
  }
  const int all = blocks * threads;
  unsigned* times;
  float* results;
  cudaMallocManaged(&times, sizeof(unsigned) * kind->intervals * all);
  cudaMallocManaged(&results, sizeof(float) * all);
  // Twice: the first launch fetches the instructions.
  for (int i = 0; i < 2; ++i) kind->kernel<<<blocks, threads>>>(times, results, a, b, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  for (int i = 0; i < all; ++i)
    if (std::fabs(results[i] - kind->result) > 1e-5f * kind->result) {
      std::fprintf(stderr, "thread %d: %g for %g\n", i, results[i], kind->result);
      return 1;
    }
  std::printf("# %s, %d blocks of %d threads: cycles, a line each\n", kind->name, blocks, threads);
  for (int i = 0; i < kind->intervals * all; ++i) std::printf("%u\n", times[i]);
  return 0;
}
