// Beside a count cycle by cycle.
#include "memory/backlog.h"

#include <gtest/gtest.h>

#include <random>

namespace simtlab::memory {
namespace {

TEST(Backlog, CountsTheCyclesInWhichTheQueuesOfASliceAreFull) {
  for (const std::uint32_t channels : {1u, 6u, 24u}) {
    constexpr std::uint32_t slices = 12;
    const std::uint32_t most =
        Backlog::before_slice + Backlog::to_memory + (Backlog::of_scheduler * channels + slices - 1) / slices;
    Backlog backlog(slices, channels);
    std::vector<std::uint32_t> blocked(slices), waiting(slices);
    std::mt19937_64 random(channels);
    std::uint64_t full = 0;
    const auto step = [&](Cycle now, bool fill) {
      for (int k = 0; k < 8; ++k) {
        const auto slice = static_cast<std::uint32_t>(random() % slices);
        const bool add = fill ? random() % 3 != 0 : random() % 3 == 0;
        if (random() % 4 == 0) {
          if (add)
            backlog.blocked(slice, now), ++blocked[slice];
          else if (blocked[slice] != 0)
            backlog.unblocked(slice, now), --blocked[slice];
        } else {
          if (add)
            backlog.waits(slice, now), ++waiting[slice];
          else if (waiting[slice] != 0)
            backlog.served(slice, now), --waiting[slice];
        }
      }
      for (std::uint32_t s = 0; s < slices; ++s)
        full += blocked[s] >= Backlog::before_slice || blocked[s] + waiting[s] >= most;
    };
    Cycle now = 0;
    for (; now < 4000; ++now) step(now, now / 400 % 2 == 0);
    for (std::uint32_t s = 0; s < slices; ++s) {
      for (; blocked[s] != 0; --blocked[s]) backlog.unblocked(s, now);
      for (; waiting[s] != 0; --waiting[s]) backlog.served(s, now);
    }
    EXPECT_EQ(backlog.full_cycles(), full) << channels;
    EXPECT_GT(full, 0u);
    backlog.restart();
    EXPECT_EQ(backlog.full_cycles(), 0u);
  }
}

}  // namespace
}  // namespace simtlab::memory
