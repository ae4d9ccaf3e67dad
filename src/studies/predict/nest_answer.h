// What stands in the answer of a nest beside the model's numbers: notes, the launch, the simulated kernel.
#pragma once

#include <string>

#include "compile/loops.h"
#include "models/counts.h"
#include "models/loops/tables.h"
#include "result/metrics.h"
#include "studies/predict/loop.h"
#include "studies/predict/nest_simulation.h"

namespace simtlab::studies {

// Of the best candidate. why_not_followed: why its instructions are not those of its code.
void add_notes(models::loops::Answer& answer, const LoopOptions& options, const compile::LoopRun& run,
               const std::string& why_not_followed, const std::string& gpu);
void set_launch(result::KernelResult& kernel, const models::loops::NestCounts& counts);
// threads: of the kernel.
void add_simulation(models::loops::Answer& answer, result::KernelResult& kernel,
                    const NestSimulation& simulation, const models::Counts& counts, double threads,
                    const device::Device& device);

}  // namespace simtlab::studies
