// The CUDA driver API: sources that simtlab compiles have none. What programs ask about the device is answered through the
// runtime API; contexts, modules, launches and memory are declared as unavailable, so that the compiler says so. Programs
// that nvcc has built find them in libcuda.so.1.
#pragma once

#define __cuda_cuda_h__  // programs test for it

#include <stddef.h>
#include <string.h>

#include "cuda_runtime_api.h"

#ifndef CUDA_VERSION
#define CUDA_VERSION 12000
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUarray_st* CUarray;
typedef struct CUlinkState_st* CUlinkState;
typedef void (*CUhostFn)(void* user_data);
typedef unsigned int CUjit_option;

typedef enum cudaError_enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999,
} CUresult;

typedef enum CUdevice_attribute_enum {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
} CUdevice_attribute;

#define CU_LAUNCH_PARAM_END ((void*)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x02)

#define cuMemGetInfo cuMemGetInfo_v2
CUresult cuMemGetInfo(size_t* free_bytes, size_t* total);

static inline CUresult cuInit(unsigned int flags) { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
static inline CUresult cuDriverGetVersion(int* version) { return (CUresult)cudaDriverGetVersion(version); }
static inline CUresult cuDeviceGetCount(int* count) { return (CUresult)cudaGetDeviceCount(count); }
static inline CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return (CUresult)error;
  if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (ordinal < 0 || ordinal >= count) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
static inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return (CUresult)cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
}
static inline CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  struct cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return (CUresult)error;
  if (name == NULL || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  strncpy(name, properties.name, (size_t)length - 1);
  name[length - 1] = '\0';
  return CUDA_SUCCESS;
}
static inline CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  struct cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) *bytes = properties.totalGlobalMem;
  return (CUresult)error;
}
static inline CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = cudaGetErrorName((cudaError_t)error);
  return CUDA_SUCCESS;
}
static inline CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = cudaGetErrorString((cudaError_t)error);
  return CUDA_SUCCESS;
}

#ifdef __cplusplus
#define SIMTLAB_NO_DRIVER(name) \
  CUresult name(...) __attribute__((unavailable("simtlab build has no driver API: use the runtime API, nvcc, or simtlab run x.ptx --launch x.toml")));
SIMTLAB_NO_DRIVER(cuCtxCreate)
SIMTLAB_NO_DRIVER(cuCtxDestroy)
SIMTLAB_NO_DRIVER(cuCtxGetCurrent)
SIMTLAB_NO_DRIVER(cuCtxGetDevice)
SIMTLAB_NO_DRIVER(cuCtxPopCurrent)
SIMTLAB_NO_DRIVER(cuCtxPushCurrent)
SIMTLAB_NO_DRIVER(cuCtxSetCurrent)
SIMTLAB_NO_DRIVER(cuCtxSynchronize)
SIMTLAB_NO_DRIVER(cuDevicePrimaryCtxRetain)
SIMTLAB_NO_DRIVER(cuDevicePrimaryCtxRelease)
SIMTLAB_NO_DRIVER(cuEventCreate)
SIMTLAB_NO_DRIVER(cuEventDestroy)
SIMTLAB_NO_DRIVER(cuEventElapsedTime)
SIMTLAB_NO_DRIVER(cuEventRecord)
SIMTLAB_NO_DRIVER(cuEventSynchronize)
SIMTLAB_NO_DRIVER(cuFuncGetAttribute)
SIMTLAB_NO_DRIVER(cuFuncSetAttribute)
SIMTLAB_NO_DRIVER(cuFuncSetCacheConfig)
SIMTLAB_NO_DRIVER(cuGetProcAddress)
SIMTLAB_NO_DRIVER(cuLaunchCooperativeKernel)
SIMTLAB_NO_DRIVER(cuLaunchHostFunc)
SIMTLAB_NO_DRIVER(cuLaunchKernel)
SIMTLAB_NO_DRIVER(cuLaunchKernelEx)
SIMTLAB_NO_DRIVER(cuLinkAddData)
SIMTLAB_NO_DRIVER(cuLinkAddFile)
SIMTLAB_NO_DRIVER(cuLinkComplete)
SIMTLAB_NO_DRIVER(cuLinkCreate)
SIMTLAB_NO_DRIVER(cuLinkDestroy)
SIMTLAB_NO_DRIVER(cuMemAlloc)
SIMTLAB_NO_DRIVER(cuMemAllocHost)
SIMTLAB_NO_DRIVER(cuMemAllocManaged)
SIMTLAB_NO_DRIVER(cuMemAllocPitch)
SIMTLAB_NO_DRIVER(cuMemFree)
SIMTLAB_NO_DRIVER(cuMemFreeHost)
SIMTLAB_NO_DRIVER(cuMemHostAlloc)
SIMTLAB_NO_DRIVER(cuMemcpy)
SIMTLAB_NO_DRIVER(cuMemcpyDtoD)
SIMTLAB_NO_DRIVER(cuMemcpyDtoH)
SIMTLAB_NO_DRIVER(cuMemcpyDtoHAsync)
SIMTLAB_NO_DRIVER(cuMemcpyHtoD)
SIMTLAB_NO_DRIVER(cuMemcpyHtoDAsync)
SIMTLAB_NO_DRIVER(cuMemsetD32)
SIMTLAB_NO_DRIVER(cuMemsetD8)
SIMTLAB_NO_DRIVER(cuModuleGetFunction)
SIMTLAB_NO_DRIVER(cuModuleGetGlobal)
SIMTLAB_NO_DRIVER(cuModuleLoad)
SIMTLAB_NO_DRIVER(cuModuleLoadData)
SIMTLAB_NO_DRIVER(cuModuleLoadDataEx)
SIMTLAB_NO_DRIVER(cuModuleLoadFatBinary)
SIMTLAB_NO_DRIVER(cuModuleUnload)
SIMTLAB_NO_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)
SIMTLAB_NO_DRIVER(cuPointerGetAttribute)
SIMTLAB_NO_DRIVER(cuStreamCreate)
SIMTLAB_NO_DRIVER(cuStreamDestroy)
SIMTLAB_NO_DRIVER(cuStreamSynchronize)
SIMTLAB_NO_DRIVER(cuStreamWaitEvent)
#undef SIMTLAB_NO_DRIVER

}
#endif
