// How many machine instructions a PTX instruction becomes on a device's generation, and of which class.
//
// For PTX that is executed as it is (--lowering counts): execution stays that of PTX; what changes is what an
// instruction costs. One that the assembler folds into others (ptx/fold.h) takes no slot and its result is
// there when its operands are. One that becomes several takes a slot for each, in turn with other warps, and
// occupies the pipeline of each. Division, remainder and root, whose rates in the device file are those of
// whole sub-routines, become as many instructions of their pipeline as that rate says, spread over the
// latency of the file. Whatever the count, the latency to the first dependent instruction stays the file's
// where that was measured on PTX (sub-routines, functions with a range check); elsewhere parts follow each
// other as the pipeline allows.
//
// Counts for compute capability 7.5 and later are those of the manufacturer's assembler (CUDA 13.0, sm_75)
// for one instruction with unknown operands, less copies; 7.0 is taken to be the same. Those of earlier ones,
// which it no longer serves, are estimated from what their instruction sets have: 16-bit multipliers in 5.x
// and 6.x, shifts for products by powers of two, no three-operand add before 5.0, no 32 x 32 + 64 bit
// multiply-add before 7.0. What is not modelled is in docs/reference/deviations/timing.md.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "ptx/inst.h"

namespace simtlab::timing {

// `count` instructions: the last of class `op_class`, those before of class `part`. 0: none.
struct Lowered {
  std::uint8_t count = 1;
  std::uint8_t rated = 0;  // not 0: so many instructions have the rate and latency of op_class together, the
                           // first half in the pipeline of `part`, the others in that of `rest`
  ptx::OpClass op_class = ptx::OpClass::int_alu;
  ptx::OpClass part = ptx::OpClass::int_alu;
  ptx::OpClass rest = ptx::OpClass::int_alu;
  bool whole_latency = false;  // latency of op_class is that of all parts together
  bool chain = false;          // each part needs the one before: they spread over it
};

class Lowering {
 public:
  // off: one machine instruction each, as machine code is and as PTX is without a lowering.
  Lowering(const device::Device& device, bool on);
  bool on() const { return on_; }
  Lowered operator()(const ptx::Inst& inst) const;

 private:
  bool folds(const ptx::Inst& inst) const;
  Lowered integer(const ptx::Inst& inst, Lowered out) const;
  Lowered shifted(const ptx::Inst& inst, Lowered out) const;
  Lowered wide(const ptx::Inst& inst, Lowered out) const;
  Lowered bits(const ptx::Inst& inst, Lowered out) const;
  Lowered function(const ptx::Inst& inst, Lowered out) const;
  Lowered routine(ptx::OpClass op_class, ptx::OpClass part, ptx::OpClass rest, unsigned factor) const;
  Lowered multiply() const;

  const device::Device& device_;
  bool on_;
  bool narrow_multiplier_;  // 5.x, 6.x: 16 x 16 bits
  bool three_operands_;     // from 5.0: three-operand sums and logic, shift and add of 64 bits
  bool split_;              // from 7.0: 32 x 32 + 64 bit multiply-add
};

}  // namespace simtlab::timing
