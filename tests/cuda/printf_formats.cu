// printf in kernels writes what printf on the host writes: every line is printed by both and compared.
#include <unistd.h>

#include "check.h"

#define LINES(P)                                                                                        \
  P("%d %i %u %x %X %o %c %s %%\n", -5, 7, 4000000000u, 255, 255, 8, 'z', "text")                       \
  P("%5d|%-5d|%05d|%+d|% d|%#x\n", 42, 42, 42, 42, 42, 42)                                              \
  P("%f %.2f %8.3f %e %g %G\n", 1.5, 3.14159, 2.0f, 12345.678, 0.0001, 1e20)                            \
  P("%a %10.4e|%-10.1f|%+g\n", 1.0, 0.5, 2.25, 3.0)                                                     \
  P("%lld %llu %lx %hd %hhd %zu\n", -(1ll << 40), 1ull << 63, 255l, (short)-3, (signed char)-4, (size_t)99) \
  P("%p %*d %.*f %10s|%-10s|%.2s\n", (void*)0x1234, 6, 7, 3, 1.0 / 3, "ab", "cd", "xyz")                \
  P("%g %g %g\n", 1.0 / 0.0, -1.0 / 0.0, 0.0)                                                           \
  P("no arguments\n")
#define PRINT(...) printf(__VA_ARGS__);

__global__ void print_all() { LINES(PRINT) }
__global__ void print_thread() {
  if (threadIdx.x == 37) printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}

// What is written to standard output meanwhile.
template <class F>
static std::string captured(F f) {
  fflush(stdout);
  char name[] = "/tmp/simtlab-printf-XXXXXX";
  const int file = mkstemp(name), saved = dup(1);
  dup2(file, 1);
  f();
  fflush(stdout);
  dup2(saved, 1);
  std::string text(4096, '\0');
  lseek(file, 0, SEEK_SET);
  const ssize_t size = read(file, &text[0], text.size());
  text.resize(size < 0 ? 0 : (size_t)size);
  close(file);
  close(saved);
  unlink(name);
  return text;
}

int main() {
  const std::string device = captured([] {
    print_all<<<1, 1>>>();
    CUDA(cudaDeviceSynchronize());
  });
  const std::string host = captured([] { LINES(PRINT) });
  EXPECT(!host.empty());
  if (device != host) report(__FILE__, __LINE__, "the device printed\n" + device + "the host\n" + host);
  const std::string one = captured([] {
    print_thread<<<2, 64>>>();
    CUDA(cudaDeviceSynchronize());
  });
  EXPECT(one == "block 0 thread 37\nblock 1 thread 37\n" || one == "block 1 thread 37\nblock 0 thread 37\n");
  return verdict("printf_formats");
}
