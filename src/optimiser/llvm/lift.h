// From a function over virtual registers to LLVM IR.
//
// What LLVM knows becomes its own instructions: integers, logic, comparisons, sums and products of f32 and
// f64 that round to nearest, conversions that round so, loads and stores without order. All else is a call of
// a function "op.N" whose body is nowhere: N is the instruction of PTX that it stands for
// (Lifted::operations), and its attributes say what it does to memory and to the other lanes of a warp.
//
// Addresses are integers in PTX. An access becomes one relative to a variable that stands for the whole state
// space
// ("space.global", "space.shared" ...), at the address as index: LLVM then sees that two addresses differ by
// a constant, and that spaces do not overlap. A generic address, and one of local memory, becomes a pointer
// made of a number, which may be anywhere. The frame is an alloca, so that its parts can become registers.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/decode.h"

namespace simtlab::optimiser {

// Address spaces of the IR.
enum AddressSpace : unsigned {
  generic_space = 0,
  global_space = 1,
  shared_space = 3,
  constant_space = 4,
  local_space = 5,
  param_space = 101
};

// A function that is not optimised, and why.
struct GivenUp {
  std::string why;
};

struct Lifted {
  std::unique_ptr<llvm::Module> module;
  llvm::Function* function = nullptr;
  std::string left_out;  // passes that would have taken too long, and why; empty: none
  void leave_out(std::string_view why);
  std::vector<ptx::Inst> operations;  // of the functions "op.N"
  // Constants and places of instructions are those of the function that has them: of each line of the debug
  // information, which function and which instruction. Operations: which function.
  std::vector<std::pair<const ptx::VirtualFunction*, std::uint32_t>> lines;
  std::vector<const ptx::VirtualFunction*> owners;
  std::map<std::string, ptx::Constant> symbols;  // of the variables "symbol.N"
};

// Attribute of operations whose machine code branches: what is behind them is of another block there.
inline constexpr const char* divides_a_block = "divides-a-block";

// The variable that stands for a state space.
llvm::GlobalVariable* space_variable(llvm::Module& module, const char* name, unsigned number);

// What `lift` needs of the module: all of its functions, in the order of Module::functions.
struct Program {
  const ptx::Module& module;
  std::span<const ptx::VirtualFunction> functions;
};

// Functions that it calls become part of it. Throws GivenUp.
Lifted lift(const ptx::VirtualFunction& f, const Program& program, llvm::LLVMContext& context);

}  // namespace simtlab::optimiser
