#include "calls.h"

#include <fmt/format.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <array>
#include <set>

#include "find.h"

namespace simtlab::models::loops {
namespace {

constexpr unsigned max_inlined = 1000;  // calls; a nest of more is not a nest

// Of the C library, for double; float has an f behind it.
constexpr std::array<llvm::StringRef, 44> mathematics = {
    "acos",     "acosh", "asin",  "asinh", "atan", "atan2", "atanh",     "cbrt",  "ceil",
    "copysign", "cos",   "cosh",  "erf",   "erfc", "exp",   "exp10",     "exp2",  "expm1",
    "fabs",     "fdim",  "floor", "fma",   "fmax", "fmin",  "fmod",      "hypot", "ldexp",
    "lgamma",   "log",   "log10", "log1p", "log2", "logb",  "nearbyint", "pow",   "remainder",
    "rint",     "round", "sin",   "sinh",  "sqrt", "tan",   "tanh",      "trunc"};

llvm::SmallVector<llvm::CallBase*> calls_of(llvm::Function& parent, const Request& request) {
  llvm::SmallVector<llvm::CallBase*> out;
  llvm::DominatorTree dominators(parent);
  llvm::LoopInfo loops(dominators);
  const llvm::Loop* loop = find_loop(loops, request);
  if (loop == nullptr) return out;
  for (llvm::BasicBlock* block : loop->blocks())
    for (llvm::Instruction& i : *block)
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&i); call && !llvm::isa<llvm::IntrinsicInst>(call))
        out.push_back(call);
  return out;
}

void find_cycle(llvm::Function& f, std::vector<llvm::Function*>& path, std::set<llvm::Function*>& done,
                const llvm::CallBase& from) {
  if (const auto seen = std::ranges::find(path, &f); seen != path.end())
    throw Refused{{at(&from, "loop-recursion",
                      fmt::format("the nest calls '{}', which calls itself", f.getName().str()),
                      "write the recursion as a loop with a bound: a kernel's threads have small stacks")}};
  if (f.isDeclaration() || !done.insert(&f).second) return;
  path.push_back(&f);
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&i); call && call->getCalledFunction())
        find_cycle(*call->getCalledFunction(), path, done, *call);
  path.pop_back();
}

void refuse_unknown(const llvm::CallBase& call) {
  if (call.isInlineAsm())
    throw Refused{{at(&call, "loop-call", "the nest has assembly language in it", "write it in C")}};
  const llvm::Function* f = call.getCalledFunction();
  if (f == nullptr)
    throw Refused{{at(&call, "loop-call", "the nest calls a function through a pointer",
                      "call the function by its name, or choose with if or switch")}};
  const std::string name = f->getName().str();
  if (!f->isDeclaration() || !device_function(name).empty()) return;
  throw Refused{
      {at(&call, "loop-call", fmt::format("the nest calls '{}', whose source is not in this file", name),
          "move it out of the nest, or bring its source into the file (#include \"other.c\"); of the C "
          "library, mathematics is known")}};
}

}  // namespace

std::string device_function(llvm::StringRef name) {
  for (const llvm::StringRef suffix : {"", "f"}) {
    if (!name.ends_with(suffix)) continue;
    const llvm::StringRef stem = name.drop_back(suffix.size());
    if (std::ranges::find(mathematics, stem) != mathematics.end()) return fmt::format("__nv_{}", name.str());
  }
  if (name == "abs" || name == "labs" || name == "llabs") return name == "abs" ? "__nv_abs" : "__nv_llabs";
  return {};
}

std::string library_name(const llvm::CallBase& call) {
  const llvm::Function* f = call.getCalledFunction();
  if (f == nullptr) return {};
  llvm::StringRef name = f->getName();
  if (!name.consume_front("llvm.")) return name.str();
  const llvm::StringRef stem = name.split('.').first;
  if (!call.getType()->isFloatTy() && !call.getType()->isDoubleTy()) return {};
  for (const llvm::StringRef by_instruction : {"sqrt", "fabs", "fma", "fmuladd", "floor", "ceil", "trunc",
                                               "rint", "nearbyint", "minnum", "maxnum", "copysign", "round"})
    if (stem == by_instruction) return {};
  const std::string out = stem.str() + (call.getType()->isFloatTy() ? "f" : "");
  return device_function(out).empty() ? std::string() : out;
}

void refuse_recursion(llvm::Function& parent, const Request& request) {
  for (llvm::CallBase* call : calls_of(parent, request)) {
    refuse_unknown(*call);
    std::vector<llvm::Function*> path;
    std::set<llvm::Function*> done;
    find_cycle(*call->getCalledFunction(), path, done, *call);
  }
}

std::vector<std::string> inline_calls(llvm::Function& parent, const Request& request, Analyses& analyses) {
  std::vector<std::string> names;
  for (unsigned n = 0; n < max_inlined; ++n) {
    llvm::CallBase* next = nullptr;
    for (llvm::CallBase* call : calls_of(parent, request)) {
      refuse_unknown(*call);
      if (!call->getCalledFunction()->isDeclaration()) next = call;
    }
    if (next == nullptr) return names;
    const std::string name = next->getCalledFunction()->getName().str();
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    llvm::InlineFunctionInfo info;
    const Refusal failed =
        at(next, "loop-call", fmt::format("the call of '{}' can't be replaced by its body", name),
           "no variable arguments, no setjmp");
    if (!llvm::InlineFunction(*next, info).isSuccess()) throw Refused{{failed}};
    analyses.functions.invalidate(parent, llvm::PreservedAnalyses::none());
  }
  Refusal r{"loop-call",
            "the nest calls too many functions",
            "choose a smaller nest",
            request.file,
            request.line,
            1};
  throw Refused{{r}};
}

}  // namespace simtlab::models::loops
