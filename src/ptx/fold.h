// PTX instructions that an assembler merges with their neighbours: facts that do not depend on the device.
//
// PTX is written for an endless register file and has one operation an instruction. Machine code reads
// parameters and constants as operands, adds a constant offset in the access itself, and has instructions
// with three operands that do the work of two. fold() marks each instruction that disappears into others
// (Inst::fold), each that takes another in (Inst::takes), and products that are shifts (Inst::shifts).
// timing/lowering.h, which knows the device, decides which merges its machine code can do and how many
// instructions the rest becomes. Execution does not look at the marks.
//
// The rules model an assembler that schedules within a block: an instruction is taken in by its only user in
// its own block, and only while its operands keep their values. Constants, parameters, copies and addresses
// are followed through the whole function.
#pragma once

#include <vector>

#include "ptx/cfg.h"
#include "ptx/module.h"

namespace simtlab::ptx {

// Marks the instructions of a function over virtual registers (before allocate()).
void fold(Function& function, const Cfg& cfg, const std::vector<Type>& types);

}  // namespace simtlab::ptx
