// What the analytical models want to know of a kernel, from the execution of a part of its blocks.
//
// A sample is the first blocks of the grid, at least as many as the GPU holds at once, through the cache
// study (hit rates and traffic), each instruction counted; it is a whole grid if that is small. What the rest
// of the grid does is taken to be what the later blocks of the sample did, in proportion to its warp
// instructions. Counts are of machine instructions, as the cycle-level model issues them (timing/lowering.h).
// Cycles are SM core cycles.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/study.h"
#include "device/device.h"
#include "device/occupancy.h"
#include "models/counts/counted.h"
#include "models/counts/dependences.h"

namespace simtlab::models::counts {

// One instruction of the code: how often a warp executes it, and what one access touches.
struct CodeStep {
  std::string place;  // "k.cu:14 load"
  device::OpClass op_class = device::OpClass::int_alu;
  double insts = 0;
  double spread = 0;  // lines of global memory, passes of shared memory; 0: unknown
};

struct Profile {
  // Launch.
  std::uint64_t blocks = 0;
  std::uint32_t threads_per_block = 0, warps_per_block = 0;
  device::Occupancy occupancy;

  // Sample.
  std::uint64_t sampled_blocks = 0, sampled_instructions = 0;  // PTX warp instructions
  // Relative, 95 %: of the instructions of the whole grid; 0: all blocks were executed
  double error = 0;

  // Instructions of a warp, a mean over all warps of the sample.
  std::array<double, device::op_class_names.size()> class_insts{};
  double ptx_insts = 0, active_lanes = 0, sync_insts = 0;
  double fma_insts = 0;  // fused multiply-adds
  // Accesses to global and local memory
  double global_insts = 0, coalesced_insts = 0, uncoalesced_insts = 0;
  double sectors_per_uncoalesced = 0, sectors_per_access = 0, lines_per_access = 0, bytes_per_access = 0;
  double shared_insts = 0, shared_passes = 0, shared_passes_ideal = 0;  // passes of one access
  // Dependences, from the way of a few warps.
  double ilp = 1, mlp = 1;
  // Cycles that a warp takes alone, with the latencies that its loads meet in the sample
  double warp_latency = 0;
  double warp_memory_wait = 0;  // of them: waited for global and local memory
  double warp_spread = 1;       // instructions of the longest warp over those of a mean one
  std::vector<CodeStep> code;   // in the order of the text

  // Of the whole grid.
  double flops = 0, l1_bytes = 0, l2_bytes = 0, dram_bytes = 0, useful_bytes = 0;
  // Of the sectors asked for by reads; L1: 1 where it does not cache
  double l1_miss_ratio = 0, l2_miss_ratio = 0;
};

struct Measured {
  const CountedLaunch& launch;
  const cache::Study& study;  // that has run it
  const device::Device& device;
  device::Occupancy occupancy;
  std::uint64_t unstudied_blocks = 0;  // counted, but not by the study
  std::uint64_t unstudied_instructions = 0;
  std::uint64_t rest_blocks = 0;        // not in the sample
  std::uint64_t rest_instructions = 0;  // of their warps; 0: unknown, taken from the sample's mean
  bool lowering = true;
};
Profile profile_of(const Measured& measured);

// Parts of a profile, however its counts are made.
// Adds the machine instructions of one PTX instruction, executed so often.
void add_machine_classes(const timing::InstInfo& info, const timing::Lowered& lowered, double executed,
                         std::array<double, device::op_class_names.size()>& classes);
bool is_fused(const ptx::Inst& inst);
// What one PTX instruction is of the code; spread as in CodeStep.
void add_code(const ptx::Module& module, const timing::InstInfo& info, const timing::Lowered& lowered,
              double executed, double spread, std::vector<CodeStep>& code);
// ptx_insts must be known.
void set_dependences(Profile& profile, const Dependences& sum);

}  // namespace simtlab::models::counts
