// The stack of branches of Maxwell and Pascal, in barriers.
#include "machine/flow_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "machine/bundles.h"
#include "machine/decode.h"

namespace simtlab::machine {
namespace {

constexpr unsigned generation = 50;
constexpr std::uint64_t sync_word = 0xf0f800000007000full, exit_word = 0xe30000000007000full,
                        brk = 0xe34000000007000full,
                        if_p0 = 0x7ull << 16;  // the guard becomes P0

// What goes from one place to another; numbers of instructions.
std::uint64_t flow_word(std::uint64_t opcode, std::size_t from, std::size_t to) {
  const std::int64_t distance = address_in_file(generation, static_cast<std::int64_t>(to * word_bytes)) -
                                address_in_file(generation, static_cast<std::int64_t>(from * word_bytes)) -
                                std::int64_t{bundled_bytes};
  return opcode | (static_cast<std::uint64_t>(distance) & 0xffffffu) << 20;
}
std::uint64_t ssy(std::size_t from, std::size_t to) { return flow_word(0xe290000000000000ull, from, to); }
std::uint64_t pbk(std::size_t from, std::size_t to) { return flow_word(0xe2a0000000000000ull, from, to); }
std::uint64_t cal(std::size_t from, std::size_t to) { return flow_word(0xe260000000000040ull, from, to); }
std::uint64_t branch(std::size_t from, std::size_t to) { return flow_word(0xe24000000007000full, from, to); }
std::uint64_t pret(std::size_t from, std::size_t to) { return flow_word(0xe270000000000040ull, from, to); }
constexpr std::uint64_t ret = 0xe32000000007000full, jmx_r2 = 0xe20000000007020full,
                        brx_r2 = 0xe25000000007020full;

FlowStack stack_of(const std::vector<std::uint64_t>& words, const BranchTable& branches = {},
                   const std::vector<std::uint32_t>& functions = {}) {
  std::vector<Instruction> code;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto decoded =
        decode(Forms::shipped(), generation, Word{words[i], 0}, static_cast<std::uint32_t>(i * word_bytes));
    if (const auto* undecoded = std::get_if<Undecoded>(&decoded))
      ADD_FAILURE() << "word " << i << ": " << undecoded->reason;
    else
      code.push_back(std::get<Instruction>(decoded));
  }
  return find_flow_stack(code, branches, functions, "k");
}
std::string error_of(const std::vector<std::uint64_t>& words,
                     const std::vector<std::uint32_t>& functions = {}) {
  try {
    stack_of(words, {}, functions);
  } catch (const Error& error) { return error.format(); }
  return "";
}

TEST(FlowStack, CodeWithoutOneNeedsNone) { EXPECT_TRUE(stack_of({exit_word}).effects.empty()); }

TEST(FlowStack, DepthsAreBarriers) {
  const FlowStack stack = stack_of({ssy(0, 4), ssy(1, 3), sync_word, sync_word, exit_word});
  EXPECT_EQ(stack.effects[0].barrier, 0);
  EXPECT_EQ(stack.effects[1].barrier, 1);
  EXPECT_EQ(stack.effects[2].barrier, 1);
  EXPECT_EQ(stack.effects[2].target, std::int64_t{3 * word_bytes});
  EXPECT_EQ(stack.effects[3].barrier, 0);
  EXPECT_EQ(stack.effects[3].target, std::int64_t{4 * word_bytes});
}

TEST(FlowStack, ABreakLeavesWhatIsPushedBehindItsPlace) {
  const FlowStack stack = stack_of({pbk(0, 3), ssy(1, 3), brk, exit_word});
  EXPECT_EQ(stack.effects[2].barrier, 0);
  EXPECT_EQ(stack.effects[2].leaves, 1);
}

// One way has pushed a place that nobody takes.
TEST(FlowStack, WaysMayDifferInWhatIsLeft) {
  const FlowStack stack = stack_of({pbk(0, 4), branch(1, 3) & ~if_p0, ssy(2, 4), brk, exit_word});
  EXPECT_EQ(stack.effects[3].barrier, 0);
  EXPECT_EQ(stack.effects[3].leaves, 1);
}

TEST(FlowStack, WaysMustNotDifferInWhatIsTaken) {
  EXPECT_THAT(error_of({ssy(0, 4), branch(1, 3) & ~if_p0, ssy(2, 4), sync_word, exit_word}),
              testing::HasSubstr("takes another place from the stack of branches by another way"));
  EXPECT_THAT(error_of({sync_word, exit_word}), testing::HasSubstr("nothing was pushed for it"));
}

TEST(FlowStack, AFunctionBeginsWithBarriersOfItsOwn) {
  const FlowStack stack = stack_of({ssy(0, 3), cal(1, 4), sync_word, exit_word, ssy(4, 6), sync_word, ret});
  EXPECT_EQ(stack.effects[1].barrier, 1);  // in use
  EXPECT_EQ(stack.effects[4].barrier, 0);
  EXPECT_EQ(stack.effects[6].leaves, 0);
  EXPECT_THAT(error_of({cal(0, 0), ret}), testing::HasSubstr("belongs to two functions"));
  EXPECT_THAT(error_of({ret}), testing::HasSubstr("returns from the kernel itself"));
}

TEST(FlowStack, AReturnLeavesWhatItsFunctionHasPushed) {
  const FlowStack stack = stack_of({cal(0, 2), exit_word, pbk(2, 6), ssy(3, 6), ret & ~if_p0, ret, ret});
  EXPECT_EQ(stack.effects[4].leaves, 2);
}

TEST(FlowStack, FunctionsMayCallThemselves) {
  const FlowStack stack = stack_of({cal(0, 2), exit_word, ssy(2, 5), cal(3, 2), sync_word, ret});
  EXPECT_EQ(stack.effects[0].barrier, 0);
  EXPECT_EQ(stack.effects[3].barrier, 1);
}

TEST(FlowStack, APlaceToReturnToStandsBeforeACallByARegister) {
  const FlowStack stack =
      stack_of({ssy(0, 4), pret(1, 3), brx_r2, sync_word, exit_word, ssy(5, 6), ret}, {}, {5});
  EXPECT_EQ(stack.effects[1].barrier, 1);
  EXPECT_EQ(stack.effects[1].target, std::int64_t{3 * word_bytes});
  EXPECT_TRUE(stack.effects[2].calls);
  EXPECT_EQ(stack.effects[5].barrier, 0);
  EXPECT_EQ(stack.effects[6].leaves, 1);
  EXPECT_TRUE(stack_of({pret(0, 2), jmx_r2, exit_word}).effects[1].calls);
  EXPECT_THAT(error_of({pret(0, 2), brx_r2, exit_word}),
              testing::HasSubstr("the file does not say where functions begin"));
  EXPECT_THAT(error_of({pret(0, 2), exit_word, exit_word}, {2}),
              testing::HasSubstr("no JMX or BRX is behind it"));
}

// Each function calls the next one so often; the last one only returns.
std::vector<std::uint64_t> nested_calls(std::size_t functions, std::size_t calls) {
  std::vector<std::uint64_t> code = {cal(0, 2), exit_word};
  for (std::size_t f = 0; f < functions; ++f) {
    const std::size_t begin = code.size(), next = begin + calls + 1;
    for (std::size_t k = 0; k < calls && f + 1 < functions; ++k) code.push_back(cal(code.size(), next));
    code.push_back(ret);
  }
  return code;
}

// Ways through the calls are not followed one by one.
TEST(FlowStack, NestedCallsAreFollowedInBoundedTime) {
  for (const std::size_t calls : {1u, 2u}) {
    const std::vector<std::uint64_t> code = nested_calls(2000, calls);
    const FlowStack stack = stack_of(code);
    ASSERT_EQ(stack.effects.size(), code.size());
    for (const StackEffect& effect : stack.effects) EXPECT_EQ(effect.barrier, 0);
  }
}

}  // namespace
}  // namespace simtlab::machine
