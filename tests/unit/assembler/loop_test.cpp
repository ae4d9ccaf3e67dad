// Steps that spare instructions of loops: copies, values that do not change, variables that are changed in
// place.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/clean.h"
#include "assembler/forward.h"
#include "assembler/hoist.h"
#include "assembler/predicate.h"
#include "assembler/recompute.h"
#include "assembler/schedule_live.h"
#include "assembler/split.h"
#include "assembler/step_products.h"
#include "assembler/update.h"
#include "random_program.h"

namespace simtlab::assembler {
namespace {

template <class F>
void expect_same_after(const F& step) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    // Some with few values, so that numbers find room in registers.
    const bool few = seed >= 150;
    const Program before = tests::random_program(seed, {.instructions = few ? 240u : 120u,
                                                        .values = few ? 4u : 12u,
                                                        .vectors = !few && seed % 3 != 0,
                                                        .fixed = seed % 4 == 0});
    Program after = before;
    step(after);
    for (std::uint64_t way = 0; way < 3; ++way) {
      std::vector<std::uint64_t> wanted = tests::run(before, false, way, 2000),
                                 got = tests::run(after, false, way, 8000);
      ASSERT_GE(got.size(), wanted.size());
      got.resize(wanted.size());
      ASSERT_EQ(got, wanted);
    }
  }
}

TEST(ForwardCopies, RandomProgramsMeanTheSame) { expect_same_after(forward_copies); }
TEST(Hoist, RandomProgramsMeanTheSame) { expect_same_after(hoist); }
TEST(SplitRegisters, RandomProgramsMeanTheSame) { expect_same_after(split_registers); }
TEST(Recompute, RandomProgramsMeanTheSame) {
  expect_same_after([](Program& program) { recompute(program, 2); });
}
TEST(Predicate, RandomProgramsMeanTheSame) { expect_same_after(predicate); }
TEST(UpdateInPlace, RandomProgramsMeanTheSame) { expect_same_after(update_in_place); }

TEST(ComputeStepsInLoops, RandomProgramsMeanTheSame) { expect_same_after(compute_steps_in_loops); }

// Block 0, then a loop of block 1, then block 2.
class LoopOfOneBlock : public ::testing::Test {
 protected:
  LoopOfOneBlock() {
    program_.generation = 80;
    program_.blocks.resize(3);
    program_.blocks[1].depth = 1;
    program_.blocks[0].next = 1;
    program_.blocks[1].next = 2;
    b_.start(0);
    base_ = b_.new_register(2);
    b_.move(base_, parameter(0x160, true));
    counter_ = b_.new_register();
    b_.move(counter_, number(0));
    b_.start(1);
  }
  Ref computed(std::string_view name, std::initializer_list<Value> sources) {
    const Ref d = b_.new_register();
    b_.emit(name, d, sources);
    return d;
  }
  void store(Ref value) { b_.access("STG", {}, base_, 0, true, {value_of(value)}, {}); }
  // Goes round while the value is less than a parameter.
  void turn(Ref value) { turn_if(is_less(value)); }
  Ref is_less(Ref value) {
    const Ref p = b_.new_predicate();
    b_.set_result(b_.emit("ISETP", {}, {value_of(value), parameter(0x168)}, {{"cmp", "LT"}}),
                  machine::Name("Pd"), p);
    return p;
  }
  void turn_if(Ref p) {
    b_.guard({p, false});
    b_.emit("BRA", {}, {}).target = 1;
    b_.guard(always());
    b_.start(2);
    b_.emit("EXIT", {}, {});
  }
  std::size_t count(std::size_t block, std::string_view mnemonic) const {
    std::size_t n = 0;
    for (const Instruction& i : program_.blocks[block].code) n += i.code.mnemonic() == mnemonic ? 1 : 0;
    return n;
  }

  Program program_;
  Builder b_{program_, 80};
  Ref base_, counter_;
};

// Else what edges between blocks make would live in all blocks of a cycle.
TEST_F(LoopOfOneBlock, WhatIsWrittenForTheWayOutLivesOnItAlone) {
  const Ref p = is_less(counter_), out = b_.new_register(), round = b_.new_register();
  b_.guard({p, true});
  b_.move(out, value_of(counter_));
  b_.guard({p, false});
  b_.move(round, value_of(counter_));
  turn_if(p);
  program_.blocks[2].code.clear();
  store(out);
  store(round);
  b_.emit("EXIT", {}, {});
  const LiveRegisters live(program_);
  EXPECT_FALSE(live.in(1, out.reg));
  EXPECT_TRUE(live.in(1, round.reg));
}

TEST_F(LoopOfOneBlock, ReadersOfACopyReadItsSource) {
  const Ref loaded = b_.new_register(), copy = b_.new_register();
  b_.access("LDG", loaded, base_, 0, true, {}, {});
  b_.move(copy, value_of(loaded));
  store(copy);
  turn(counter_);
  forward_copies(program_);
  clean(program_);
  EXPECT_EQ(count(1, "MOV"), 0u);
}

