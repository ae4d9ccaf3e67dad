// Control information: on every way through a program each result is there when it is read.
#include "assembler/control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assembler/control_effects.h"
#include "random_instructions.h"

namespace simtlab::assembler {
namespace {

using machine::ResultSource;
using testing::number_operands;
using testing::RandomProgram;

// Goes along a program as a lane does, and says what is read too early or overwritten too early. The rules
// are those of exec/delays.h.
class Walker {
 public:
  explicit Walker(const Program& program) : program_(program) {
    for (const Block& block : program.blocks)
      for (const Instruction& i : block.code)
        if (i.target != none) labels_.insert(i.target);
  }

  std::string walk(std::uint64_t choices, unsigned most_blocks) {
    std::uint32_t b = 0;
    for (unsigned k = 0; k < most_blocks && b != none; ++k) {
      std::uint32_t to = program_.blocks[b].next;
      for (const Instruction& i : program_.blocks[b].code) {
        step(i);
        if (!problem_.empty()) return problem_ + " in " + text_of(program_);
        if (i.target == none || (i.guarded() && (choices >> k & 1u) == 0)) continue;
        to = i.target;
        break;
      }
      if (labels_.contains(to)) arrive(to);
      if (!problem_.empty()) return problem_ + " in " + text_of(program_);
      b = to;
    }
    return {};
  }

 private:
  struct Result {
    ResultSource source = ResultSource::alu;
    std::uint8_t scoreboard = 7;
    unsigned age = 0;
    std::uint32_t line = 0;
  };
  struct Operand {
    std::uint8_t read_scoreboard = 7, write_scoreboard = 7;
    std::uint32_t line = 0;
  };

  // On Hopper, ptxas lets no block begin before what is under way is there for any reader.
  void arrive(std::uint32_t block) {
    if (program_.generation < 90) return;
    for (const auto& [place, result] : results_) {
      if (result.source == ResultSource::variable || place >= place_count) continue;
      const bool predicate = place >= predicate_places;
      if (result.age < (predicate ? 13u : 7u) && problem_.empty())
        problem_ = "block " + std::to_string(block) + " begins too early for " + std::to_string(result.line);
    }
  }

  void step(const Instruction& i) {
    const machine::Control& control = i.code.control;
    wait(control.wait_mask);
    Instruction plain = i;
    plain.code.control = {};
    const Effects effects = effects_of(plain);
    for (const Effects::Read& read : effects.reads()) {
      const auto r = results_.find(read.place);
      if (r == results_.end()) continue;
      if (r->second.source == ResultSource::variable)
        complain(i, "reads without waiting", r->second.line);
      else if (r->second.age < latency(read.place, r->second.source, read.reader))
        complain(i, "reads too early", r->second.line);
    }
    for (const Effects::Write& write : effects.writes()) {
      if (const auto r = results_.find(write.place);
          r != results_.end() && r->second.source == ResultSource::variable)
        complain(i, "overwrites a late result", r->second.line);
      if (const auto o = operands_.find(write.place); o != operands_.end())
        complain(i, "overwrites an operand", o->second.line);
    }
    for (std::size_t k = 0; k < effects.writes().size(); ++k) {
      const Effects::Write& write = effects.writes()[k];
      const ResultSource source = machine::source_of(i.code, k > 0);
      if (source == ResultSource::variable && control.write_barrier > 5)
        complain(i, "sets no scoreboard", i.line);
      results_[write.place] = {source, control.write_barrier, 0, i.line};
    }
    if (effects.late)
      for (const Effects::Read& read : effects.reads()) {
        const bool own =
            std::ranges::any_of(effects.writes(), [&](const auto& w) { return w.place == read.place; });
        if (may_be_read_late(read.place) && !own)
          operands_[read.place] = {control.read_barrier, control.write_barrier, i.line};
      }
    EXPECT_GE(control.stall, 1u);
    for (auto& [place, result] : results_) result.age += control.stall;
  }

  void wait(unsigned mask) {
    const auto waited = [&](std::uint8_t scoreboard) {
      return scoreboard < 6 && (mask >> scoreboard & 1u) != 0;
    };
    std::erase_if(results_, [&](const auto& entry) {
      const Result& r = entry.second;
      return (r.source == ResultSource::variable && waited(r.scoreboard) && r.age >= 2) ||
             (r.source != ResultSource::variable && r.age >= machine::longest_latency);
    });
    std::erase_if(operands_, [&](const auto& entry) {
      return waited(entry.second.read_scoreboard) || waited(entry.second.write_scoreboard);
    });
  }

