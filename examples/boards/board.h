// What the programs share that repeat published measurements: words, times, what is printed. tools/boards.py
// runs them and reads the lines "NAME = VALUE UNIT".
#pragma once

#include <cstring>
#include <string>

#include "../example.h"

inline void report(const std::string& name, double value, const char* unit) {
  std::printf("%s = %.6g %s\n", name.c_str(), value, unit);
}

template <class T>
std::vector<T> zeros(std::size_t count) {
  return std::vector<T>(count);
}

// Milliseconds between two events, for each of a number of launches between them.
template <class Launch>
double milliseconds_each(int launches, Launch launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  for (int i = 0; i < launches; ++i) launch();
  CHECK(cudaEventRecord(end));
  CHECK(cudaGetLastError());
  CHECK(cudaEventSynchronize(end));
  float time = 0.0f;
  CHECK(cudaEventElapsedTime(&time, begin, end));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return time / launches;
}

inline cudaDeviceProp device_properties() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  return properties;
}

// Cycles of an SM in a millisecond, at the clock that the driver names. CUDA 13 no longer has it among the properties.
inline double cycles_in_a_millisecond() {
  int kilohertz = 0;
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  return kilohertz;
}

// A whole number among the words of the command line, or the end of the program with its usage.
inline int whole(const char* word, int least, int most, const char* usage) {
  char* end = nullptr;
  const long value = std::strtol(word, &end, 10);
  if (end == word || *end != '\0' || value < least || value > most) {
    std::fprintf(stderr, "'%s' is not a whole number from %d to %d\nusage: %s\n", word, least, most, usage);
    std::exit(2);
  }
  return static_cast<int>(value);
}

[[noreturn]] inline void wrong_words(const char* usage) {
  std::fprintf(stderr, "usage: %s\n", usage);
  std::exit(2);
}