TEST_F(LoopOfOneBlock, ACopyOfWhatChangesLaterStays) {
  const Ref before = b_.new_register();
  b_.move(before, value_of(counter_));
  b_.emit("IADD3", counter_, {value_of(counter_), number(1), zero()});
  store(before);
  turn(counter_);
  forward_copies(program_);
  clean(program_);
  EXPECT_EQ(count(1, "MOV"), 1u);
}

TEST_F(LoopOfOneBlock, ReciprocalsOfOneDivisorAreMadeOnceInFrontOfIt) {
  for (unsigned k = 0; k < 2; ++k) {
    const Ref as_float = b_.new_register();
    b_.emit("I2F", as_float, {parameter(0x170)}, {});
    const Ref reciprocal = b_.new_register();
    b_.emit("MUFU", reciprocal, {value_of(as_float)}, {{"op", "RCP"}});
    store(computed("IADD3", {value_of(reciprocal), value_of(counter_), number(k)}));
  }
  b_.emit("IADD3", counter_, {value_of(counter_), number(1), zero()});
  turn(counter_);
  hoist(program_);
  ASSERT_EQ(program_.blocks.size(), 4u);
  EXPECT_EQ(count(1, "I2F"), 1u);
  EXPECT_EQ(count(1, "MUFU"), 1u);
  EXPECT_EQ(count(2, "I2F") + count(2, "MUFU"), 0u);
  EXPECT_EQ(count(2, "IADD3"), 3u);
}

// Block 0, a loop of blocks 1 to 3, in it one of block 2, then block 4: each reads four times n from
// registers of its own, the inner one from two.
TEST(Hoist, AProductOfNestedLoopsIsInOneRegister) {
  Program program;
  Builder b{program, 80};
  program.generation = 80;
  program.blocks.resize(5);
  for (std::uint32_t k = 0; k < 4; ++k) program.blocks[k].next = k + 1;
  for (const auto& [block, depth] : {std::pair(1, 1u), {2, 2u}, {3, 1u}})
    program.blocks[static_cast<std::size_t>(block)].depth = depth;
  b.start(0);
  const Ref n = b.new_register();
  b.move(n, parameter(0x170));
  const auto stores = [&](std::uint32_t block, unsigned times, std::uint32_t back) {
    b.start(block);
    for (unsigned k = 0; k < times; ++k) {
      const Ref four = b.new_register(), sum = b.new_register();
      b.emit("SHF", four, {value_of(n), number(2), zero()}, {{"dir", "L"}, {"type", "U32"}});
      b.emit("IADD3", sum, {value_of(four), parameter(0x170 + 8 * k), zero()});
      b.access("STG", {}, four, 0, false, {value_of(sum)}, {});
    }
    if (back == none) return;
    const Ref p = b.new_predicate();
    b.set_result(b.emit("ISETP", {}, {parameter(0x160), parameter(0x168)}, {{"cmp", "LT"}}),
                 machine::Name("Pd"), p);
    b.guard({p, false});
    b.emit("BRA", {}, {}).target = back;
    b.guard(always());
  };
  stores(1, 1, none);
  stores(2, 2, 2);
  stores(3, 0, 1);
  b.start(4);
  b.emit("EXIT", {}, {});
  hoist(program);
  std::vector<std::uint32_t> written;
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code)
      for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
        if (!i.refs[k]) continue;
        if (i.is_write(k))
          written.push_back(i.refs[k].reg);
        else
          EXPECT_NE(std::ranges::find(written, i.refs[k].reg), written.end()) << i.code.mnemonic();
      }
  std::size_t products = 0;
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code) products += i.code.mnemonic() == "SHF" ? 1 : 0;
  EXPECT_EQ(products, 1u);
}

// As ptxas does it: a number or a word of a bank is made in each round, an address is not.
TEST_F(LoopOfOneBlock, NumbersAreMadeInEachRoundAddressesInFrontOfIt) {
  const Ref four = b_.new_register(), word = b_.new_register(), address = b_.new_register(2);
  b_.move(four, number(4));
  b_.move(word, parameter(0x170));
  b_.move(address, parameter(0x178, true));
  store(four);
  store(word);
  b_.access("STG", {}, address, 0, true, {value_of(counter_)}, {});
  turn(counter_);
  hoist(program_);
  EXPECT_EQ(count(1, "MOV"), 2u) << "the address";
  EXPECT_EQ(count(2, "MOV"), 2u) << "the number and the word";
}