  unsigned latency(Place place, ResultSource source, machine::ResultReader reader) const {
    return place >= predicate_places ? machine::predicate_latency(program_.generation, source, reader)
                                     : machine::register_latency(program_.generation, source, reader);
  }

  void complain(const Instruction& i, const std::string& what, std::uint32_t line) {
    if (problem_.empty())
      problem_ = std::to_string(i.line) + " " + std::string(i.code.mnemonic()) + " " + what + ": " +
                 std::to_string(line);
  }

  const Program& program_;
  std::map<Place, Result> results_;
  std::map<Place, Operand> operands_;
  std::set<std::uint32_t> labels_;  // blocks that branches lead to
  std::string problem_;
};

class Control : public ::testing::TestWithParam<unsigned> {};

TEST_P(Control, EachResultIsThereOnEveryWay) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Program program = RandomProgram(GetParam(), seed).make(5, 14, seed % 2 != 0);
    number_operands(program);
    set_control(program);
    for (std::uint64_t way = 0; way < 24; ++way)
      ASSERT_EQ(Walker(program).walk(way * 0x9e3779b97f4a7c15ull >> 7, 20), "") << "seed " << seed;
  }
}

TEST_P(Control, IsTheSameEachTime) {
  Program program = RandomProgram(GetParam(), 7).make(6, 30);
  number_operands(program);
  Program again = program;
  set_control(program);
  set_control(again);
  set_control(again);
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t n = 0; n < program.blocks[b].code.size(); ++n)
      EXPECT_EQ(program.blocks[b].code[n].code.control, again.blocks[b].code[n].code.control);
}

INSTANTIATE_TEST_SUITE_P(Generations, Control, ::testing::Values(70u, 75u, 80u, 86u, 89u, 90u));

// A program of one block, made by hand.
struct OneBlock {
  Program program;
  Builder builder;
  explicit OneBlock(unsigned generation) : builder(program, generation) {
    program.generation = generation;
    program.blocks.resize(1);
    builder.start(0);
  }
  Ref reg(std::uint8_t number, std::uint8_t width = 1) {
    return {.reg = program.add({.file = File::general, .width = width, .fixed = number}),
            .part = 0,
            .count = width};
  }
  std::vector<machine::Control> control() {
    builder.emit("EXIT", {}, {});
    number_operands(program);
    set_control(program);
    std::vector<machine::Control> out;
    for (const Instruction& i : program.blocks[0].code) out.push_back(i.code.control);
    return out;
  }
};

TEST(ControlOf, FixedLatenciesBecomeStallCounts) {
  OneBlock b(86);
  const Ref x = b.reg(2), y = b.reg(3);
  b.builder.emit("FFMA", x, {value_of(y), value_of(y), value_of(y)});
  b.builder.emit("FFMA", y, {value_of(x), value_of(y), value_of(y)});
  b.builder.emit("IADD3", y, {value_of(y), value_of(x), zero()});
  const std::vector<machine::Control> c = b.control();
  EXPECT_EQ(c[0].stall, 4);
  EXPECT_TRUE(c[0].yield);
  EXPECT_EQ(c[1].stall, 5);
  EXPECT_EQ(c[2].stall, 1);
  EXPECT_EQ(c[3].stall, 5);  // EXIT
}

TEST(ControlOf, LoadsUsedTogetherShareAScoreboard) {
  OneBlock b(86);
  const Ref address = b.reg(2), p = b.reg(4), q = b.reg(5), r = b.reg(6);
  b.builder.access("LDS", p, address, 0, false, {}, {});
  b.builder.access("LDS", q, address, 4, false, {}, {});
  b.builder.access("LDS", r, address, 8, false, {}, {});
  b.builder.emit("FADD", p, {value_of(p), value_of(q)});
  b.builder.emit("FADD", p, {value_of(p), value_of(r)});
  const std::vector<machine::Control> c = b.control();
  EXPECT_EQ(c[0].write_barrier, c[1].write_barrier);
  EXPECT_NE(c[0].write_barrier, c[2].write_barrier);
  EXPECT_EQ(c[3].wait_mask, 1u << c[0].write_barrier);
  EXPECT_EQ(c[4].wait_mask, 1u << c[2].write_barrier);
  EXPECT_EQ(c[0].stall, 4);  // memory takes one every four cycles
  EXPECT_EQ(c[3].stall, 4);
}

