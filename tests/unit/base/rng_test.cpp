#include "base/rng.h"

#include <gtest/gtest.h>

#include <vector>

namespace simtlab {
namespace {

TEST(Rng, splitmix_gives_the_published_sequence_of_seed_1234567) {
  std::uint64_t state = 1234567;
  EXPECT_EQ(splitmix64(state), 6457827717110365317U);
  EXPECT_EQ(splitmix64(state), 3203168211198807973U);
  EXPECT_EQ(splitmix64(state), 9817491932198370423U);
}

TEST(Rng, equal_seeds_give_equal_sequences_and_different_seeds_do_not) {
  Rng a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    differs |= value != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, below_stays_below_and_reaches_every_value_evenly) {
  Rng rng(1);
  std::vector<int> count(10);
  for (int i = 0; i < 100000; ++i) ++count.at(rng.below(10));
  for (const int n : count) EXPECT_NEAR(n, 10000, 500);
  EXPECT_EQ(rng.below(1), 0U);
  EXPECT_EQ(rng.below(0), 0U);
}

TEST(Rng, unit_is_in_zero_to_one_with_mean_a_half) {
  Rng rng(3);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.unit();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.01);
}

}  // namespace
}  // namespace simtlab