// A product of what the launch says, that one sum of the loop reads
TEST_F(LoopOfOneBlock, AStepThatIsAProductIsComputedInEachRound) {
  b_.start(0);
  const Ref blocks = b_.new_register();
  b_.move(blocks, parameter(0xc));
  const Ref step = computed("IMAD", {value_of(blocks), parameter(0), zero()});
  const Ref other = computed("IMAD", {value_of(counter_), parameter(0), zero()});
  b_.start(1);
  store(computed("IADD3", {value_of(counter_), value_of(other), zero()}));
  b_.emit("IADD3", counter_, {value_of(counter_), value_of(step), zero()});
  turn(counter_);
  compute_steps_in_loops(program_);
  EXPECT_EQ(count(0, "IMAD"), 1u);
  EXPECT_EQ(count(1, "IMAD"), 1u);
}

TEST_F(LoopOfOneBlock, NumbersStayWhereRegistersAreShort) {
  std::vector<Ref> loaded;
  for (unsigned k = 0; k < 30; ++k) {
    loaded.push_back(b_.new_register());
    b_.access("LDG", loaded.back(), base_, 4 * k, true, {}, {});
  }
  for (const Ref& r : loaded) store(r);
  const Ref one = b_.new_register();
  b_.move(one, number(7));
  store(one);
  turn(counter_);
  for (Instruction& i : program_.blocks[1].code) i.remakes = i.code.mnemonic() == "MOV";
  hoist(program_);
  EXPECT_EQ(count(2, "MOV"), 1u);
}

TEST_F(LoopOfOneBlock, ACounterIsChangedBehindItsLastReader) {
  const Ref next = b_.new_register();
  b_.emit("IADD3", next, {value_of(counter_), number(1), zero()});
  store(counter_);
  b_.move(counter_, value_of(next));
  turn(counter_);
  update_in_place(program_);
  EXPECT_EQ(count(1, "MOV"), 0u);
  EXPECT_EQ(program_.blocks[1].code[0].code.mnemonic(), "STG");
}

TEST_F(LoopOfOneBlock, WhatACounterWasIsReadBeforeItChanges) {
  const Ref before = b_.new_register();
  b_.move(before, value_of(counter_));
  b_.emit("IADD3", counter_, {value_of(counter_), number(1), zero()});
  store(before);
  turn(counter_);
  update_in_place(program_);
  clean(program_);
  EXPECT_EQ(count(1, "MOV"), 0u);
}

TEST_F(LoopOfOneBlock, ACounterIsNotChangedBehindWhatItsNewValueIsNeededFor) {
  const Ref next = b_.new_register(), loaded = b_.new_register();
  b_.emit("IADD3", next, {value_of(counter_), number(1), zero()});
  b_.access("LDG", loaded, next, 0, false, {}, {});
  store(computed("IADD3", {value_of(loaded), value_of(counter_), zero()}));
  b_.move(counter_, value_of(next));
  turn(counter_);
  update_in_place(program_);
  EXPECT_EQ(count(1, "MOV"), 1u);
}

// A product of two parameters, and what a thread knows of itself, behind a loop that does not read them.
TEST_F(LoopOfOneBlock, WhatLivesThroughItUnreadIsComputedAgainBehindIt) {
  b_.start(0);
  const Ref word = computed("MOV", {parameter(0x170)}),
            product = computed("IMAD", {value_of(word), parameter(0x174), zero()}),
            loaded = b_.new_register();
  b_.access("LDG", loaded, base_, 0, true, {}, {});
  b_.start(1);
  store(computed("IADD3", {value_of(counter_), number(1), zero()}));
  turn(counter_);
  program_.blocks[2].code.clear();
  store(product);
  store(loaded);
  b_.emit("EXIT", {}, {});
  Program enough = program_;
  recompute(enough, 20);
  EXPECT_EQ(enough.blocks[0].code.size(), program_.blocks[0].code.size());
  recompute(program_, 3);
  EXPECT_EQ(count(0, "IMAD") + count(1, "IMAD"), 0u);
  EXPECT_EQ(count(2, "IMAD"), 1u);
  EXPECT_EQ(program_.blocks[2].code[0].code.mnemonic(), "MOV");
  EXPECT_EQ(count(0, "LDG"), 1u) << "a load may find something else there";
}

TEST_F(LoopOfOneBlock, AnUpperWordThatIsZeroTakesNoRegister) {
  b_.start(0);
  const Ref wide = b_.new_register(2);
  b_.move({wide.reg, 0, 1}, value_of(counter_));
  b_.move({wide.reg, 1, 1}, zero());
  b_.start(1);
  store(computed("IADD3", {value_of({wide.reg, 0, 1}), number(1), zero()}));
  store(computed("IADD3", {value_of({wide.reg, 1, 1}), number(2), value_of(counter_)}));
  turn(counter_);
  split_registers(program_);
  clean(program_);
  EXPECT_EQ(program_.registers[wide.reg].width, 1u);
  const Instruction& sum = program_.blocks[1].code[2];
  EXPECT_FALSE(sum.refs[static_cast<std::size_t>(sum.code.form->operand("Ra"))]);
}

}  // namespace
}  // namespace simtlab::assembler
