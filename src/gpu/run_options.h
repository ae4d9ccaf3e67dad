// What the options of a run say to the simulated GPU.
#pragma once

#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "options/options.h"

namespace simtlab::gpu {

// All but what a process adds of its own: interrupt, pulse, printing, and files, whose names depend on it.
// Throws Error(usage) for a value that makes no sense.
Options options_of(const options::Options& run);

// The checkpoint options of a run, with what its results depend on: the options, the device, the version.
CheckpointOptions checkpoint_of(const options::Options& run, const device::LoadedDevice& device);

}  // namespace simtlab::gpu
