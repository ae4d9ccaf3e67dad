// Parts of complete(): values that follow from a device file, from the instruction mix, from the shape of the
// memory accesses. None of them replaces what is known already.
#pragma once

#include "models/counts.h"

namespace simtlab::models {

void add_machine(Inputs& inputs, const device::Device& gpu);
void add_from_mix(Inputs& inputs);
void add_from_memory(Inputs& inputs);

}  // namespace simtlab::models
