// Allocation in the simulated GPU's global memory.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "exec/memory.h"
#include "exec/outside.h"

namespace simtlab::exec {
namespace {

std::vector<std::byte> bytes_at(const GlobalMemory& m, std::uint64_t address, std::size_t n) {
  std::vector<std::byte> out(n);
  EXPECT_TRUE(m.read(address, out));
  return out;
}

TEST(GlobalMemory, addresses_are_the_same_in_every_instance_and_aligned) {
  GlobalMemory a(1 << 20, 0), b(1 << 20, 0);
  for (int i = 0; i < 10; ++i) {
    const auto x = a.allocate(100 + static_cast<std::uint64_t>(i), "x"),
               y = b.allocate(100 + static_cast<std::uint64_t>(i), "y");
    EXPECT_EQ(x, y);
    EXPECT_EQ(*x % 256, 0u);
  }
  EXPECT_EQ(*a.allocate(16, "page", 4096) % 4096, 0u);
}

TEST(GlobalMemory, the_whole_capacity_can_be_one_allocation_and_no_more) {
  GlobalMemory m(1 << 20, 0);
  EXPECT_FALSE(m.allocate((1 << 20) + 1, "too much"));
  const auto all = m.allocate(1 << 20, "all");
  ASSERT_TRUE(all);
  EXPECT_FALSE(m.allocate(1, "one more"));
  EXPECT_TRUE(m.release(*all));
  EXPECT_TRUE(m.allocate(1 << 20, "again"));
}

TEST(GlobalMemory, what_lies_behind_the_capacity_moves_nothing) {
  GlobalMemory plain(1 << 20, 0), other(1 << 20, 0);
  const std::uint64_t last = other.allocate_last(1000, "the simulator's");
  EXPECT_EQ(other.used(), 0u);
  const auto x = plain.allocate(1 << 20, "all"), y = other.allocate(1 << 20, "all");
  ASSERT_TRUE(x && y);
  EXPECT_EQ(x, y);
  EXPECT_GE(last, *y + (1 << 20));
  EXPECT_EQ(last % 256, 0u);
  EXPECT_EQ(bytes_at(other, last, 1000), std::vector<std::byte>(1000));
  EXPECT_EQ(other.find(last + 1000), nullptr);
}

TEST(GlobalMemory, accesses_outside_are_given_a_place_and_told_once) {
  GlobalMemory m(1 << 20, 0);
  std::vector<std::string> told;
  OutsideAccesses outside(m, [&](const std::string& text) { told.push_back(text); });
  EXPECT_EQ(m.outside(), &outside);
  using Does = OutsideAccesses::Does;
  std::map<std::uint64_t, Does> taken;
  for (const Does does : {Does::read, Does::write, Does::atomic})
    for (unsigned lane = 0; lane < 32; ++lane)
      for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{96}, ~std::uint64_t{31}}) {
        const std::uint64_t at = outside.instead(does, address, lane);
        const unsigned bytes = does == Does::atomic ? 16 : 32;
        EXPECT_NE(m.find(at, bytes), nullptr);
        EXPECT_EQ(at % bytes, 0u);
        for (std::uint64_t b = at; b < at + bytes; ++b)
          EXPECT_EQ(taken.emplace(b, does).first->second, does) << "what is lost is never read";
      }
  const int a = 0, b = 0;
  outside.note({&a, &a}, "one"), outside.note({&a, &a}, "again"), outside.note({&a, &b}, "two");
  EXPECT_EQ(told, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(outside.places(), 2u);
}

TEST(GlobalMemory, the_commit_limit_bounds_the_sum) {
  GlobalMemory m(1ull << 36, 1 << 20);
  EXPECT_TRUE(m.allocate(1 << 19, "half"));
  EXPECT_FALSE(m.allocate((1 << 19) + 1, "more than the other half"));
  EXPECT_FALSE(m.allocate(~0ull, "everything"));
  EXPECT_FALSE(m.allocate(~0ull - 100, "nearly everything"));
}

TEST(GlobalMemory, released_memory_is_zero_when_it_is_allocated_again) {
  GlobalMemory m(1 << 20, 0);
  const auto a = *m.allocate(100, "a"), b = *m.allocate(50000, "b"), c = *m.allocate(100, "c");
  m.fill(a, std::byte{1}, 100);
  m.fill(b, std::byte{2}, 50000);
  m.fill(c, std::byte{3}, 100);
  EXPECT_TRUE(m.release(b));
  EXPECT_FALSE(m.release(b));
  EXPECT_EQ(bytes_at(m, a, 100), std::vector(100, std::byte{1}));
  EXPECT_EQ(bytes_at(m, c, 100), std::vector(100, std::byte{3}));
  EXPECT_EQ(*m.allocate(50000, "again"), b);
  EXPECT_EQ(bytes_at(m, b, 50000), std::vector(50000, std::byte{0}));
}

TEST(GlobalMemory, neighbours_are_apart_so_that_running_over_an_end_is_noticed) {
  GlobalMemory m(1 << 20, 0);
  const auto a = *m.allocate(256, "a"), b = *m.allocate(256, "b");
  EXPECT_GT(b, a + 256);
  EXPECT_NE(m.find(a + 255), nullptr);
  EXPECT_EQ(m.find(a + 255, 2), nullptr);
  EXPECT_EQ(m.find(a + 256), nullptr);
  EXPECT_EQ(m.nearest(a + 260)->address, a);
  EXPECT_EQ(m.nearest(b - 4)->address, b);
  EXPECT_EQ(m.nearest(0)->address, a);
  EXPECT_FALSE(m.write(a + 250, std::vector<std::byte>(10)));
}

TEST(GlobalMemory, thousands_of_random_allocations_never_overlap_and_all_come_back) {
  GlobalMemory m(4 << 20, 0);
  std::map<std::uint64_t, std::uint64_t> live;
  std::uint64_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    const std::uint64_t pick = random >> 33;
    if (pick % 3 != 0 || live.empty()) {
      const std::uint64_t bytes = pick % 9000 + 1;
      const auto address = m.allocate(bytes, "x");
      if (!address) continue;
      const auto next = live.upper_bound(*address);
      ASSERT_TRUE(next == live.end() || *address + bytes <= next->first);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= *address);
      live.emplace(*address, bytes);
    } else {
      const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(pick % live.size()));
      ASSERT_TRUE(m.release(victim->first));
      live.erase(victim);
    }
  }
  for (const auto& [address, bytes] : live) ASSERT_TRUE(m.release(address));
  EXPECT_EQ(m.used(), 0u);
  EXPECT_TRUE(m.allocate(4 << 20, "all of it in one piece"));
}

TEST(GlobalMemory, every_change_of_allocations_changes_the_generation) {
  GlobalMemory m(1 << 20, 0);
  const auto g0 = m.generation();
  const auto a = *m.allocate(1, "a");
  const auto g1 = m.generation();
  m.set_read_only(a, true);
  const auto g2 = m.generation();
  m.release(a);
  EXPECT_TRUE(g0 != g1 && g1 != g2 && g2 != m.generation());
}

}  // namespace
}  // namespace simtlab::exec
