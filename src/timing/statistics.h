// Counters of one launch: plain integers, added up over SMs; ratios are formed in metrics.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "timing/pipes.h"
#include "timing/stall.h"

namespace simtlab::timing {

struct CacheCounters {
  void add(const CacheCounters& other);
  std::uint64_t read_accesses = 0, read_hits = 0, read_pending = 0, read_misses = 0;  // sectors
  std::uint64_t write_accesses = 0, write_hits = 0;
};

struct SpaceCounters {
  void add(const SpaceCounters& other);
  std::uint64_t requests = 0, sectors = 0, bytes = 0;
};

// Lines of instructions (front_end.h). Prefetches are those of L0; L1's accesses include them.
struct FetchCounters {
  void add(const FetchCounters& other);
  std::uint64_t l0_accesses = 0, l0_misses = 0, l1_accesses = 0, l1_misses = 0, prefetches = 0,
                operand_misses = 0;
};

struct SmCounters {
  std::uint64_t warp_instructions = 0, machine_instructions = 0, thread_instructions = 0;
  std::array<std::uint64_t, class_count> by_class{}, flops_by_class{};
  std::array<FixedCycles, pipe_count> pipe_busy{};
  SlotCounts slots{};
  std::uint64_t blocks = 0, warps = 0;
  // Cycles with a block; resident warps summed over cycles
  std::uint64_t active_cycles = 0, warp_cycles = 0;
  std::uint64_t branches = 0, divergent_branches = 0;
  SpaceCounters global_load, global_store, local_load, local_store, atomic;
  std::uint64_t atomic_operations = 0, texture_requests = 0, async_copies = 0;
  std::uint64_t shared_loads = 0, shared_stores = 0, shared_atomics = 0, shared_passes = 0,
                shared_conflicts = 0, shared_bytes = 0;
  std::uint64_t cluster_requests = 0, cluster_bytes = 0;  // of those: to other blocks' shared memory
  std::uint64_t barriers = 0, fences = 0;
  std::uint64_t constant_accesses = 0, constant_misses = 0;
  std::uint64_t mshr_stall_cycles = 0;
  std::uint64_t memory_stage_cycles = 0;  // gpu.stall.classic.shared_memory
  CacheCounters l1;
  std::uint64_t l1_bytes = 0;
  FixedCycles l1_busy = 0, shared_busy = 0;
  std::uint64_t request_bytes = 0, request_flits = 0;  // SM -> L2
  FetchCounters fetch;
  std::uint64_t register_conflicts = 0;  // cycles
  void add(const SmCounters& other);
};

// What L2 did for one launch.
struct L2Served {
  CacheCounters cache;
  std::uint64_t sectors_moved = 0;
  void add(const L2Served& other);
};

struct L2Counters {
  std::uint64_t writebacks = 0;
  FixedCycles busy = 0;
  std::uint64_t least_slice_accesses = 0, most_slice_accesses = 0;  // sectors
  double slice_deviation = 0;                                       // standard deviation over the slices
  // Slice cycles; gpu.stall.classic.* say of what
  std::uint64_t full_cycles = 0, reply_held_cycles = 0;
};

}  // namespace simtlab::timing
