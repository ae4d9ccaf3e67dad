#include "instructions.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <set>

#include "calls.h"

namespace simtlab::models::loops {
namespace {

using device::OpClass;

// Machine instructions of the library's functions, counted in the PTX of the device maths (single precision;
// the doubles are polynomials of more terms). special: of them, on the special function units.
struct LibraryCost {
  llvm::StringRef name;
  double single, wide, special;
};
constexpr LibraryCost library_costs[] = {
    {"exp", 10, 30, 1},  {"exp2", 4, 26, 1},  {"log", 18, 45, 0},  {"log2", 18, 50, 0},  {"log10", 20, 50, 0},
    {"pow", 60, 150, 2}, {"sin", 30, 60, 0},  {"cos", 30, 60, 0},  {"tan", 40, 90, 1},   {"erf", 25, 60, 1},
    {"erfc", 30, 80, 1}, {"tanh", 18, 50, 2}, {"atan", 20, 45, 1}, {"atan2", 30, 70, 1}, {"fmod", 40, 60, 0},
    {"cbrt", 20, 50, 1}, {"hypot", 15, 30, 1}};
constexpr LibraryCost other_library_cost{"", 30, 70, 1};

Cost of_library(llvm::StringRef name, bool single) {
  if (single && name.ends_with("f") && name != "erf") name = name.drop_back();
  const auto* found = std::ranges::find(library_costs, name, &LibraryCost::name);
  const LibraryCost& c = found == std::end(library_costs) ? other_library_cost : *found;
  const double n = single ? c.single : c.wide;
  return {single ? OpClass::fp32 : OpClass::fp64, n - c.special, OpClass::sfu, c.special, n};
}

Cost of_call(const llvm::CallBase& call) {
  const bool single = call.getType()->isFloatTy();
  if (llvm::isa<llvm::DbgInfoIntrinsic>(call) || llvm::isa<llvm::LifetimeIntrinsic>(call))
    return {std::nullopt, 0};
  if (const std::string name = library_name(call); !name.empty()) return of_library(name, single);
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
  if (intrinsic == nullptr) return {OpClass::int_alu};
  const OpClass fp = single ? OpClass::fp32 : OpClass::fp64;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd: return {fp, 1, std::nullopt, 0, 2};
    case llvm::Intrinsic::sqrt:
      return {single ? OpClass::fp32_sqrt : OpClass::fp64_sqrt, 1, std::nullopt, 0, 1};
    case llvm::Intrinsic::fabs: return {fp, 0};  // a modifier of the operand
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::round:
      return {single ? OpClass::convert : OpClass::convert64, 1, std::nullopt, 0, 1};
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::copysign: return {fp, 1, std::nullopt, 0, 1};
    case llvm::Intrinsic::assume: return {std::nullopt, 0};
    default: return {OpClass::int_alu};
  }
}

// Of the address: a sum with a product in one instruction; constants are part of the access.
Cost of_address(const llvm::GetElementPtrInst& address) {
  return address.hasAllConstantIndices() ? Cost{std::nullopt, 0} : Cost{OpClass::int_mul};
}

bool wide(const llvm::Type* t) { return t->isIntegerTy() && t->getIntegerBitWidth() > 32; }

Cost of_arithmetic(const llvm::BinaryOperator& op) {
  const llvm::Type* t = op.getType();
  const double words = wide(t) ? 2 : 1;
  switch (op.getOpcode()) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
      return {t->isFloatTy() ? OpClass::fp32 : OpClass::fp64, 1, std::nullopt, 0, 1};
    case llvm::Instruction::FDiv:
      return {t->isFloatTy() ? OpClass::fp32_div : OpClass::fp64_div, 1, std::nullopt, 0, 1};
    case llvm::Instruction::FRem: return of_library(t->isFloatTy() ? "fmodf" : "fmod", t->isFloatTy());
    case llvm::Instruction::Mul: return {OpClass::int_mul, words};
    case llvm::Instruction::SDiv:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SRem:
    case llvm::Instruction::URem: return {OpClass::int_div, words};
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr: return {OpClass::bit, words};
    default: return {OpClass::int_alu, words};
  }
}

}  // namespace

