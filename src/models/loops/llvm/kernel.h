// The nest as a kernel for the GPU, and as a measured part of the program on the host.
#pragma once

#include "nest.h"
#include "passes.h"

namespace simtlab::models::loops {

// levels[0] becomes the x dimension of the threads, levels[1] y, levels[2] z; loops that are not named stay
// loops. The module keeps only the kernel, named `name`. Throws Refused.
void make_kernel(Nest& nest, const std::vector<unsigned>& levels, const std::string& name,
                 Analyses& analyses);

// The call of the nest is put between calls of data/loops/run_time.c, a second copy of the nest counts its
// blocks and notes what it touches.
void instrument(Nest& nest);

}  // namespace simtlab::models::loops
