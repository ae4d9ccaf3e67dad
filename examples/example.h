// What every example needs: checked calls, an argument, a repeatable sequence of numbers, the verdict.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(2);                                                                                   \
    }                                                                                                 \
  } while (0)

// The number of the program's first argument, or the default.
inline int size_argument(int argc, char** argv, int otherwise, int least, int most) {
  if (argc < 2) return otherwise;
  const int n = std::atoi(argv[1]);
  if (n < least || n > most) {
    std::fprintf(stderr, "usage: %s [size from %d to %d]\n", argv[0], least, most);
    std::exit(2);
  }
  return n;
}

// Pseudo-random numbers, the same on every machine.
struct Sequence {
  unsigned state = 12345;
  unsigned next() { return (state = state * 1664525u + 1013904223u) >> 8; }
  float unit() { return static_cast<float>(next()) / 16777216.0f; }
};

// Device memory that frees itself.
template <class T>
struct Buffer {
  T* data = nullptr;
  std::size_t count;
  explicit Buffer(std::size_t n) : count(n) { CHECK(cudaMalloc(&data, n * sizeof(T))); }
  explicit Buffer(const std::vector<T>& v) : Buffer(v.size()) { put(v); }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void put(const std::vector<T>& v) {
    CHECK(cudaMemcpy(data, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const {
    std::vector<T> v(count);
    CHECK(cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

// Prints the verdict and gives main's exit status.
inline int verdict(const char* name, bool pass) {
  std::printf("%s: %s\n", name, pass ? "PASS" : "FAIL");
  return pass ? 0 : 1;
}

// Are all elements within a relative tolerance? Says which one is not.
template <class T>
bool close(const std::vector<T>& got, const std::vector<T>& want, double tolerance) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
    if (!(difference <= tolerance * std::fmax(1.0, std::fabs(static_cast<double>(want[i]))))) {
      std::printf("element %zu is %g instead of %g\n", i, static_cast<double>(got[i]),
                  static_cast<double>(want[i]));
      return false;
    }
  }
  return true;
}
