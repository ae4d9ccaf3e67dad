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
constexpr std::uint64_t ret = 0xe32000000007000full;

FlowStack stack_of(const std::vector<std::uint64_t>& words, const BranchTable& branches = {}) {
  std::vector<Instruction> code;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto decoded =
        decode(Forms::shipped(), generation, Word{words[i], 0}, static_cast<std::uint32_t>(i * word_bytes));
    if (const auto* undecoded = std::get_if<Undecoded>(&decoded))
      ADD_FAILURE() << "word " << i << ": " << undecoded->reason;
    else
      code.push_back(std::get<Instruction>(decoded));
  }
  return find_flow_stack(code, branches, "k");
}
std::string error_of(const std::vector<std::uint64_t>& words) {
  try {
    stack_of(words);
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

TEST(FlowStack, CallsAndReturnsHaveABarrier) {
  const FlowStack stack = stack_of({ssy(0, 3), cal(1, 4), sync_word, exit_word, ssy(4, 6), sync_word, ret});
  EXPECT_EQ(stack.functions, 1u);
  EXPECT_EQ(stack.effects[1].barrier, 1);
  EXPECT_EQ(stack.effects[4].barrier, 2);
  EXPECT_EQ(stack.effects[6].barrier, 1);
  EXPECT_THAT(error_of({cal(0, 0), ret}), testing::HasSubstr("belongs to two functions"));
  EXPECT_THAT(error_of({cal(0, 2), exit_word, cal(2, 2), ret}), testing::HasSubstr("calls itself"));
}

}  // namespace
}  // namespace simtlab::machine
