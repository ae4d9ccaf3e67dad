// The loop nest as LLVM sees it: found by its line, made canonical, put into a function of its own.
//
// LLVM is used in this folder only, which is an executable beside simtlab (simtlab-loops). What it finds out
// leaves as JSON; what is done with that is in src/models/loops and needs no LLVM.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace simtlab::models::loops {

// Why a nest is not taken: one sentence and a remedy, at a place of the source.
struct Refusal {
  std::string id, message, hint, file;
  unsigned line = 0, column = 0;
};
// What several parts of the check find; thrown at once.
struct Refused {
  std::vector<Refusal> all;
};

struct Request {
  std::string file;          // of the source, as the debug information names it; empty: the module's own
  unsigned line = 0;         // of the loop
  bool first_after = false;  // the first loop at or after `line`: a pragma stands there
};

// A value that the nest takes from around it.
struct Input {
  std::string name;  // of the variable, where debug information has it
  std::string type;  // as C writes it; empty if unknown
  bool is_restrict = false;
  std::string object;  // what it points to if that is known: "global", "local", "heap", "" = unknown
  std::uint64_t object_bytes = 0;
};

// A variable of the function whose value at the nest is a constant or one of the inputs under another name.
struct Variable {
  std::string name, type, value;
};

struct Nest {
  std::unique_ptr<llvm::Module> module;  // the whole program
  llvm::Function* function = nullptr;    // the nest alone
  std::string parent;                    // the function that it was in
  std::string file;
  unsigned line = 0, column = 0;
  std::vector<Input> inputs;  // of the arguments of `function`
  std::vector<Variable> variables;
  std::vector<std::string> inlined;  // functions of the program that the nest calls
};

// Throws Refused.
Nest prepare(std::unique_ptr<llvm::Module> module, const Request& request);

// The C variable whose value this is; null if none is known.
const llvm::DILocalVariable* variable_of(llvm::Value* value);

// The place of an instruction, or of the next one that has a place.
Refusal at(const llvm::Instruction* where, std::string id, std::string message, std::string hint);
Refusal at(const llvm::Loop* loop, std::string id, std::string message, std::string hint);

}  // namespace simtlab::models::loops
