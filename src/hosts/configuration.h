// What a program on the simulated GPU is run with, from the configuration layers.
#pragma once

#include "device/catalogue.h"
#include "device/settings.h"
#include "gpu/checkpoint.h"
#include "result/run_config.h"

namespace simtlab::hosts {

// `simtlab run` hands this to the program it starts; a program that is started without it gathers its own.
result::RunConfig run_config(const device::Configuration& configuration);

// The checkpoint options of a run, with what its results depend on.
gpu::CheckpointOptions checkpoint_options(const result::RunConfig& config,
                                          const device::LoadedDevice& device);

}  // namespace simtlab::hosts