TEST(ControlOf, OperandsThatAreOverwrittenHoldAScoreboard) {
  OneBlock b(80);
  const Ref address = b.reg(2), value = b.reg(4), other = b.reg(5);
  b.builder.access("STS", {}, address, 0, false, {value_of(value)}, {});
  b.builder.access("STS", {}, address, 4, false, {value_of(other)}, {});
  b.builder.emit("MOV", value, {number(7)});
  const std::vector<machine::Control> c = b.control();
  EXPECT_LT(c[0].read_barrier, 6);
  EXPECT_EQ(c[1].read_barrier, 7);
  EXPECT_EQ(c[2].wait_mask, 1u << c[0].read_barrier);
}

TEST(ControlOf, WhatTheNextOneReadsInTheSamePlaceIsKept) {
  OneBlock b(86);
  const Ref x = b.reg(2), y = b.reg(3), d = b.reg(4), e = b.reg(5);
  b.builder.emit("FFMA", d, {value_of(x), value_of(y), value_of(d)});
  b.builder.emit("FFMA", e, {value_of(x), value_of(e), value_of(e)});
  b.builder.emit("MOV", x, {number(3)});
  const std::vector<machine::Control> c = b.control();
  EXPECT_EQ(c[0].reuse, 1);
  EXPECT_EQ(c[1].reuse, 0);
}

TEST(ControlOf, CachesForgetWhenAnAcquiringLoadIsDone) {
  OneBlock b(80);
  const Ref address = b.reg(2, 2), x = b.reg(4), y = b.reg(5);
  b.builder.access("LDG", x, address, 0, true, {}, {{"order", "STRONG.GPU"}});
  b.builder.access("LDG", y, address, 64, true, {}, {});
  b.builder.emit("CCTL", {}, {}, {{"op", "IVALL"}});
  const std::vector<machine::Control> c = b.control();
  EXPECT_EQ(c[2].wait_mask, 1u << c[0].write_barrier);
}

TEST(ControlOf, BranchesLeaveThePredicateTheTimeItTakes) {
  OneBlock b(75);
  const Ref x = b.reg(2);
  b.program.blocks.resize(2);
  const Ref p = {.reg = b.program.add({.file = File::predicate, .width = 1, .fixed = 0})};
  Instruction& compare = b.builder.emit("ISETP", {}, {value_of(x), number(1)}, {{"cmp", "GE"}});
  b.builder.set_result(compare, "Pd", p);
  // The first instruction of the next block reads it; the branch waits for that.
  b.builder.emit("BRA", {}, {}).target = 1;
  b.builder.start(1);
  b.builder.guard({p, false});
  b.builder.emit("MOV", x, {number(3)});
  b.builder.guard(always());
  b.program.blocks[0].next = none;
  const std::vector<machine::Control> c = b.control();
  EXPECT_EQ(c[0].stall + c[1].stall, 12);
}

// On Maxwell, Pascal and Hopper results are there for any reader when a block begins that branches lead to;
// on others for who reads them.
TEST(ControlOf, BlocksBeginWhenResultsAreThere) {
  for (const auto& [generation, cycles] : {std::pair{52u, 6}, {61u, 6}, {75u, 1}, {80u, 1}, {90u, 7}}) {
    OneBlock b(generation);
    const Ref x = b.reg(2), y = b.reg(3);
    b.program.blocks.resize(2);
    b.program.blocks[0].next = 1;
    b.builder.emit("MOV", x, {value_of(y)});
    b.builder.emit("MOV", b.reg(4), {value_of(y)});
    b.builder.start(1);
    b.builder.emit("BRA", {}, {}).target = 1;
    b.builder.start(1);
    const std::vector<machine::Control> c = b.control();
    EXPECT_EQ(c[1].stall, cycles) << generation;
  }
}

