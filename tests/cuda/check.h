// What the self-checking programs share: expectations that say what differs, and the last line of the output.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static int failures = 0;

static void report(const char* file, int line, const std::string& what) {
  if (++failures <= 20) printf("%s:%d: %s\n", file, line, what.c_str());
}
template <class A, class B>
void expect_equal(const A& got, const B& wanted, const char* text, const char* file, int line,
                  long long index = -1) {
  if (got == wanted) return;
  report(file, line,
         std::string(text) + (index >= 0 ? " at " + std::to_string(index) : "") + ": got " +
             std::to_string(got) + ", not " + std::to_string(wanted));
}
#define EXPECT(condition)                                     \
  do {                                                        \
    if (!(condition)) report(__FILE__, __LINE__, #condition); \
  } while (0)
#define EXPECT_EQ(got, wanted) expect_equal(got, wanted, #got, __FILE__, __LINE__)
#define EXPECT_EQ_AT(index, got, wanted) expect_equal(got, wanted, #got, __FILE__, __LINE__, index)
#define CUDA(call)                                                                      \
  do {                                                                                  \
    const cudaError_t error_ = (call);                                                  \
    if (error_ != cudaSuccess)                                                          \
      report(__FILE__, __LINE__, std::string(#call ": ") + cudaGetErrorString(error_)); \
  } while (0)

// An array that the host and the device see.
template <class T>
struct Shared {
  explicit Shared(size_t n) : n(n) {
    CUDA(cudaMallocManaged(&p, n * sizeof(T)));
    memset(static_cast<void*>(p), 0, n * sizeof(T));
  }
  ~Shared() { cudaFree(p); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator[](size_t i) { return p[i]; }
  T* p = nullptr;
  size_t n;
};

static int verdict(const char* name) {
  CUDA(cudaDeviceSynchronize());
  printf("%s: %s\n", name, failures ? "FAIL" : "PASS");
  return failures != 0;
}
