// A nest's kernel on the simulated GPU, with the data that the program had, its results beside the program's.
#pragma once

#include <string>

#include "compile/loops.h"
#include "models/loops/pattern.h"
#include "options/options.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::studies {

// What of floating-point results may differ, relative to max(1, |value|): fused multiply-adds round once
// less, functions of the library are others. Integers must be equal.
inline constexpr double single_tolerance = 1e-4, double_tolerance = 1e-9;

struct NestSimulation {
  double time_ns = 0, cycles = 0;
  double thread_instructions = 0;  // of all threads
  double l2_bytes = 0, dram_bytes = 0;
  double difference = 0;   // largest
  unsigned registers = 0;  // of a thread by the kernel's PTX, where the device has fewer; else 0
};

// Throws Error: "loop-data" without data, "loop-result" (program_failed) where they differ, exec::Fault and
// what else a launch can throw.
NestSimulation simulate_nest(const models::loops::Description& nest, const models::loops::Mapping& mapping,
                             const std::string& ptx, const std::string& kernel, const compile::LoopRun& run,
                             const device::Device& device, const options::Options& options,
                             const OutputOptions& output);

}  // namespace simtlab::studies
