#include "base/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace simtlab {
namespace {

TEST(Team, does_every_job_of_every_list_once) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Team team(threads);
    EXPECT_EQ(team.threads(), threads);
    std::vector<std::atomic<unsigned>> done(97);
    for (unsigned round = 1; round <= 2000; ++round) {
      const std::size_t count = round % done.size();
      std::vector<unsigned> before(count);
      for (std::size_t i = 0; i < count; ++i) before[i] = done[i];
      team.run(count, [&](std::size_t i) { ++done[i]; });
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(done[i], before[i] + 1) << "round " << round;
    }
  }
}

TEST(Team, sees_what_the_caller_wrote_between_two_lists) {
  Team team(3);
  std::vector<std::uint64_t> values(64, 0);
  for (unsigned round = 0; round < 500; ++round) {
    // Plain memory: each list is ordered after the last
    team.run(values.size(), [&](std::size_t i) { values[i] += i; });
    for (std::uint64_t& v : values) v += 1;
  }
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 500 * (i + 1));
}

TEST(Team, wakes_members_that_sleep) {
  Team team(2);
  std::atomic<unsigned> done{0};
  for (unsigned round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    team.run(8, [&](std::size_t) { ++done; });
  }
  EXPECT_EQ(done, 24u);
}

TEST(Team, uses_at_least_one_thread_and_no_more_than_asked) {
  EXPECT_GE(usable_threads(0), 1u);
  EXPECT_EQ(usable_threads(3), 3u);
  EXPECT_EQ(usable_threads(1u << 20), 256u);
}

}  // namespace
}  // namespace simtlab
