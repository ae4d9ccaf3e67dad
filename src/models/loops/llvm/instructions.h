// The instructions of a nest by the operation classes of a device, with what each uses.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>

#include <map>
#include <optional>

#include "device/op_class.h"
#include "expression.h"

namespace simtlab::models::loops {

// What one instruction costs. `count`: how many machine instructions of the class it becomes, 0 if none
// (folded into another one).
struct Cost {
  std::optional<device::OpClass> op_class;  // nullopt: nothing
  double count = 1;
  std::optional<device::OpClass> more_class = {};  // of library functions: what else they are made of
  double more = 0;
  double flops = 0;
};
Cost cost_of(const llvm::Instruction& instruction, const llvm::DataLayout& layout);

class InstructionTable {
 public:
  InstructionTable(const llvm::Function& function, const llvm::DataLayout& layout);
  // [{"id", "class", "count", "uses": [ids], "words", "line", "access"}]
  Json of_block(const llvm::BasicBlock& block, const Numbering& numbering) const;
  // Values that are needed after the block.
  Json outgoing(const llvm::BasicBlock& block) const;

 private:
  Json value(const llvm::Value& v) const;
  const llvm::DataLayout& layout_;
  std::map<const llvm::Value*, unsigned> ids_;
  std::map<const llvm::BasicBlock*, std::vector<const llvm::Value*>> live_out_;
};

}  // namespace simtlab::models::loops
