// Stand-in for the samples' helper: checked calls and a device choice.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "cuda_runtime_api.h"
#include "helper_string.h"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

template <class T>
inline void check(T result, const char* function, const char* file, int line) {
  if (result) {
    fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, function, cudaGetErrorString((cudaError_t)result));
    exit(EXIT_FAILURE);
  }
}
#define checkCudaErrors(value) check((value), #value, __FILE__, __LINE__)

inline void simtlab_check_last(const char* message, const char* file, int line) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, message, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
}
#define getLastCudaError(message) simtlab_check_last(message, __FILE__, __LINE__)

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

// Single-precision lanes of a multiprocessor, by compute capability.
inline int _ConvertSMVer2Cores(int major, int minor) {
  switch (major * 10 + minor) {
    case 30: case 32: case 35: case 37: return 192;
    case 60: case 70: case 72: case 75: case 80: return 64;
    default: return 128;
  }
}
inline const char* _ConvertSMVer2ArchName(int major, int minor) {
  switch (major) {
    case 3: return "Kepler";
    case 5: return "Maxwell";
    case 6: return "Pascal";
    case 7: return minor < 5 ? "Volta" : "Turing";
    case 8: return minor < 9 ? "Ampere" : "Ada";
    case 9: return "Hopper";
    default: return "Blackwell";
  }
}
inline bool checkCudaCapabilities(int major, int minor) {
  cudaDeviceProp p;
  checkCudaErrors(cudaGetDeviceProperties(&p, 0));
  return p.major > major || (p.major == major && p.minor >= minor);
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int device) {
  checkCudaErrors(cudaSetDevice(device));
  return device;
}
inline int findCudaDevice(int argc, const char** argv) {
  return gpuDeviceInit(checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device") : 0);
}
