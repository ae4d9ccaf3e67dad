// CUDA runtime for clang without NVIDIA's toolkit: what `simtlab build` puts before every .cu file.
// Device code goes through clang's own CUDA headers (its built-in variables, intrinsics and mathematical functions) and
// simtlab's device maths library; everything else is here. Also compiles, without device code, in any host compiler.
#pragma once

#define __CUDA_RUNTIME_H__  // programs test for it

#if defined(__CUDA__) && defined(__clang__)
// Device overloads must be declared before <cmath> makes its constexpr functions host and device ones.
#include <__clang_cuda_math_forward_declares.h>
#ifndef __CUDACC__
#define __CUDACC__  // libstdc++ then stays away from __float128
#endif
#endif

#if defined(__cplusplus)
#include <cmath>
#include <cstdlib>
#include <limits>
#if __cplusplus >= 201103L
#include <initializer_list>  // as nvcc's header does; programs loop over {1, 2, 3} without including it
#endif
#endif
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "builtin_types.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"
#if defined(__cplusplus)
#include "channel_descriptor.h"
#include "simtlab/runtime_templates.h"
#if defined(__CUDA__) && defined(__clang__)
#include "simtlab/device.h"
#endif
#endif
