// How many cycles the result of an instruction of fixed latency takes until another instruction may read it.
//
// The hardware does not check this: stall counts of the code between the two must add up to it. The numbers
// are what the vendor's compiler leaves at least, by who writes and who reads.
#pragma once

#include <cstdint>

#include "machine/instruction.h"

namespace simtlab::machine {

// Who writes.
enum class ResultSource : std::uint8_t {
  alu,  // also predicates of comparisons
  fma,
  wide_low,  // IMAD.WIDE, its low register
  wide_high,
  half,
  half_pair,  // HFMA2.MMA
  fp64,
  dispatch_64,  // CS2R of 64 bits
  uniform,
  uniform_move,  // ULDC, UMOV, VOTEU
  variable,      // a scoreboard says when
  count_
};

// Who reads. guard: a predicate that decides whether an instruction is executed, or a branch taken.
enum class ResultReader : std::uint8_t {
  alu,
  fma,
  wide,
  half,
  fp64,
  variable,
  memory,
  uniform,
  guard,
  count_
};

// A unit that takes its instructions one after another: what a later one has done, the earlier ones have. So
// the assembler gives a scoreboard to the last of several loads alone.
enum class InOrder : std::uint8_t { none, global, shared, special, count_ };
InOrder unit_of(const Instruction& instruction);

// IMAD.WIDE and IMAD.HI. They hold the multipliers for as long as two other products: from sm_70 to sm_90
// ptxas leaves 4 cycles behind them to the next instruction for the multipliers, behind others 2
// (tools/stall_distances.py --pairs).
bool is_wide_product(const Instruction& instruction);

// Scoreboards that DEPBAR waits for, beside those of its control information.
unsigned waited_scoreboards(const Instruction& instruction);

// DEPBAR.LE waits until no more than so many instructions hold a scoreboard. The first ones let go of it
// first.
struct PartialWait {
  static constexpr std::uint8_t nothing = 7;
  std::uint8_t scoreboard = nothing, left = 0;
};
PartialWait partial_wait(const Instruction& instruction);

ResultSource source_of(const Instruction& instruction, bool second_register);
ResultReader reader_of(const Instruction& instruction);
// Of a predicate that is an operand. Branches and votes wait for it as if it guarded them.
ResultReader predicate_reader_of(const Instruction& instruction);

// From issue to issue. ResultSource::variable: 1, since only its scoreboard tells.
unsigned register_latency(unsigned generation, ResultSource writer, ResultReader reader);
unsigned predicate_latency(unsigned generation, ResultSource writer, ResultReader reader);
unsigned uniform_latency(ResultSource writer, ResultReader reader);  // uniform registers and predicates

inline constexpr unsigned longest_latency = 16;

}  // namespace simtlab::machine
