#include "cache/reuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cache/history.h"

namespace simtlab::cache {
namespace {

std::uint64_t naive_distance(std::vector<std::uint64_t>& stack, std::uint64_t key) {
  const auto found = std::ranges::find(stack, key);
  const std::uint64_t distance =
      found == stack.end() ? never_before : static_cast<std::uint64_t>(found - stack.begin());
  if (found != stack.end()) stack.erase(found);
  stack.insert(stack.begin(), key);
  return distance;
}

TEST(ReuseStack, CountsTheOtherLinesSinceTheLastTouchAsAListDoes) {
  std::mt19937_64 random(7);
  LineTable lines;
  ReuseStack stack(lines);
  std::vector<std::uint64_t> list;
  for (int i = 0; i < 60000; ++i) {  // beyond several renumberings
    const std::uint64_t key = random() % (i % 1000 < 500 ? 50 : 700);
    ASSERT_EQ(stack.touch(lines.at(key)), naive_distance(list, key)) << i;
  }
}

// Far apart, so that words, groups and blocks of marks all take part, and the window grows several times.
TEST(ReuseStack, CountsFarReuseAsATreeDoes) {
  std::mt19937_64 random(11);
  LineTable lines;
  ReuseStack stack(lines);
  constexpr std::size_t touches = 700000;
  std::vector<std::uint32_t> tree(touches + 1, 0);  // marks at the last touch of each key (Fenwick)
  const auto add = [&](std::size_t time, std::uint32_t by) {
    for (std::size_t i = time; i <= touches; i += i & (0 - i)) tree[i] += by;
  };
  const auto until = [&](std::size_t time) {
    std::uint64_t sum = 0;
    for (std::size_t i = time; i > 0; i &= i - 1) sum += tree[i];
    return sum;
  };
  std::vector<std::size_t> last(300000, 0);
  std::uint64_t marks = 0;
  for (std::size_t now = 1; now <= touches; ++now) {
    // All keys in turn at first, so that words are full; then some by chance, most of them few.
    const std::uint64_t key = now <= last.size() ? now - 1 : random() % (now % 3 == 0 ? last.size() : 500);
    const std::uint64_t expected = last[key] == 0 ? never_before : marks - until(last[key]);
    const std::uint32_t line = lines.at(key);
    ASSERT_EQ(stack.distance(line), expected) << now;
    ASSERT_EQ(stack.touch(line), expected) << now;
    if (last[key] != 0) add(last[key], ~std::uint32_t{0}), --marks;
    add(last[key] = now, 1), ++marks;
  }
}

TEST(ReuseStack, AskingTouchesNothing) {
  LineTable lines;
  ReuseStack stack(lines);
  for (const std::uint64_t key : {1u, 2u, 3u}) stack.touch(lines.at(key));
  EXPECT_EQ(stack.distance(lines.at(1)), 2u);
  EXPECT_EQ(stack.distance(lines.at(1)), 2u);
  EXPECT_EQ(stack.touch(lines.at(1)), 2u);
  EXPECT_EQ(stack.distance(lines.at(1)), 0u);
  EXPECT_EQ(stack.distance(lines.at(9)), never_before);
}

TEST(ReuseHistogram, IsTheMissRatioOfEveryFullyAssociativeCache) {
  std::mt19937_64 random(3);
  LineTable lines;
  ReuseStack stack(lines);
  ReuseHistogram histogram;
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < 20000; ++i) keys.push_back(random() % 5 == 0 ? random() % 600 : random() % 40);
  for (const std::uint64_t key : keys) histogram.add(stack.touch(lines.at(key)), 1);
  for (const std::uint32_t size : {1u, 8u, 33u, 64u, 500u}) {
    memory::Cache cache({.bytes = size * 128u, .line_bytes = 128, .sector_bytes = 128, .ways = size});
    std::uint64_t misses = 0;
    for (const std::uint64_t key : keys) {
      memory::Evictions ignored;
      if (cache.read(key, 0xf).miss == 0) continue;
      ++misses;
      cache.fill(key, 0xf, false, ignored);
    }
    EXPECT_DOUBLE_EQ(histogram.miss_ratio(size),
                     static_cast<double>(misses) / static_cast<double>(keys.size()))
        << size;
  }
}

TEST(History, TellsTheCausesOfMissesByAFullyAssociativeCacheBeside) {
  const memory::CacheConfig config{.bytes = 4 * 128, .line_bytes = 128, .sector_bytes = 128, .ways = 1};
  for (const double sample : {1.0, 0.5}) {
    History history(config, sample);
    ReadCounts counts;
    const auto miss = [&](std::uint64_t key) {
      history.read(history.lines().at(key), 0xf, 0xf, 0, 2, {}, counts);
    };
    miss(0), miss(4);  // cold
    miss(0);           // 4 lines would hold it: conflict
    for (std::uint64_t key = 10; key < 14; ++key) miss(key);
    miss(0);  // four others since: capacity
    history.write(0, 0xf, {}, History::Store::drop);
    miss(0);
    EXPECT_EQ(counts.cold, 6u) << sample;
    EXPECT_EQ(counts.conflict, 1u) << sample;
    EXPECT_EQ(counts.capacity, 1u) << sample;
    EXPECT_EQ(counts.invalidated, 1u) << sample;
    EXPECT_EQ(counts.misses, counts.cold + counts.conflict + counts.capacity + counts.invalidated);
  }
}

TEST(History, SamplingKeepsTheMissRatiosNear) {
  std::mt19937_64 random(11);
  const memory::CacheConfig config{.bytes = 128 * 128, .line_bytes = 128, .sector_bytes = 128, .ways = 4};
  History exact(config, 1), sampled(config, 0.1);
  ReadCounts ignored;
  for (int i = 0; i < 300000; ++i) {
    const std::uint64_t key = random() % 3 == 0 ? random() % 20000 : random() % 2000;
    for (History* h : {&exact, &sampled}) h->read(h->lines().at(key), 0xf, 0xf, 0, 2, {}, ignored);
  }
  for (const std::uint64_t lines : {500u, 1000u, 2000u, 8000u})
    EXPECT_NEAR(sampled.histogram().miss_ratio(lines), exact.histogram().miss_ratio(lines), 0.03) << lines;
}

}  // namespace
}  // namespace simtlab::cache
