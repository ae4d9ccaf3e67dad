#include "expression.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/raw_ostream.h>

namespace simtlab::models::loops {
namespace {

std::string text_of(const llvm::SCEV* s) {
  std::string text;
  llvm::raw_string_ostream out(text);
  s->print(out);
  return text;
}

std::uint64_t bits_of(const llvm::SCEV* s, llvm::ScalarEvolution& evolution) {
  return evolution.getTypeSizeInBits(s->getType());
}

const char* name_of(llvm::SCEVTypes kind) {
  switch (kind) {
    case llvm::scAddExpr: return "+";
    case llvm::scMulExpr: return "*";
    case llvm::scUDivExpr: return "/";
    case llvm::scSMaxExpr: return "smax";
    case llvm::scSMinExpr: return "smin";
    case llvm::scUMaxExpr: return "umax";
    case llvm::scUMinExpr:
    case llvm::scSequentialUMinExpr: return "umin";
    case llvm::scSignExtend: return "sext";
    case llvm::scZeroExtend: return "zext";
    case llvm::scTruncate: return "trunc";
    default: return nullptr;
  }
}

// Of values that no evolution describes: arguments, loads (an index from memory), divisions and remainders.
Json of_value(const llvm::SCEVUnknown* u, const Numbering& numbering, llvm::ScalarEvolution& evolution) {
  const std::uint64_t bits = bits_of(u, evolution);
  llvm::Value* v = u->getValue();
  if (const auto* a = llvm::dyn_cast<llvm::Argument>(v)) return Json::array({"arg", bits, a->getArgNo()});
  if (const auto found = numbering.accesses.find(v); found != numbering.accesses.end())
    return Json::array({"load", bits, found->second});
  if (auto* op = llvm::dyn_cast<llvm::BinaryOperator>(v)) {
    const char* name = op->getOpcode() == llvm::Instruction::SDiv   ? "s/"
                       : op->getOpcode() == llvm::Instruction::SRem ? "s%"
                       : op->getOpcode() == llvm::Instruction::URem ? "%"
                       : op->getOpcode() == llvm::Instruction::And  ? "&"
                       : op->getOpcode() == llvm::Instruction::Xor  ? "^"
                       : op->getOpcode() == llvm::Instruction::Or   ? "|"
                                                                    : nullptr;
    if (name != nullptr)
      return Json::array({name, bits, to_json(evolution.getSCEV(op->getOperand(0)), numbering, evolution),
                          to_json(evolution.getSCEV(op->getOperand(1)), numbering, evolution)});
  }
  return Json::array({"unknown", bits, text_of(u)});
}

}  // namespace

Json to_json(const llvm::SCEV* s, const Numbering& numbering, llvm::ScalarEvolution& evolution) {
  if (llvm::isa<llvm::SCEVCouldNotCompute>(s)) return Json::array({"unknown", 64, "can't be computed"});
  const std::uint64_t bits = bits_of(s, evolution);
  if (const auto* c = llvm::dyn_cast<llvm::SCEVConstant>(s))
    return Json::array({"const", bits, c->getAPInt().getSExtValue()});
  if (const auto* u = llvm::dyn_cast<llvm::SCEVUnknown>(s)) return of_value(u, numbering, evolution);
  if (const auto* r = llvm::dyn_cast<llvm::SCEVAddRecExpr>(s)) {
    const auto loop = numbering.loops.find(r->getLoop());
    if (loop == numbering.loops.end()) return Json::array({"unknown", bits, text_of(s)});
    Json out = Json::array({"iv", bits, loop->second});
    for (const llvm::SCEV* o : r->operands()) out.push_back(to_json(o, numbering, evolution));
    return out;
  }
  if (const auto* p = llvm::dyn_cast<llvm::SCEVPtrToIntExpr>(s))
    return to_json(p->getOperand(), numbering, evolution);
  const char* name = name_of(s->getSCEVType());
  if (name == nullptr) return Json::array({"unknown", bits, text_of(s)});
  Json out = Json::array({name, bits});
  for (const llvm::SCEV* o : s->operands()) out.push_back(to_json(o, numbering, evolution));
  return out;
}

Json condition_to_json(llvm::Value* condition, const llvm::Loop* loop, const Numbering& numbering,
                       llvm::ScalarEvolution& evolution) {
  if (auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition)) {
    if (!compare->getOperand(0)->getType()->isIntegerTy()) return nullptr;
    return {{"test", llvm::CmpInst::getPredicateName(compare->getPredicate()).str()},
            {"a", to_json(evolution.getSCEVAtScope(compare->getOperand(0), loop), numbering, evolution)},
            {"b", to_json(evolution.getSCEVAtScope(compare->getOperand(1), loop), numbering, evolution)}};
  }
  if (auto* op = llvm::dyn_cast<llvm::BinaryOperator>(condition);
      op && (op->getOpcode() == llvm::Instruction::And || op->getOpcode() == llvm::Instruction::Or)) {
    Json a = condition_to_json(op->getOperand(0), loop, numbering, evolution),
         b = condition_to_json(op->getOperand(1), loop, numbering, evolution);
    if (a.is_null() || b.is_null()) return nullptr;
    return {{"test", op->getOpcode() == llvm::Instruction::And ? "and" : "or"}, {"a", a}, {"b", b}};
  }
  // && and || that must not look at the second part
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(condition)) {
    const auto *yes = llvm::dyn_cast<llvm::ConstantInt>(select->getTrueValue()),
               *no = llvm::dyn_cast<llvm::ConstantInt>(select->getFalseValue());
    if ((no == nullptr || !no->isZero()) && (yes == nullptr || !yes->isOne())) return nullptr;
    const bool is_and = no != nullptr && no->isZero();
    Json a = condition_to_json(select->getCondition(), loop, numbering, evolution);
    Json b = condition_to_json(is_and ? select->getTrueValue() : select->getFalseValue(), loop, numbering,
                               evolution);
    if (a.is_null() || b.is_null()) return nullptr;
    return {{"test", is_and ? "and" : "or"}, {"a", a}, {"b", b}};
  }
  return nullptr;
}

}  // namespace simtlab::models::loops
