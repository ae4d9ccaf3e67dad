// What an instruction whose registers have numbers reads and writes, register by register, and how long that
// takes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "assembler/program.h"
#include "base/error.h"
#include "machine/latency.h"

namespace simtlab::assembler {

// A register or a predicate: R0 to R254, then P0 to P6, UR0 to UR62, UP0 to UP6; then registers without
// numbers.
using Place = std::uint32_t;
inline constexpr Place predicate_places = 256, uniform_places = 264, uniform_predicate_places = 328,
                       place_count = 336;
// The registers that a register without a number consists of.
inline constexpr Place registers_a_value = 4;
constexpr Place place_of_value(std::uint32_t reg, unsigned part) {
  return place_count + reg * registers_a_value + part;
}

struct Effects {
  struct Read {
    Place place = 0;
    machine::ResultReader reader = machine::ResultReader::alu;
  };
  struct Write {
    Place place = 0;
    machine::ResultSource source = machine::ResultSource::alu;
    std::uint8_t least = 1;  // cycles that its result takes at least, whoever reads it
    bool predicate = false;
    bool uniform = false;  // a register or predicate of the warp
  };
  // Its results need a scoreboard, and its registers are read some time after it has been issued.
  bool late = false;
  // It may leave what it writes as it was: it has a guard.
  bool partial = false;

  std::span<const Read> reads() const { return {reads_.data(), read_count_}; }
  std::span<const Write> writes() const { return {writes_.data(), write_count_}; }
  // Of the reads those that make an address of memory
  std::span<const Read> address() const { return reads().subspan(address_first_, address_count_); }
  // What has been read since there were so many reads is an address.
  std::size_t read_count() const { return read_count_; }
  void set_address(std::size_t first) {
    address_first_ = static_cast<std::uint8_t>(first);
    address_count_ = static_cast<std::uint8_t>(read_count_ - first);
  }
  void add_read(Place place, machine::ResultReader reader) {
    SIMTLAB_ASSERT(read_count_ < reads_.size(), "an instruction reads few registers");
    reads_[read_count_++] = {place, reader};
  }
  void add_write(const Write& write) {
    SIMTLAB_ASSERT(write_count_ < writes_.size(), "an instruction writes few registers");
    writes_[write_count_++] = write;
  }

 private:
  std::array<Read, 32> reads_{};
  std::array<Write, 16> writes_{};
  std::uint8_t read_count_ = 0, write_count_ = 0, address_first_ = 0, address_count_ = 0;
};

// Of an instruction without control information.
Effects effects_of(const Instruction& instruction);
// The same before registers have numbers: operands with a Ref are values, but for registers that must get a
// certain number.
Effects value_effects_of(const Program& program, const Instruction& instruction);

// Registers are read late by instructions that need a scoreboard; predicates and uniform registers never.
constexpr bool may_be_read_late(Place place) { return place < predicate_places; }

// Cycles from issue to issue until the reader gets what was written.
unsigned latency_of(unsigned generation, const Effects::Write& write, machine::ResultReader reader);
// ... until whoever reads it may come, which ptxas leaves before a block ends on Maxwell, Pascal and Hopper,
// as if it did not know what follows: in its code for 700 kernels registers are 6 and 7 cycles old at a
// block's begin, predicates 13, results of double precision 11 (Hopper). 0 on others: results are there when
// they are read.
unsigned settled_latency(unsigned generation, const Effects::Write& write);
// ... until another write of a fixed latency may follow, whose result then is the later one.
unsigned overwrite_latency(unsigned generation, const Effects::Write& first, const Effects::Write& second);

// A pipeline that takes an instruction every so many cycles. The assembler leaves as many between two.
enum class PipeKind : std::uint8_t {
  none,
  alu,
  fma,
  multiply,  // integers, where they have a pipeline beside that of FFMA
  half,
  fp64,
  special,
  memory,
  special_register,
  constant,
  dispatch,
  uniform,
  count_
};
struct PipeUse {
  PipeKind kind = PipeKind::none;
  std::uint8_t cycles = 1;
};
PipeUse pipe_of(const machine::Instruction& code);
// Another one that is taken meanwhile; none: of most.
PipeUse pipe_beside(const machine::Instruction& code);

// Whether both issue in one cycle on Maxwell and Pascal, if nothing else keeps them apart.
bool may_pair(const machine::Instruction& first, const machine::Instruction& second);

// Stall count at least, whatever comes next.
unsigned least_stall(const machine::Instruction& code);

// Without modifiers: "IMAD" of "IMAD.WIDE".
std::string_view base_mnemonic(const machine::Instruction& code);
bool is_one_of_names(std::string_view name, std::span<const std::string_view> names);
// It ends a block, or the lanes go apart or meet at it.
bool is_control_flow(std::string_view base);

// A scoreboard counts from the second cycle on: who waits right behind the instruction that sets it does not
// wait.
inline constexpr unsigned scoreboard_cycles = 2;
// Cycles from an instruction that sets a scoreboard for its result to one that waits for it, at least.
unsigned cycles_to_wait(const machine::Instruction& code);

// Of double precision from Volta to Ampere: ptxas leaves the cycles of a fixed latency
// (machine::register_latency, predicate_latency) before who waits for the scoreboard, in 28,000 of 28,100
// cases (sm_80).
bool has_fixed_latency_too(const machine::Instruction& code);

// Estimate of the cycles until a result that a scoreboard tells is there: where nothing is missed in caches.
unsigned expected_latency(const machine::Instruction& code);

}  // namespace simtlab::assembler
