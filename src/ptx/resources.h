// What a function needs with all that it calls: registers, rows, predicates, local memory, barriers.
#pragma once

#include <cstdint>
#include <span>

#include "ptx/layout.h"
#include "ptx/liveness.h"

namespace simtlab::ptx {

// Totals along the deepest call chain, and the register estimate. A kernel needs the registers that are live
// in it, or at a call the registers that are live across the call plus the callee's need (one turn of a cycle
// through pointers). The estimate never exceeds .maxnreg and .minnctapersm; no spill code is added.
class Resources {
 public:
  // `frame_align`: the largest that a frame of the module asks for.
  Resources(CallGraph graph, std::uint64_t frame_align);

  // Of all functions, each with its allocation. Throws Error(bad_input, "ptx-limit").
  void total_all(Module& module, std::span<const Allocation> allocations);
  // Of a kernel that took the place of function number `which`; what it calls has its totals. Throws as well.
  void total(const Module& module, std::uint32_t which, const Allocation& allocation, Function& kernel) const;

 private:
  void sum(const Module& module, std::uint32_t which, const Allocation& allocation, Function& f) const;
  void add_room_for_cycles(Function& kernel) const;

  CallGraph graph_;
  std::uint64_t frame_align_;
  // Of the longest cycle through pointers; no depth: there is none
  struct {
    std::uint32_t rows = 0, preds = 0, frame = 0, depth = 0;
  } cycle_;
};

// What .maxnreg leaves a thread, and `blocks` resident blocks of the largest size, if there is room for their
// threads: a register file has 64 K registers, handed out by 8 a thread and whole warps. no_pc: no limit.
std::uint32_t register_limit(const Function& function, std::uint32_t blocks);

}  // namespace simtlab::ptx
