// Address and count expressions (LLVM's scalar evolution) as JSON trees.
//
// A node is a list whose first element names it, the second is its width in bits:
//   ["const", 64, 4]  ["arg", 32, 2]  ["iv", 64, LOOP, start, step, ...]  ["+", 64, a, b, ...]  ["*", ...]
//   ["/", ...] (unsigned)
//   ["smax" | "smin" | "umax" | "umin", ...]  ["sext" | "zext" | "trunc", 64, a]  ["unknown", 64, TEXT]
// "iv" is start + n * step (+ n(n-1)/2 * ... for polynomials), n the iteration of the loop, from 0.
#pragma once

#include <llvm/Analysis/ScalarEvolution.h>

#include <map>
#include <nlohmann/json.hpp>

namespace simtlab::models::loops {

using Json = nlohmann::json;

struct Numbering {
  std::map<const llvm::Loop*, unsigned> loops;
  std::map<const llvm::Value*, unsigned> accesses;  // loads: their values may be indices
};

Json to_json(const llvm::SCEV* expression, const Numbering& numbering, llvm::ScalarEvolution& evolution);
// Two expressions are compared: {"test": "slt", "a": ..., "b": ...}; null if the condition is nothing of that
// kind.
Json condition_to_json(llvm::Value* condition, const llvm::Loop* loop, const Numbering& numbering,
                       llvm::ScalarEvolution& evolution);

}  // namespace simtlab::models::loops
