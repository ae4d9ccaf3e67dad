// Machine code whose results come as late as its control information allows (Results::late).
//
// The executor computes the results of an instruction at once. The hardware does not: a result of fixed
// latency is there some cycles later, and the code counts them with its stall counts; another one is there
// when the scoreboard that it set has been waited for. Here a result is taken back after its instruction and
// delivered when a reader may count on it. Until then the register has its old value. Code whose control
// information has a gap, or whose instruction writes more registers than we believe, computes something else
// then, and Results::checked says where.
//
// Time is that of the lanes: each instruction advances it by its stall count, for the lanes that run. So a
// branch that goes the other way first does not hide a gap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/code.h"
#include "machine/latency.h"
#include "ptx/module.h"

namespace simtlab::exec {

struct Warp;
struct XInst;

// A register or a predicate of a warp: its row; predicates behind all rows.
using Place = std::uint16_t;
inline constexpr Place first_predicate_place = 0x8000;
inline constexpr std::uint8_t no_scoreboard = 7;

// What an instruction of machine code reads and writes, from the operations that it consists of.
struct DelayStep {
  struct Read {
    Place place = 0;
    machine::ResultReader reader = machine::ResultReader::alu;
  };
  struct Write {
    Place place = 0;
    machine::ResultSource source = machine::ResultSource::alu;
    bool with_operands = false;  // it is there when the operands have been read
  };
  std::vector<Read> reads;
  std::vector<Write> writes;
  std::uint8_t stall = 1, waits = 0;  // waits: scoreboards, a bit each
  machine::InOrder unit = machine::InOrder::none;
  std::uint8_t write_scoreboard = no_scoreboard, read_scoreboard = no_scoreboard;
  machine::PartialWait partial;
  bool reads_all = false;  // a call of the driver: its arguments are in registers
};

// Of a kernel; made at launch.
class DelayPlan {
 public:
  explicit DelayPlan(const ptx::Function& function);
  const DelayStep& operator[](std::uint32_t pc) const { return steps_[pc]; }
  unsigned generation() const { return code_.generation; }
  const machine::Instruction& instruction(std::uint32_t pc) const { return code_.instructions[pc]; }
  bool is_uniform(Place place) const;
  // Cycles until a reader gets the result.
  unsigned latency(Place place, machine::ResultSource source, machine::ResultReader reader) const;
  std::string name_of(Place place) const;  // "R4", "UP0"

 private:
  const machine::Code& code_;
  std::vector<DelayStep> steps_;
};

// Results of a warp that are under way, and operands that are still being read.
struct Delays {
  // Who is under way: where it is, its unit, and how many instructions were issued before it.
  struct Issued {
    std::uint32_t pc = 0;
    machine::InOrder unit = machine::InOrder::none;
    std::uint64_t serial = 0;
    bool operator==(const Issued& other) const { return pc == other.pc; }
  };
  struct Result {
    Place place = 0;
    machine::ResultSource source = machine::ResultSource::alu;
    std::uint8_t scoreboard = no_scoreboard;  // of ResultSource::variable
    bool delivered = false;                   // to a reader that waits less than others
    Issued by;
    std::uint32_t mask = 0;         // lanes
    std::uint32_t age = 0;          // cycles since issue
    std::uint32_t values[32] = {};  // a predicate: the first one
    bool operator==(const Result&) const = default;
  };
  struct Operand {
    Place place = 0;
    // That of its operands and that of its result: a result that is there was made of what had been read.
    std::uint8_t scoreboard = no_scoreboard, result = no_scoreboard;
    Issued by;
    std::uint32_t mask = 0;
    bool operator==(const Operand&) const = default;
  };
  std::vector<Result> results;    // in the order of issue
  std::vector<Operand> operands;  // of instructions with a read scoreboard
  std::uint64_t issued = 0;

  void clear() {
    results.clear();
    operands.clear();
    issued = 0;
  }
  // Whether they go on alike.
  bool operator==(const Delays& other) const {
    return results == other.results && operands == other.operands;
  }
};

}  // namespace simtlab::exec
