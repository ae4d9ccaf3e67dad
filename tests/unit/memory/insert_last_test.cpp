// The cache policy that the guide adds (examples/extend).
#include <gtest/gtest.h>

#include <random>

#include "memory/replacement.h"

namespace simtlab::memory {

extern const ReplacementRule replace_lip;

namespace {

TEST(InsertLast, ALineThatWasNotUsedLeavesBeforeTheOthers) {
  const auto rule = replace_lip.make(2, 4);
  for (std::uint32_t way = 0; way < 4; ++way) rule->filled(1, way);
  for (const std::uint32_t way : {2u, 0u, 1u, 3u}) rule->used(1, way);
  EXPECT_EQ(rule->victim(1), 2u);
  rule->filled(1, 2);
  EXPECT_EQ(rule->victim(1), 2u);  // the new one, again
  rule->used(1, 2);
  EXPECT_EQ(rule->victim(1), 0u);
  EXPECT_EQ(rule->victim(0), 0u);  // sets know nothing of each other
}

TEST(InsertLast, GoesOnWhereItWasSaved) {
  const auto one = replace_lip.make(8, 4), other = replace_lip.make(8, 4);
  std::mt19937 random(1);
  const auto use = [&](Replacement& rule, unsigned what) {
    const std::uint32_t set = what % 8, way = what / 8 % 4;
    if (what / 32 % 3 == 0)
      rule.filled(set, way);
    else
      rule.used(set, way);
    return rule.victim(set);
  };
  for (int i = 0; i < 500; ++i) use(*one, static_cast<unsigned>(random()));
  stream::trace::Buffer saved;
  one->save(saved);
  stream::trace::Bytes in(saved);
  other->restore(in);
  EXPECT_TRUE(in.at_end());
  for (int i = 0; i < 500; ++i) {
    const auto what = static_cast<unsigned>(random());
    EXPECT_EQ(use(*one, what), use(*other, what));
  }
  other->clear();
  for (std::uint32_t set = 0; set < 8; ++set) EXPECT_EQ(other->victim(set), 0u);
}

}  // namespace
}  // namespace simtlab::memory
