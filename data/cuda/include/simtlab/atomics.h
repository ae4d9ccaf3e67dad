// Atomic functions as overloads on the types that CUDA offers. The _block and _system variants need sm_60.
#pragma once

#define SIMTLAB_ATOMIC static __inline__ __device__

SIMTLAB_ATOMIC int atomicAdd(int* p, int v) { return __iAtomicAdd(p, v); }
SIMTLAB_ATOMIC unsigned int atomicAdd(unsigned int* p, unsigned int v) { return __uAtomicAdd(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) { return __ullAtomicAdd(p, v); }
SIMTLAB_ATOMIC float atomicAdd(float* p, float v) { return __fAtomicAdd(p, v); }
SIMTLAB_ATOMIC int atomicSub(int* p, int v) { return __iAtomicAdd(p, -v); }
SIMTLAB_ATOMIC unsigned int atomicSub(unsigned int* p, unsigned int v) { return __uAtomicAdd(p, 0u - v); }
SIMTLAB_ATOMIC int atomicExch(int* p, int v) { return __iAtomicExch(p, v); }
SIMTLAB_ATOMIC unsigned int atomicExch(unsigned int* p, unsigned int v) { return __uAtomicExch(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicExch(unsigned long long* p, unsigned long long v) { return __ullAtomicExch(p, v); }
SIMTLAB_ATOMIC float atomicExch(float* p, float v) { return __fAtomicExch(p, v); }
SIMTLAB_ATOMIC unsigned int atomicInc(unsigned int* p, unsigned int v) { return __uAtomicInc(p, v); }
SIMTLAB_ATOMIC unsigned int atomicDec(unsigned int* p, unsigned int v) { return __uAtomicDec(p, v); }
SIMTLAB_ATOMIC int atomicMin(int* p, int v) { return __iAtomicMin(p, v); }
SIMTLAB_ATOMIC unsigned int atomicMin(unsigned int* p, unsigned int v) { return __uAtomicMin(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicMin(unsigned long long* p, unsigned long long v) { return __ullAtomicMin(p, v); }
SIMTLAB_ATOMIC long long atomicMin(long long* p, long long v) { return __illAtomicMin(p, v); }
SIMTLAB_ATOMIC int atomicMax(int* p, int v) { return __iAtomicMax(p, v); }
SIMTLAB_ATOMIC unsigned int atomicMax(unsigned int* p, unsigned int v) { return __uAtomicMax(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicMax(unsigned long long* p, unsigned long long v) { return __ullAtomicMax(p, v); }
SIMTLAB_ATOMIC long long atomicMax(long long* p, long long v) { return __illAtomicMax(p, v); }
SIMTLAB_ATOMIC int atomicAnd(int* p, int v) { return __iAtomicAnd(p, v); }
SIMTLAB_ATOMIC unsigned int atomicAnd(unsigned int* p, unsigned int v) { return __uAtomicAnd(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicAnd(unsigned long long* p, unsigned long long v) { return __ullAtomicAnd(p, v); }
SIMTLAB_ATOMIC int atomicOr(int* p, int v) { return __iAtomicOr(p, v); }
SIMTLAB_ATOMIC unsigned int atomicOr(unsigned int* p, unsigned int v) { return __uAtomicOr(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicOr(unsigned long long* p, unsigned long long v) { return __ullAtomicOr(p, v); }
SIMTLAB_ATOMIC int atomicXor(int* p, int v) { return __iAtomicXor(p, v); }
SIMTLAB_ATOMIC unsigned int atomicXor(unsigned int* p, unsigned int v) { return __uAtomicXor(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicXor(unsigned long long* p, unsigned long long v) { return __ullAtomicXor(p, v); }
SIMTLAB_ATOMIC int atomicCAS(int* p, int compare, int v) { return __iAtomicCAS(p, compare, v); }
SIMTLAB_ATOMIC unsigned int atomicCAS(unsigned int* p, unsigned int compare, unsigned int v) { return __uAtomicCAS(p, compare, v); }
SIMTLAB_ATOMIC unsigned long long atomicCAS(unsigned long long* p, unsigned long long compare, unsigned long long v) { return __ullAtomicCAS(p, compare, v); }

// Signed 64-bit: the bits of the unsigned function.
#define SIMTLAB_ATOMIC_S64(name) \
  SIMTLAB_ATOMIC long long name(long long* p, long long v) { return (long long)name((unsigned long long*)p, (unsigned long long)v); }
SIMTLAB_ATOMIC_S64(atomicAnd)
SIMTLAB_ATOMIC_S64(atomicOr)
SIMTLAB_ATOMIC_S64(atomicXor)

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
SIMTLAB_ATOMIC int atomicAdd_block(int* p, int v) { return __iAtomicAdd_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicAdd_block(unsigned int* p, unsigned int v) { return __uAtomicAdd_block(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicAdd_block(unsigned long long* p, unsigned long long v) { return __ullAtomicAdd_block(p, v); }
SIMTLAB_ATOMIC float atomicAdd_block(float* p, float v) { return __fAtomicAdd_block(p, v); }
SIMTLAB_ATOMIC int atomicAdd_system(int* p, int v) { return __iAtomicAdd_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicAdd_system(unsigned int* p, unsigned int v) { return __uAtomicAdd_system(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicAdd_system(unsigned long long* p, unsigned long long v) { return __ullAtomicAdd_system(p, v); }
SIMTLAB_ATOMIC float atomicAdd_system(float* p, float v) { return __fAtomicAdd_system(p, v); }
SIMTLAB_ATOMIC int atomicSub_block(int* p, int v) { return __iAtomicAdd_block(p, -v); }
SIMTLAB_ATOMIC unsigned int atomicSub_block(unsigned int* p, unsigned int v) { return __uAtomicAdd_block(p, 0u - v); }
SIMTLAB_ATOMIC int atomicSub_system(int* p, int v) { return __iAtomicAdd_system(p, -v); }
SIMTLAB_ATOMIC unsigned int atomicSub_system(unsigned int* p, unsigned int v) { return __uAtomicAdd_system(p, 0u - v); }
SIMTLAB_ATOMIC int atomicExch_block(int* p, int v) { return __iAtomicExch_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicExch_block(unsigned int* p, unsigned int v) { return __uAtomicExch_block(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicExch_block(unsigned long long* p, unsigned long long v) { return __ullAtomicExch_block(p, v); }
SIMTLAB_ATOMIC float atomicExch_block(float* p, float v) { return __fAtomicExch_block(p, v); }
SIMTLAB_ATOMIC int atomicExch_system(int* p, int v) { return __iAtomicExch_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicExch_system(unsigned int* p, unsigned int v) { return __uAtomicExch_system(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicExch_system(unsigned long long* p, unsigned long long v) { return __ullAtomicExch_system(p, v); }
SIMTLAB_ATOMIC float atomicExch_system(float* p, float v) { return __fAtomicExch_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicInc_block(unsigned int* p, unsigned int v) { return __uAtomicInc_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicInc_system(unsigned int* p, unsigned int v) { return __uAtomicInc_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicDec_block(unsigned int* p, unsigned int v) { return __uAtomicDec_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicDec_system(unsigned int* p, unsigned int v) { return __uAtomicDec_system(p, v); }
SIMTLAB_ATOMIC int atomicMin_block(int* p, int v) { return __iAtomicMin_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicMin_block(unsigned int* p, unsigned int v) { return __uAtomicMin_block(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicMin_block(unsigned long long* p, unsigned long long v) { return __ullAtomicMin_block(p, v); }
SIMTLAB_ATOMIC long long atomicMin_block(long long* p, long long v) { return __illAtomicMin_block(p, v); }
SIMTLAB_ATOMIC int atomicMin_system(int* p, int v) { return __iAtomicMin_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicMin_system(unsigned int* p, unsigned int v) { return __uAtomicMin_system(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicMin_system(unsigned long long* p, unsigned long long v) { return __ullAtomicMin_system(p, v); }
SIMTLAB_ATOMIC long long atomicMin_system(long long* p, long long v) { return __illAtomicMin_system(p, v); }
SIMTLAB_ATOMIC int atomicMax_block(int* p, int v) { return __iAtomicMax_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicMax_block(unsigned int* p, unsigned int v) { return __uAtomicMax_block(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicMax_block(unsigned long long* p, unsigned long long v) { return __ullAtomicMax_block(p, v); }
SIMTLAB_ATOMIC long long atomicMax_block(long long* p, long long v) { return __illAtomicMax_block(p, v); }
SIMTLAB_ATOMIC int atomicMax_system(int* p, int v) { return __iAtomicMax_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicMax_system(unsigned int* p, unsigned int v) { return __uAtomicMax_system(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicMax_system(unsigned long long* p, unsigned long long v) { return __ullAtomicMax_system(p, v); }
SIMTLAB_ATOMIC long long atomicMax_system(long long* p, long long v) { return __illAtomicMax_system(p, v); }
SIMTLAB_ATOMIC int atomicAnd_block(int* p, int v) { return __iAtomicAnd_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicAnd_block(unsigned int* p, unsigned int v) { return __uAtomicAnd_block(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicAnd_block(unsigned long long* p, unsigned long long v) { return __ullAtomicAnd_block(p, v); }
SIMTLAB_ATOMIC int atomicAnd_system(int* p, int v) { return __iAtomicAnd_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicAnd_system(unsigned int* p, unsigned int v) { return __uAtomicAnd_system(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicAnd_system(unsigned long long* p, unsigned long long v) { return __ullAtomicAnd_system(p, v); }
SIMTLAB_ATOMIC int atomicOr_block(int* p, int v) { return __iAtomicOr_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicOr_block(unsigned int* p, unsigned int v) { return __uAtomicOr_block(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicOr_block(unsigned long long* p, unsigned long long v) { return __ullAtomicOr_block(p, v); }
SIMTLAB_ATOMIC int atomicOr_system(int* p, int v) { return __iAtomicOr_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicOr_system(unsigned int* p, unsigned int v) { return __uAtomicOr_system(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicOr_system(unsigned long long* p, unsigned long long v) { return __ullAtomicOr_system(p, v); }
SIMTLAB_ATOMIC int atomicXor_block(int* p, int v) { return __iAtomicXor_block(p, v); }
SIMTLAB_ATOMIC unsigned int atomicXor_block(unsigned int* p, unsigned int v) { return __uAtomicXor_block(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicXor_block(unsigned long long* p, unsigned long long v) { return __ullAtomicXor_block(p, v); }
SIMTLAB_ATOMIC int atomicXor_system(int* p, int v) { return __iAtomicXor_system(p, v); }
SIMTLAB_ATOMIC unsigned int atomicXor_system(unsigned int* p, unsigned int v) { return __uAtomicXor_system(p, v); }
SIMTLAB_ATOMIC unsigned long long atomicXor_system(unsigned long long* p, unsigned long long v) { return __ullAtomicXor_system(p, v); }
SIMTLAB_ATOMIC int atomicCAS_block(int* p, int compare, int v) { return __iAtomicCAS_block(p, compare, v); }
SIMTLAB_ATOMIC int atomicCAS_system(int* p, int compare, int v) { return __iAtomicCAS_system(p, compare, v); }
SIMTLAB_ATOMIC unsigned int atomicCAS_block(unsigned int* p, unsigned int compare, unsigned int v) { return __uAtomicCAS_block(p, compare, v); }
SIMTLAB_ATOMIC unsigned int atomicCAS_system(unsigned int* p, unsigned int compare, unsigned int v) { return __uAtomicCAS_system(p, compare, v); }
SIMTLAB_ATOMIC unsigned long long atomicCAS_block(unsigned long long* p, unsigned long long compare, unsigned long long v) { return __ullAtomicCAS_block(p, compare, v); }
SIMTLAB_ATOMIC unsigned long long atomicCAS_system(unsigned long long* p, unsigned long long compare, unsigned long long v) { return __ullAtomicCAS_system(p, compare, v); }
SIMTLAB_ATOMIC_S64(atomicAnd_block)
SIMTLAB_ATOMIC_S64(atomicAnd_system)
SIMTLAB_ATOMIC_S64(atomicOr_block)
SIMTLAB_ATOMIC_S64(atomicOr_system)
SIMTLAB_ATOMIC_S64(atomicXor_block)
SIMTLAB_ATOMIC_S64(atomicXor_system)
SIMTLAB_ATOMIC double atomicAdd(double* p, double v) { return __dAtomicAdd(p, v); }
SIMTLAB_ATOMIC double atomicAdd_block(double* p, double v) { return __dAtomicAdd_block(p, v); }
SIMTLAB_ATOMIC double atomicAdd_system(double* p, double v) { return __dAtomicAdd_system(p, v); }
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
SIMTLAB_ATOMIC unsigned short atomicCAS(unsigned short* p, unsigned short compare, unsigned short v) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(compare), "h"(v) : "memory");
  return old;
}
#endif

#undef SIMTLAB_ATOMIC_S64
#undef SIMTLAB_ATOMIC
