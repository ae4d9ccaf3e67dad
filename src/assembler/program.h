// A kernel in the making: machine instructions of one generation over registers that have no numbers yet.
//
// select() makes it from PTX, later steps change it in place: convergence barriers, order, registers, control
// information; then it is encoded. Each step leaves a program that means the same.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/instruction.h"
#include "ptx/inst.h"

namespace simtlab::assembler {

inline constexpr std::uint32_t none = 0xffffffffu;

// uniform, uniform_predicate: those of a warp, from Turing on.
enum class File : std::uint8_t { general, predicate, uniform, uniform_predicate };

constexpr bool is_uniform(File file) { return file >= File::uniform; }
constexpr bool holds_predicates(File file) {
  return file == File::predicate || file == File::uniform_predicate;
}

// Thrown by a step that meets what is not done yet. The kernel stays PTX.
struct GivenUp {
  std::string why;
};

// A register without a number: `width` (1, 2 or 4) registers of 32 bits side by side, the first one at a
// multiple of the width; or a predicate, of width 1. Any part may be written by itself, any number of times.
struct Register {
  static constexpr std::uint8_t anywhere = 0xff;
  File file = File::general;
  std::uint8_t width = 1;
  // The number that it must get: arguments of calls of the driver. After allocation: that it has.
  std::uint8_t fixed = anywhere;
  // The first of two factors that are the same for all lanes; an instruction reads one uniform register.
  bool first_factor = false;
};

// What an operand reads or writes: `count` registers of `reg` from its part `part` on. reg none: the operand
// names no register without a number, and its machine::Operand stands as it is (RZ, PT, numbers).
struct Ref {
  std::uint32_t reg = none;
  std::uint8_t part = 0, count = 1;
  bool operator==(const Ref&) const = default;
  explicit operator bool() const { return reg != none; }
};

struct Instruction {
  // Numbers of operands (and Operand::base of addresses) that have a Ref mean nothing before allocation.
  machine::Instruction code;
  // One for each operand of the form; of addresses and of constants with an index: the register in them.
  std::array<Ref, machine::max_operands> refs{};
  std::uint16_t writes = 0;     // bit i: operand i is a result
  Ref guard;                    // a predicate; none: code.guard stands
  Ref beside;                   // the uniform register of its address, beside that of the thread
  std::uint32_t target = none;  // BRA, BSSY, SSY: a block; of SYNC that stands for a branch: where that leads
  std::uint32_t barrier = none;  // BSSY, BSYNC, BREAK: a convergence barrier without a number
  std::uint32_t address = none;  // the immediate is Program::addresses[address] (its low or high half)
  bool copy = false;     // a MOV (or PLOP3 of predicates) that only moves a value: operand 0 = operand 1
  bool remakes = false;  // a value that can be computed again anywhere: a number, a parameter, a launch value
  std::uint32_t line = 0;                   // in the PTX text
  std::uint32_t file = 0, source_line = 0;  // as ptx::Inst

  bool is_write(std::size_t operand) const { return (writes >> operand & 1u) != 0; }
  bool guarded() const { return bool(guard) || !code.always(); }
};

// Straight code. It goes on at `next` unless its last instruction leaves always; a guarded BRA at its end (at
// most one) goes elsewhere for some lanes. next none: the last instruction is an EXIT, or an unguarded BRA.
struct Block {
  std::vector<Instruction> code;
  std::uint32_t next = none;
  unsigned depth = 0;  // loops around it
  // Lanes of a warp may come here at different times: not all that are left run it together. converge()
  // finds out.
  bool apart = true;
};

// Blocks in loops count for as many turns.
constexpr std::uint64_t turns_of(const Block& block) {
  constexpr unsigned deepest = 5, turns_log2 = 3;
  return std::uint64_t{1} << turns_log2 * (block.depth < deepest ? block.depth : deepest);
}

// From Volta on a thread has a program counter of its own, in two registers that no instruction names. Those
// that a thread has, and the limits of a kernel, count them: ptxas says 32 where R29 is the last one.
constexpr std::uint32_t place_registers(unsigned generation) { return generation < 70 ? 0 : 2; }

// R1 holds the begin of the frame; allocation sees to it.
struct Program {
  unsigned generation = 0;
  std::vector<Register> registers;
  std::vector<Block> blocks;   // in the order of the code; the first one is the entry
  std::uint32_t barriers = 0;  // convergence barriers that instructions name
  std::vector<ptx::Constant> addresses;
  std::vector<std::uint64_t> literals;  // constant bank 2
  std::uint32_t frame_bytes = 0;        // local memory a thread, spilled registers included
  std::uint32_t spilled = 0;            // bytes a thread
  std::uint32_t most_registers = 253;   // that allocation may use, place_registers left out
  std::uint32_t used_registers = 0;     // after allocation, likewise

  std::uint32_t add(Register r) {
    registers.push_back(r);
    return static_cast<std::uint32_t>(registers.size() - 1);
  }
};

// Blocks that may follow: the target of the branch at its end, then the next one.
std::vector<std::uint32_t> successors(const Program& program, std::uint32_t block);

// For people: one instruction a line, registers without numbers as %3.1.
std::string text_of(const Program& program);

// What an instruction reads and writes, one by one: f(Ref, bool writes). Guards and addresses are read.
template <class F>
void for_each_ref(const Instruction& instruction, const F& f) {
  for (std::size_t i = 0; i < instruction.code.operand_count(); ++i)
    if (instruction.refs[i]) f(instruction.refs[i], instruction.is_write(i));
  if (instruction.guard) f(instruction.guard, false);
  if (instruction.beside) f(instruction.beside, false);
}

}  // namespace simtlab::assembler