TEST(ControlOf, VotesWaitForTheirPredicateAsBranchesDo) {
  for (const auto& [generation, cycles] : {std::pair{75u, 12}, {80u, 13}, {90u, 13}}) {
    OneBlock b(generation);
    const Ref x = b.reg(2), y = b.reg(3);
    const Ref p = {.reg = b.program.add({.file = File::predicate, .width = 1, .fixed = 0})};
    Instruction& compare = b.builder.emit("ISETP", {}, {value_of(x), number(1)}, {{"cmp", "GE"}});
    b.builder.set_result(compare, "Pd", p);
    Instruction& vote = b.builder.emit("VOTE", y, {}, {{"mode", "ANY"}});
    b.builder.set_condition(vote, "Pa", {p, false});
    EXPECT_EQ(b.control()[0].stall, cycles) << "sm_" << generation;
  }
}

// A scoreboard is not all that keeps a reader behind a result of double precision.
TEST(ControlOf, DoublesAreWaitedForAsLongAsAFixedLatency) {
  struct Case {
    unsigned generation;
    int sum, comparison;  // cycles to a sum of it; from a comparison to who has it as guard
  };
  for (const Case& c : {Case{70, 8, 15}, {75, 8, 15}, {80, 6, 14}, {86, 6, 14}}) {
    OneBlock b(c.generation);
    const Ref x = b.reg(2, 2), y = b.reg(4, 2), z = b.reg(6, 2);
    const Ref p = {.reg = b.program.add({.file = File::predicate, .width = 1, .fixed = 0})};
    const auto wide = [](const Ref& r) {
      Value v = value_of(r);
      v.wide = true;
      return v;
    };
    b.builder.emit("DMUL", y, {wide(x), wide(x)});
    b.builder.emit("DMUL", z, {wide(y), wide(x)});
    Instruction& compare = b.builder.emit("DSETP", {}, {wide(x), wide(x)}, {{"cmp", "GE"}});
    b.builder.set_result(compare, "Pd", p);
    b.builder.guard({p, false});
    b.builder.emit("MOV", x, {number(3)});
    b.builder.guard(always());
    const std::vector<machine::Control> all = b.control();
    EXPECT_LT(all[0].write_barrier, 6);
    EXPECT_EQ(all[0].stall, c.sum) << "sm_" << c.generation;
    EXPECT_EQ(all[2].stall, c.comparison) << "sm_" << c.generation;
  }
}

TEST(ControlOf, ConstantsComeBehindSpecialRegistersOnHopper) {
  for (const auto& [generation, cycles] : {std::pair{86u, 1}, {90u, 7}}) {
    OneBlock b(generation);
    const Ref x = b.reg(2), y = b.reg(3);
    Instruction& read = b.builder.emit("S2R", x, {});
    read.code.operands[static_cast<std::size_t>(read.code.form->operand("sr"))].number = 0x21;
    b.builder.emit("LDC", y, {parameter(0x210)});
    EXPECT_EQ(b.control()[0].stall, cycles) << "sm_" << generation;
  }
}

TEST(ControlOf, BarriersComeBehindAccessesAndBeforeThem) {
  struct Case {
    unsigned generation;
    int before, behind, in_all;  // cycles from a store to it, to arithmetic and to a load behind it
  };
  for (const Case& c : {Case{70, 5, 5, 5}, {75, 4, 5, 5}, {80, 4, 1, 6}, {90, 1, 1, 6}}) {
    OneBlock b(c.generation);
    const Ref x = b.reg(2), y = b.reg(3), address = b.reg(4), z = b.reg(5);
    b.builder.access("STS", {}, address, 0, false, {value_of(x)}, {});
    Instruction& barrier =
        b.builder.emit("BAR", {}, {number(1), number(1)}, {{"mode", "SYNC"}, {"defer", ""}});
    b.builder.set_number(barrier, "bar", 0);
    b.builder.emit("MOV", y, {number(1)});
    b.builder.access("LDS", z, address, 0, false, {}, {});
    const std::vector<machine::Control> all = b.control();
    EXPECT_EQ(all[0].stall, c.before) << "sm_" << c.generation;
    EXPECT_EQ(all[1].stall, c.behind) << "sm_" << c.generation;
    EXPECT_GE(all[1].stall + all[2].stall, c.in_all) << "sm_" << c.generation;
  }
}

}  // namespace
}  // namespace simtlab::assembler
