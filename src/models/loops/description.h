// A sequential loop nest as simtlab-loops (llvm/) describes it: what the analysis works on. Indices are
// places in the lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace simtlab::models::loops {

// A place in a list, which is never negative where it is used.
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A tree of integer arithmetic of a given width.
struct Expression {
  enum class Op : unsigned char {
    constant,
    input,
    iteration,
    load,
    add,
    multiply,
    divide,
    signed_divide,
    remainder,
    signed_remainder,
    bit_and,
    bit_or,
    bit_xor,
    signed_max,
    signed_min,
    unsigned_max,
    unsigned_min,
    sign_extend,
    zero_extend,
    truncate,
    unknown
  };
  Op op = Op::unknown;
  unsigned bits = 64;
  // Constant; of input, iteration and load: index of the input, the loop, the access
  std::int64_t value = 0;
  std::vector<Expression> operands;  // iteration: start, step, ... (a polynomial of the loop's iteration)
  std::string text;                  // unknown: what it is
};

struct Condition {
  // "slt", ...; "and", "or" of `parts`; empty: nothing that can be evaluated
  std::string test;
  Expression a, b;
  std::vector<Condition> parts;
};

struct Input {
  // Type: a C declaration with @ for the name; empty if it can't be written down
  std::string name, type;
  bool pointer = false, real = false, is_restrict = false;
  unsigned bits = 64;
  std::string object;  // what it points to: global, local, heap or nothing that is known
  std::uint64_t object_bytes = 0;
};

struct Loop {
  int parent = -1;
  int level = -1;  // in the prefix of loops that can become threads; -1: stays a loop
  std::uint32_t line = 0, column = 0, block = 0;
  std::string name, type;  // of its variable; type: a C declaration with @ for the name
  bool counted = false;    // `trips` is known before the loop runs
  bool bounded = false;    // `most_trips` is
  Expression trips, most_trips;
};

struct Access {
  std::uint32_t line = 0, column = 0;
  bool store = false, real = false;
  unsigned bytes = 0;
  int input = -1;  // -1: memory of the thread itself
  int loop = -1;
  std::uint32_t block = 0;
  Expression offset;  // from the input, in bytes
};

struct Instruction {
  std::uint32_t id = 0, line = 0;
  std::vector<std::uint32_t> uses;
  unsigned words = 0;  // 32-bit registers of the result
  int op_class = -1;   // of device::op_class_names; -1: costs nothing
  double count = 0;
  int more_class = -1;  // what else a library function is made of
  double more = 0, flops = 0;
  int access = -1;
};

struct Block {
  int loop = -1;
  std::vector<std::uint32_t> successors;
  bool conditional = false;
  Condition condition;  // true: the first successor
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> outgoing;  // values that are needed after it
};

// A pair of accesses that LLVM's dependence analysis could not prove independent.
struct Dependence {
  int a = 0, b = 0;
  bool confused = false;             // nothing is known
  std::vector<unsigned> directions;  // of the loops around both, outermost first: 1 <, 2 =, 4 >
};

// A variable of the function whose value the compiler put in its place: a constant, or another variable.
struct Variable {
  std::string name, type, value;
};

struct Description {
  std::string function, file;
  std::uint32_t line = 0, column = 0;
  std::vector<std::string> inlined;
  std::vector<Input> inputs;
  std::vector<Loop> loops;
  std::vector<Access> accesses;
  std::vector<Block> blocks;
  std::vector<Dependence> dependences;
  std::vector<Variable> variables;

  // Loops that can become threads as far as their form goes, outermost first.
  std::vector<int> prefix() const;
  SourcePos at(const Access& access) const { return {file, access.line, access.column}; }
  SourcePos at(const Loop& loop) const { return {file, loop.line, loop.column}; }
  bool inside(int loop, int outer) const;  // loop is `outer` or in it
};

// Throws Error(bad_input) with the tool's refusals, or Error(failure, "loops-tool") for what is no
// description.
Description parse_description(std::string_view json);

}  // namespace simtlab::models::loops