Cost cost_of(const llvm::Instruction& i, const llvm::DataLayout& layout) {
  (void)layout;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i)) return of_call(*call);
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i)) return of_address(*address);
  if (const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&i)) return of_arithmetic(*op);
  switch (i.getOpcode()) {
    case llvm::Instruction::Load: return {OpClass::load};
    case llvm::Instruction::Store: return {OpClass::store};
    case llvm::Instruction::Br:
      // The jump at a loop's end is a branch as well; one that only falls through is none.
      return {
          llvm::cast<llvm::BranchInst>(i).isConditional() ? std::optional(OpClass::control) : std::nullopt,
          1};
    case llvm::Instruction::Switch: return {OpClass::control, 2};
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI:
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP:
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc:
      return {i.getType()->isDoubleTy() || i.getOperand(0)->getType()->isDoubleTy() ? OpClass::convert64
                                                                                    : OpClass::convert};
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt: {
      // Of an index: part of the multiplication with the element's size. Of a byte that was just loaded: part
      // of the load.
      const bool only_index = std::ranges::all_of(
          i.users(), [](const llvm::User* u) { return llvm::isa<llvm::GetElementPtrInst>(u); });
      if (only_index || llvm::isa<llvm::LoadInst>(i.getOperand(0))) return {std::nullopt, 0};
      return {OpClass::int_alu};
    }
    case llvm::Instruction::FCmp:
      return {i.getOperand(0)->getType()->isFloatTy() ? OpClass::fp32 : OpClass::fp64};
    case llvm::Instruction::FNeg:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::PHI:
    case llvm::Instruction::Alloca:
    case llvm::Instruction::Ret:
    case llvm::Instruction::Unreachable: return {std::nullopt, 0};
    default: return {OpClass::int_alu};
  }
}

InstructionTable::InstructionTable(const llvm::Function& function, const llvm::DataLayout& layout)
    : layout_(layout) {
  for (const llvm::Argument& a : function.args()) ids_.emplace(&a, static_cast<unsigned>(ids_.size()));
  for (const llvm::Instruction& i : llvm::instructions(function))
    ids_.emplace(&i, static_cast<unsigned>(ids_.size()));
  // Liveness, backwards until nothing changes.
  std::map<const llvm::BasicBlock*, std::set<const llvm::Value*>> in, out;
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::BasicBlock& b : llvm::reverse(function)) {
      std::set<const llvm::Value*> live;
      for (const llvm::BasicBlock* s : llvm::successors(&b)) {
        live.insert(in[s].begin(), in[s].end());
        for (const llvm::PHINode& phi : s->phis())
          if (const llvm::Value* v = phi.getIncomingValueForBlock(&b); ids_.contains(v)) live.insert(v);
      }
      out[&b] = live;
      for (const llvm::Instruction& i : llvm::reverse(b)) {
        live.erase(&i);
        if (llvm::isa<llvm::PHINode>(i)) continue;
        for (const llvm::Value* v : i.operands())
          if (ids_.contains(v)) live.insert(v);
      }
      if (live != in[&b]) {
        in[&b] = std::move(live);
        changed = true;
      }
    }
  }
  for (auto& [block, values] : out) live_out_[block] = {values.begin(), values.end()};
}

Json InstructionTable::value(const llvm::Value& v) const { return ids_.at(&v); }

Json InstructionTable::of_block(const llvm::BasicBlock& block, const Numbering& numbering) const {
  Json out = Json::array();
  for (const llvm::Instruction& i : block) {
    const Cost c = cost_of(i, layout_);
    Json uses = Json::array();
    if (!llvm::isa<llvm::PHINode>(i))
      for (const llvm::Value* v : i.operands())
        if (ids_.contains(v)) uses.push_back(value(*v));
    const llvm::Type* t = i.getType();
    const unsigned words = t->isVoidTy() ? 0u : t->isPointerTy() || t->isDoubleTy() || wide(t) ? 2u : 1u;
    Json entry{{"id", value(i)},
               {"uses", uses},
               {"words", words},
               {"line", i.getDebugLoc() ? i.getDebugLoc().getLine() : 0u}};
    if (c.op_class && c.count > 0) {
      entry["class"] = device::name_of(*c.op_class);
      entry["count"] = c.count;
      if (c.more > 0) entry["more"] = {device::name_of(*c.more_class), c.more};
      if (c.flops > 0) entry["flops"] = c.flops;
    }
    if (const auto found = numbering.accesses.find(&i); found != numbering.accesses.end())
      entry["access"] = found->second;
    out.push_back(std::move(entry));
  }
  return out;
}

Json InstructionTable::outgoing(const llvm::BasicBlock& block) const {
  std::vector<unsigned> out;
  for (const llvm::Value* v : live_out_.at(&block)) out.push_back(ids_.at(v));
  std::ranges::sort(out);
  return out;
}

}  // namespace simtlab::models::loops
