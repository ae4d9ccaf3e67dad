#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "memory/address_map.h"
#include "memory/calendar.h"
#include "memory/simple_memory.h"

namespace simtlab::memory {
namespace {

using device::SliceHash;

SimpleMemoryConfig simple_config() {
  return {.partitions = 2, .latency = 100, .bytes_per_cycle = 16, .row_miss_penalty = 0.5};
}

std::vector<MemoryDone> at(MainMemory& dram, Cycle now) {
  std::vector<MemoryDone> done;
  dram.advance(now, done);
  return done;
}

TEST(SimpleMemory, IdleReadIsDoneAfterExactlyTheLatency) {
  SimpleMemory dram(simple_config());
  dram.push({.partition = 0, .line = 5, .sectors = 1, .tag = 9}, 1000);
  EXPECT_EQ(dram.next_event(), 1100u);
  EXPECT_TRUE(at(dram, 1099).empty());
  const auto done = at(dram, 1100);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].tag, 9u);
}

TEST(SimpleMemory, SecondReadOfAPartitionWaitsForTheFirstOnesTransfer) {
  SimpleMemoryConfig c = simple_config();
  c.row_miss_penalty = 0;
  SimpleMemory dram(c);
  dram.push({.partition = 0, .line = 0, .sectors = 0xf, .tag = 1}, 0);  // 128 bytes: 8 cycles
  dram.push({.partition = 0, .line = 1, .sectors = 0xf, .tag = 2}, 0);
  dram.push({.partition = 1, .line = 1, .sectors = 0xf, .tag = 3}, 0);
  EXPECT_EQ(at(dram, 100).size(), 2u);
  EXPECT_TRUE(at(dram, 107).empty());
  EXPECT_EQ(at(dram, 108).size(), 1u);
}

TEST(SimpleMemory, ScatteredSectorsTakeLongerThanSequentialOnes) {
  Cycle last[2];
  for (const int scattered : {0, 1}) {
    SimpleMemory dram(simple_config());
    for (std::uint64_t i = 0; i < 1000; ++i)
      dram.push({.partition = 0, .line = scattered ? i * 4099 : i, .sectors = 1, .tag = i}, 0);
    while (dram.next_event() != never) {
      last[scattered] = dram.next_event();
      at(dram, last[scattered]);
    }
  }
  EXPECT_NEAR(static_cast<double>(last[1] - 100) / static_cast<double>(last[0] - 100), 1.44, 0.06);
}

// Boards read whole lines all over memory as fast as in sequence: the other banks carry data while a row is
// opened.
TEST(SimpleMemory, WholeLinesHideTheOpeningOfTheirRow) {
  const auto end_of = [](std::uint64_t step, bool write) {
    SimpleMemoryConfig c = simple_config();
    c.write_cost = 1.25;
    SimpleMemory dram(c);
    for (std::uint64_t i = 0; i < 1000; ++i)
      dram.push({.partition = 0, .line = i * step, .sectors = 0xf, .write = write, .tag = i}, 0);
    Cycle last = 0;
    while (dram.next_event() != never) {
      last = dram.next_event();
      at(dram, last);
    }
    return static_cast<double>(last);
  };
  EXPECT_EQ(end_of(1, false), end_of(4099, false));
  EXPECT_NEAR(end_of(1, true) / (end_of(1, false) - 100), 1.25, 0.01)
      << "writes cost what the file's bandwidths say";
}

TEST(SimpleMemory, AQueueThatIsFullSaysSoUntilItHasDrained) {
  SimpleMemory dram(simple_config());
  for (std::uint64_t i = 0; dram.ready(0, 0); ++i)
    dram.push({.partition = 0, .line = i, .sectors = 0xf, .write = true}, 0);
  EXPECT_TRUE(dram.ready(1, 0));
  EXPECT_TRUE(dram.ready(0, 1000));
  EXPECT_NEAR(static_cast<double>(dram.statistics().write_bytes), 256 * 16, 256);
}

