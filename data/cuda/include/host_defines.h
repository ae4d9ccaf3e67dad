// Function and variable qualifiers of CUDA C++ for clang and, without device code, for any host compiler.
#pragma once

#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
// What clang cannot do says so once: in the device's compilation, or in the host's where a kernel is launched.
#ifdef __CUDA_ARCH__
#define __managed__ \
  _Pragma("GCC error \"simtlab: __managed__ variables are not supported; allocate with cudaMallocManaged; or build it with nvcc -cudart shared and run that: simtlab run -- ./app\"") __attribute__((device))
#define __cluster_dims__(...) _Pragma("GCC error \"simtlab: the size of a cluster is given at the launch here (cudaLaunchKernelEx, cudaLaunchAttributeClusterDimension)\"")
#define __maxnreg__(n)
#else
#define __managed__ __attribute__((device))
#define __cluster_dims__(...)
#define __maxnreg__(n) \
  __attribute__((deprecated("simtlab: __maxnreg__ has no effect; -maxrregcount N limits the registers of every kernel")))
#endif
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __maxnreg__(n)
#define __grid_constant__
#endif

#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __thread__ __thread
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __CUDA_DEPRECATED__
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB
