#include "memory/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/policy_names.h"
#include "memory/mshr.h"

namespace simtlab::memory {
namespace {

// One set of four lines
CacheConfig small() { return {.bytes = 4 * 128, .line_bytes = 128, .sector_bytes = 32, .ways = 4}; }
constexpr std::array<std::uint32_t, 4> all_bytes = {~0u, ~0u, ~0u, ~0u};

void fill(Cache& cache, std::uint64_t line, std::uint8_t sectors = 0xf) {
  Evictions evicted;
  cache.fill(line, sectors, false, evicted);
  EXPECT_EQ(evicted.count, 0u);
}

TEST(Cache, MissesWhenEmptyAndHitsWhatWasFilled) {
  Cache cache(small());
  EXPECT_EQ(cache.read(7, 0xf).miss, 0xf);
  fill(cache, 7, 0x3);
  EXPECT_EQ(cache.read(7, 0xf).hit, 0x3);
  EXPECT_EQ(cache.read(7, 0xf).miss, 0xc);
}

TEST(Cache, LeastRecentlyUsedLineLeaves) {
  Cache cache(small());
  for (std::uint64_t line = 0; line < 4; ++line) fill(cache, line);
  cache.read(0, 1);
  fill(cache, 4);
  EXPECT_EQ(cache.probe(0, 1).hit, 1);
  EXPECT_EQ(cache.probe(1, 1).hit, 0);
}

TEST(Cache, FirstInLeavesFirstHoweverOftenItIsUsed) {
  CacheConfig config = small();
  config.replacement = device::Replacement::fifo;
  Cache cache(config);
  for (std::uint64_t line = 0; line < 4; ++line) fill(cache, line);
  cache.read(0, 1);
  fill(cache, 4);
  EXPECT_EQ(cache.probe(0, 1).hit, 0);
  EXPECT_EQ(cache.probe(1, 1).hit, 1);
}

// The names of device files come from the names of the files; both lists are in one order.
TEST(CachePolicies, EveryNameOfTheDeviceFileIsAFileAndHasASentence) {
  std::vector<std::string_view> names, files;
  for (const auto& one : replacement_rules()) {
    files.push_back(one.name);
    EXPECT_GT(one.entry->doc.size(), 10u) << one.name;
  }
  for (const auto& [name, kind] : device::names_of(static_cast<const device::Replacement*>(nullptr))) {
    names.push_back(name);
    EXPECT_EQ(device::name_of(kind), name);
    EXPECT_EQ(make_replacement(kind, 4, 2) == nullptr, name == "lru" || name == "fifo" || name == "random")
        << name;
  }
  EXPECT_EQ(names, files);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  names.clear(), files.clear();
  for (const auto& one : set_index_rules()) {
    files.push_back(one.name);
    EXPECT_GT(one.entry->doc.size(), 10u) << one.name;
  }
  for (const auto& [name, kind] : device::names_of(static_cast<const device::SetIndex*>(nullptr))) {
    names.push_back(name);
    EXPECT_EQ(device::name_of(kind), name);
    const auto index = make_set_index(kind, {.sets = 64, .line_bytes = 128, .bits = "7 8 9 10 11 12"});
    for (std::uint64_t line = 0; line < 1000; ++line) EXPECT_LT(index->set_of(line * 37), 64u) << name;
  }
  EXPECT_EQ(names, files);
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

TEST(Cache, RandomReplacementRepeatsForOneSeed) {
  CacheConfig config = small();
  config.replacement = device::Replacement::random;
  Cache a(config), b(config);
  for (std::uint64_t line = 0; line < 100; ++line) {
    fill(a, line);
    fill(b, line);
  }
  for (std::uint64_t line = 0; line < 100; ++line) EXPECT_EQ(a.probe(line, 1).hit, b.probe(line, 1).hit);
}

TEST(Cache, ALineOfOnlyPartlyWrittenSectorsIsFetchedWhenRead) {
  Cache cache(small());
  Evictions evicted;
  cache.write(3, {0xffff, 0, 0, 0}, 0x1, true, true, evicted);
  EXPECT_EQ(cache.read(3, 0x1).miss, 0x1);
  cache.write(3, {0xffff0000, 0, 0, 0}, 0x1, true, true, evicted);
  EXPECT_EQ(cache.read(3, 0x1).hit, 0x1);
}

TEST(Cache, DirtySectorsAreReportedWhenTheirLineLeavesAndOnlyThen) {
  Cache cache(small());
  Evictions evicted;
  cache.write(0, all_bytes, 0x6, true, true, evicted);
  for (std::uint64_t line = 1; line < 4; ++line) fill(cache, line);
  EXPECT_EQ(evicted.count, 0u);
  cache.fill(4, 0xf, false, evicted);
  ASSERT_EQ(evicted.count, 1u);
  EXPECT_EQ(evicted.items[0].line, 0u);
  EXPECT_EQ(evicted.items[0].sectors, 0x6);
}

// At most `dirty_ways` lines of a set are modified: the least recently used of them is reported, stays, and
// is not reported again when it leaves.
TEST(Cache, WhereAShareOfASetMayBeDirtyTheOldestIsCleanedAndStays) {
  CacheConfig config = small();
  config.dirty_ways = 2;
  Cache cache(config);
  Evictions evicted;
  const auto write = [&](std::uint64_t line) {
    evicted.count = 0;
    cache.write(line, all_bytes, 0x3, true, true, evicted);
  };
  write(0), write(1);
  cache.read(0, 0x3);
  write(0);
  EXPECT_EQ(evicted.count, 0u);  // it was dirty before
  write(2);
  ASSERT_EQ(evicted.count, 1u);
  EXPECT_EQ(evicted.items[0].line, 1u);
  EXPECT_EQ(evicted.items[0].sectors, 0x3);
  EXPECT_EQ(cache.probe(1, 0x3).hit, 0x3);
  fill(cache, 3);
  fill(cache, 4);  // in place of line 1, which is clean
  EXPECT_EQ(cache.probe(1, 0x3).hit, 0);
  cache.invalidate(2, 0xf);
  write(5);  // line 0 leaves; lines 2 and 0 count no more
  ASSERT_EQ(evicted.count, 1u);
  EXPECT_EQ(evicted.items[0].line, 0u);
  write(6);
  EXPECT_EQ(evicted.count, 0u);
}

// What is left in a cache of sixteen ways after a long stream of writes is half of it, as counters of a GV100
// have it.
TEST(Cache, AStreamOfWritesLeavesTheShareThatMayBeDirty) {
  CacheConfig config{.bytes = 1 << 20,
                     .line_bytes = 128,
                     .sector_bytes = 32,
                     .ways = 16,
                     .set_index = device::SetIndex::hash};
  config.dirty_ways = 8;
  Cache cache(config);
  std::uint64_t written = 0;
  constexpr std::uint64_t lines = 40000;
  for (std::uint64_t line = 0; line < lines; ++line) {
    Evictions evicted;
    cache.write(line, all_bytes, 0xf, true, true, evicted);
    written += evicted.count;
  }
  EXPECT_EQ(lines - written, (1u << 20) / 128 / 2);
}

TEST(Cache, WritingThroughLeavesNothingDirty) {
  Cache cache(small());
  Evictions evicted;
  for (std::uint64_t line = 0; line < 40; ++line) cache.write(line, all_bytes, 0xf, true, false, evicted);
  EXPECT_EQ(evicted.count, 0u);
  EXPECT_EQ(cache.probe(39, 0xf).hit, 0xf);
}

TEST(Cache, WithoutAllocationAWriteMissLeavesTheCacheAlone) {
  Cache cache(small());
  Evictions evicted;
  EXPECT_EQ(cache.write(9, all_bytes, 0xf, false, false, evicted), 0);
  EXPECT_EQ(cache.probe(9, 0xf).hit, 0);
}

TEST(Cache, InvalidatedSectorsAreGone) {
  Cache cache(small());
  fill(cache, 5);
  cache.invalidate(5, 0x1);
  EXPECT_EQ(cache.probe(5, 0xf).hit, 0xe);
  cache.clear();
  EXPECT_EQ(cache.probe(5, 0xf).hit, 0);
}

TEST(Cache, WithoutSectorsTheWholeLineIsFetched) {
  CacheConfig config = small();
  config.sector_bytes = 128;
  EXPECT_EQ(Cache(config).widen(0x2), 0xf);
  config.sector_bytes = 64;
  EXPECT_EQ(Cache(config).widen(0x2), 0x3);
}

TEST(Cache, ShortLinesAreLookedUpOneByOne) {
  Cache cache({.bytes = 4 * 32, .line_bytes = 32, .sector_bytes = 32, .ways = 4});
  fill(cache, 1, 0x5);
  EXPECT_EQ(cache.read(1, 0xf).hit, 0x5);
  fill(cache, 2, 0x1);
  fill(cache, 3, 0x1);
  fill(cache, 4, 0x1);  // five lines in four places
  EXPECT_EQ(cache.probe(1, 0x5).hit & 0x4, cache.probe(1, 0x4).hit);
  EXPECT_EQ(std::popcount(static_cast<unsigned>(cache.probe(1, 0x5).hit)), 1);
}

TEST(Cache, AWorkingSetOfItsSizeStaysWhetherSetsAreHashedOrNot) {
  for (const bool hashed : {false, true}) {
    Cache cache({.bytes = 96 << 10,
                 .line_bytes = 128,
                 .sector_bytes = 32,
                 .ways = 6,
                 .set_index = hashed ? device::SetIndex::hash : device::SetIndex::modulo});
    for (std::uint64_t line = 1000; line < 1000 + 768; ++line) fill(cache, line);
    unsigned present = 0;
    for (std::uint64_t line = 1000; line < 1000 + 768; ++line) present += cache.probe(line, 0xf).miss == 0;
    EXPECT_TRUE(hashed || present == 768u) << present;
    EXPECT_GT(present, 600u);
  }
}

// The array against a plain model: a list of lines per set, most recent first.
TEST(Cache, BehavesAsAListPerSetOnRandomAccesses) {
  Cache cache({.bytes = 16 * 128, .line_bytes = 128, .sector_bytes = 32, .ways = 4});
  std::vector<std::vector<std::uint64_t>> sets(4);
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t line = random() % 40;
    auto& set = sets[line % 4];
    const auto found = std::ranges::find(set, line);
    const bool hit = found != set.end();
    ASSERT_EQ(cache.read(line, 1).hit != 0, hit);
    if (hit) set.erase(found);
    set.insert(set.begin(), line);
    if (set.size() > 4) set.pop_back();
    if (!hit) fill(cache, line);
  }
}

TEST(Mshr, ASecondMissOfTheSameSectorsAsksForNothing) {
  Mshr mshr(2, 4);
  EXPECT_EQ(mshr.look(10).pending, 0);
  mshr.add(10, 0x3, 0x3, 1);
  EXPECT_EQ(mshr.look(10).pending, 0x3);
  mshr.add(10, 0x1, 0, 2);
  std::vector<std::uint64_t> done;
  mshr.fill(10, 0x1, [&](std::uint64_t w) { done.push_back(w); });
  EXPECT_EQ(done, (std::vector<std::uint64_t>{2}));
  mshr.fill(10, 0x2, [&](std::uint64_t w) { done.push_back(w); });
  EXPECT_EQ(done, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(mshr.used(), 0u);
}

TEST(Mshr, WaitersAreWokenInTheOrderOfTheirMisses) {
  Mshr mshr(1, 8);
  for (std::uint64_t w = 0; w < 5; ++w) mshr.add(1, 0xf, w == 0 ? 0xf : 0, w);
  std::vector<std::uint64_t> done;
  mshr.fill(1, 0xf, [&](std::uint64_t w) { done.push_back(w); });
  EXPECT_EQ(done, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(Mshr, EntriesAndMergesAreLimited) {
  Mshr mshr(2, 2);
  mshr.add(1, 1, 1, 0);
  mshr.add(2, 1, 1, 0);
  EXPECT_FALSE(mshr.look(3).room);
  EXPECT_TRUE(mshr.look(1).room);
  mshr.add(1, 1, 0, 0);
  EXPECT_FALSE(mshr.look(1).room);
  mshr.fill(2, 1, [](std::uint64_t) {});
  EXPECT_TRUE(mshr.look(3).room);
}

TEST(Mshr, WithoutALimitAnyNumberWaits) {
  Mshr mshr(1, 0);
  for (std::uint64_t waiter = 0; waiter < 1000; ++waiter) {
    ASSERT_TRUE(mshr.look(5).room);
    mshr.add(5, 1, 1, waiter);
  }
  EXPECT_FALSE(mshr.look(6).room);
  std::uint64_t woken = 0;
  mshr.fill(5, 1, [&](std::uint64_t waiter) { EXPECT_EQ(waiter, woken++); });
  EXPECT_EQ(woken, 1000u);
}

TEST(Mshr, ManyLinesComeAndGo) {
  Mshr mshr(64, 4);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> open;
  for (int i = 0; i < 50000; ++i) {
    if (!open.empty() && (mshr.full() || random() % 2)) {
      const std::size_t at = random() % open.size();
      unsigned woken = 0;
      mshr.fill(open[at], 0xf, [&](std::uint64_t w) { woken += w == open[at]; });
      ASSERT_EQ(woken, 1u);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      const std::uint64_t line = random() % 1000;
      if (mshr.look(line).pending != 0) continue;
      mshr.add(line, 0xf, 0xf, line);
      open.push_back(line);
    }
    ASSERT_EQ(mshr.used(), open.size());
  }
}

}  // namespace
}  // namespace simtlab::memory