TEST(Calendar, ReturnsEventsInTimeOrderAndEqualTimesInOrderOfPushing) {
  Calendar<int> calendar;
  std::mt19937_64 random(5);
  std::multimap<Cycle, int> reference;
  Cycle now = 0;
  for (int i = 0; i < 100000; ++i) {
    if (random() % 3 != 0) {
      const Cycle when = now + (random() % 10 == 0 ? random() % 100000 : random() % 500);
      calendar.push(when, i);
      reference.emplace(when, i);
    } else if (!reference.empty()) {
      ASSERT_EQ(calendar.next_time(), reference.begin()->first);
      now = reference.begin()->first;
      std::set<int> expected, got;
      for (auto it = reference.begin(); it != reference.end() && it->first == now; it = reference.erase(it))
        expected.insert(it->second);
      for (int item; calendar.pop(now, item);) got.insert(item);
      ASSERT_EQ(got, expected);
    }
    ASSERT_EQ(calendar.size(), reference.size());
  }
}

TEST(Calendar, EventsOfOneCycleKeepTheirOrder) {
  Calendar<int> calendar;
  for (int i = 0; i < 10; ++i) calendar.push(7, i);
  int item = -1;
  EXPECT_FALSE(calendar.pop(6, item));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(calendar.pop(7, item));
    EXPECT_EQ(item, i);
  }
  EXPECT_TRUE(calendar.empty());
  EXPECT_EQ(calendar.next_time(), never);
}

TEST(AddressMap, ASequentialStreamLoadsAllUnitsEvenly) {
  for (const auto& [slices, partitions] : {std::pair{12u, 6u}, {80u, 40u}, {80u, 80u}, {8u, 24u}}) {
    AddressMap map(slices, partitions);
    std::map<std::uint32_t, unsigned> per_slice, per_partition;
    const std::uint64_t lines = 2u * std::max(slices, partitions) * 100;
    for (std::uint64_t line = 0; line < lines; ++line) {
      const auto place = map.place(line + 12345 * lines);
      ++per_slice[place.slice];
      ++per_partition[place.partition];
    }
    EXPECT_EQ(per_slice.size(), slices);
    for (const auto& [slice, count] : per_slice) EXPECT_EQ(count, lines / slices);
    for (const auto& [partition, count] : per_partition) EXPECT_EQ(count, lines / partitions);
  }
}

TEST(AddressMap, PlacesAreUniqueAndReversible) {
  for (const auto& [slices, partitions, hash] : {std::tuple{12u, 6u, SliceHash::even},
                                                 {80u, 40u, SliceHash::even},
                                                 {6u, 18u, SliceHash::even},
                                                 {10u, 4u, SliceHash::even},
                                                 {12u, 6u, SliceHash::bits},
                                                 {6u, 18u, SliceHash::bits},
                                                 {16u, 8u, SliceHash::bits},
                                                 {1u, 1u, SliceHash::bits}}) {
    AddressMap map(slices, partitions, hash);
    std::set<std::pair<std::uint32_t, std::uint64_t>> in_slice, in_partition;
    for (std::uint64_t line = 0; line < 20000; ++line) {
      const auto place = map.place(line);
      EXPECT_TRUE(in_slice.insert({place.slice, place.slice_line}).second);
      EXPECT_TRUE(in_partition.insert({place.partition, place.partition_line}).second);
      ASSERT_EQ(map.global_line(place.slice, place.slice_line), line);
    }
  }
}

// Busiest over average. The hash of bits knows 16 values for 12 slices: four of them get two.
TEST(AddressMap, AHashOfBitsIsEvenForPowersOfTwoOnly) {
  const auto imbalance = [](std::uint32_t slices, std::uint32_t partitions, std::uint64_t stride) {
    AddressMap map(slices, partitions, SliceHash::bits);
    std::vector<unsigned> of_slice(slices), of_partition(partitions);
    const unsigned lines = 1 << 16;
    for (std::uint64_t line = 0; line < lines; ++line) {
      const auto place = map.place(line * stride);
      ++of_slice[place.slice];
      ++of_partition[place.partition];
    }
    const auto ratio = [&](const std::vector<unsigned>& of) {
      return static_cast<double>(*std::max_element(of.begin(), of.end())) * static_cast<double>(of.size()) /
             lines;
    };
    return std::pair{ratio(of_slice), ratio(of_partition)};
  };
  for (const std::uint64_t stride : {1u, 2u, 32u, 512u}) {
    EXPECT_EQ(imbalance(12, 6, stride), (std::pair{1.5, 18.0 / 16})) << stride;
    EXPECT_EQ(imbalance(12, 18, stride), (std::pair{1.125, 1.125})) << stride;
    EXPECT_EQ(imbalance(16, 8, stride), (std::pair{1.0, 1.0})) << stride;
  }
}

}  // namespace
}  // namespace simtlab::memory
