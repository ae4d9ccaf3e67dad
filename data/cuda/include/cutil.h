// Stand-in for the old samples' utility library: checked calls and timers.
#pragma once

#include "helper_cuda.h"
#include "helper_timer.h"

#define CUDA_SAFE_CALL(call) checkCudaErrors(call)
#define CUDA_SAFE_CALL_NO_SYNC(call) checkCudaErrors(call)
#define CUT_SAFE_CALL(call) \
  do {                      \
    (void)(call);           \
  } while (0)
#define CUT_CHECK_ERROR(message) getLastCudaError(message)
#define CUT_DEVICE_INIT(argc, argv) checkCudaErrors(cudaSetDevice(0))
#define CUT_EXIT(argc, argv) exit(EXIT_SUCCESS)
#define cutilSafeCall(call) checkCudaErrors(call)
#define cutilCheckMsg(message) getLastCudaError(message)

typedef int CUTBoolean;
#define CUTTrue 1
#define CUTFalse 0

inline StopWatchInterface** simtlab_timer(unsigned int name) {
  static StopWatchInterface* timers[256];
  return &timers[name % 256];
}
inline CUTBoolean cutCreateTimer(unsigned int* name) {
  static unsigned int next = 0;
  *name = next++;
  return sdkCreateTimer(simtlab_timer(*name));
}
inline CUTBoolean cutDeleteTimer(unsigned int name) { return sdkDeleteTimer(simtlab_timer(name)); }
inline CUTBoolean cutStartTimer(unsigned int name) { return sdkStartTimer(simtlab_timer(name)); }
inline CUTBoolean cutStopTimer(unsigned int name) { return sdkStopTimer(simtlab_timer(name)); }
inline CUTBoolean cutResetTimer(unsigned int name) { return sdkResetTimer(simtlab_timer(name)); }
inline float cutGetTimerValue(unsigned int name) { return sdkGetTimerValue(simtlab_timer(name)); }
