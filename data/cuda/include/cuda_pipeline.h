// The C functions for asynchronous copies. nvcuda::experimental::pipeline and cuda::pipeline are not there.
#pragma once
#include "cuda_pipeline_primitives.h"
