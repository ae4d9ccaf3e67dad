#include "memory/channel_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/error.h"
#include "fixed_channels.h"
#include "memory/address_map.h"

namespace simtlab::memory {
namespace {

using dram::FixedChannels;

// A clock of the memory that is half as fast as the side that asks.
FixedChannels::Config channel_config() {
  return {.count = 1, .clock_period = 2000, .access_bytes = 32, .latency = 10, .room = 4};
}
ChannelMemoryConfig config() {
  return {.partitions = 1,
          .clock_period = 1000,
          .path = 0,
          .request_queue = 4,
          .return_queue = 64,
          .return_bytes_per_cycle = 1024};
}

struct Fixture {
  explicit Fixture(const ChannelMemoryConfig& c = config(),
                   const FixedChannels::Config& f = channel_config()) {
    auto owned = std::make_unique<FixedChannels>(f);
    channels = owned.get();
    dram = std::make_unique<ChannelMemory>(c, std::move(owned));
  }
  std::vector<MemoryDone> at(Cycle now) {
    std::vector<MemoryDone> done;
    dram->advance(now, done);
    return done;
  }
  // Runs until nothing is under way; who was done when.
  std::map<std::uint64_t, Cycle> drain() {
    std::map<std::uint64_t, Cycle> out;
    for (Cycle now = dram->next_event(); now != never; now = dram->next_event())
      for (const MemoryDone& d : at(now)) {
        if (d.tag == no_tag) continue;
        EXPECT_TRUE(out.emplace(d.tag, now).second) << "done twice: " << d.tag;
      }
    return out;
  }
  FixedChannels* channels = nullptr;
  std::unique_ptr<ChannelMemory> dram;
};

TEST(ClockRatio, TheCycleOfAnInnerClockIsTheFirstThatBeginsWithOrAfterIt) {
  for (const double inner : {1000.0, 1082.0, 571.0, 2500.0, 764.0, 333.25}) {
    const ClockRatio ratio(1e12 / 1.401e9, inner);
    for (const Cycle start : {Cycle{0}, Cycle{1} << 20, Cycle{1} << 33, Cycle{1} << 45})
      for (Cycle c = start; c < start + 500; ++c) {
        const Cycle outer = ratio.to_outer(c);
        ASSERT_GE(ratio.to_inner(outer), c);
        ASSERT_TRUE(outer == 0 || ratio.to_inner(outer - 1) < c);
      }
  }
}

TEST(ClockRatio, EqualClocksAreTheIdentityAndNeverStaysNever) {
  const ClockRatio ratio(700, 700);
  for (const Cycle c : {Cycle{0}, Cycle{1}, Cycle{123456789012345}}) {
    EXPECT_EQ(ratio.to_inner(c), c);
    EXPECT_EQ(ratio.to_outer(c), c);
  }
  EXPECT_EQ(ratio.to_outer(never), never);
  EXPECT_EQ(ratio.to_inner(never), never);
}

TEST(ClockRatio, AMillionCyclesAreExactToOne) {
  const ClockRatio ratio(1e12 / 1.98e9, 764);
  EXPECT_EQ(ratio.to_inner(1'000'000'000), static_cast<Cycle>(1'000'000'000 * (1e12 / 1.98e9 / 764)));
}

// Cycle 7 is in the middle of memory clock 3: the access enters in clock 4 and ends in clock 14, which begins
// with cycle 28.
TEST(ChannelMemory, AReadEntersAtTheNextMemoryClockAndIsSeenInTheCycleOfItsCompletion) {
  Fixture f;
  f.at(7);
  f.dram->push({.line = 3, .sectors = 1, .tag = 5}, 7);
  ASSERT_EQ(f.channels->log.size(), 1u);
  EXPECT_EQ(f.channels->log[0].at, 4u);
  EXPECT_EQ(f.channels->log[0].access.address, 3u * 128);
  EXPECT_EQ(f.dram->next_event(), 28u);
  EXPECT_TRUE(f.at(27).empty());
  const auto done = f.at(28);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].tag, 5u);
  EXPECT_EQ(f.dram->next_event(), never);
}

TEST(ChannelMemory, TheWayBackAddsToALatencyOnce) {
  ChannelMemoryConfig c = config();
  c.path = 100;
  Fixture f(c);
  f.dram->push({.line = 0, .sectors = 0xf, .tag = 1}, 0);  // clock 1, ends in 11 = cycle 22
  EXPECT_EQ(f.drain()[1], 122u);
}

TEST(ChannelMemory, SectorsBecomeAsManyAccessesAsTheMemoryNeeds) {
  struct Row {
    std::uint32_t access_bytes;
    std::uint8_t sectors;
    std::vector<std::uint64_t> addresses;
  };
  for (const Row& row :
       {Row{32, 0b1010, {32, 96}}, Row{64, 0b1010, {0, 64}}, Row{64, 0b1100, {64}}, Row{128, 0b0001, {0}},
        Row{256, 0b1111, {0}}, Row{16, 0b0010, {32, 48}}, Row{8, 0b1000, {96, 104, 112, 120}}}) {
    FixedChannels::Config channel = channel_config();
    channel.access_bytes = row.access_bytes;
    channel.room = 100;
    Fixture f(config(), channel);
    f.dram->push({.line = 2, .sectors = row.sectors, .tag = 1}, 0);
    std::vector<std::uint64_t> addresses;
    for (const auto& added : f.channels->log) addresses.push_back(added.access.address - 256);
    EXPECT_EQ(addresses, row.addresses) << row.access_bytes;
    EXPECT_EQ(f.dram->statistics().read_bytes, row.addresses.size() * row.access_bytes)
        << "over-fetch is counted";
    EXPECT_EQ(f.drain().size(), 1u) << "done when the last is back, once";
  }
}

TEST(ChannelMemory, AnAccessThatDoesNotFitALineIsRefused) {
  FixedChannels::Config channel = channel_config();
  channel.access_bytes = 48;
  try {
    Fixture f(config(), channel);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "dram-access");
    EXPECT_EQ(e.code(), ExitCode::unsupported);
  }
}

TEST(ChannelMemory, AFullQueueSaysSoAndTellsWhenItHasRoomAgain) {
  Fixture f;  // the channel holds 4 accesses, the queue 4 requests
  std::uint64_t tag = 0;
  while (f.dram->ready(0, 0)) f.dram->push({.line = tag, .sectors = 1, .tag = tag}, 0), ++tag;
  EXPECT_EQ(tag, 8u);
  EXPECT_EQ(f.channels->log.size(), 4u);
  bool told = false;
  while (!f.dram->ready(0, 0)) {
    const Cycle now = f.dram->next_event();
    ASSERT_NE(now, never);
    f.at(now);
  }
  for (Cycle now = f.dram->next_event(); now != never && !told; now = f.dram->next_event())
    for (const MemoryDone& d : f.at(now)) told |= d.tag == no_tag && d.partition == 0;
  EXPECT_TRUE(told);
}

TEST(ChannelMemory, AWriteIsReportedWhenItLeavesTheQueueNotWhenItIsWritten) {
  Fixture f;
  for (std::uint64_t i = 0; i < 6; ++i) f.dram->push({.line = i, .sectors = 1, .write = true, .tag = i}, 0);
  const auto done = f.drain();
  ASSERT_EQ(done.size(), 6u);
  EXPECT_EQ(done.at(0), 1u);
  EXPECT_GE(done.at(5), 22u) << "waited for the first one's place in the channel";
  EXPECT_EQ(f.channels->pending.size(), 0u);
}

// One place: the second read enters the channel when the first has left the DRAM-to-L2 queue.
TEST(ChannelMemory, AFullReturnQueueHoldsReadsBackAndLosesNone) {
  ChannelMemoryConfig c = config();
  c.return_queue = 1;
  c.return_bytes_per_cycle = 1;  // 32 cycles an access
  Fixture f(c);
  for (std::uint64_t i = 0; i < 4; ++i) f.dram->push({.line = i, .sectors = 1, .tag = i}, 0);
  EXPECT_EQ(f.channels->log.size(), 1u);
  const auto done = f.drain();
  EXPECT_EQ(done.size(), 4u);
  EXPECT_GE(done.at(1), 44u);
}

TEST(ChannelMemory, TheReturnQueueIsDrainedAtItsBandwidth) {
  ChannelMemoryConfig c = config();
  c.return_bytes_per_cycle = 2;  // 16 cycles an access
  FixedChannels::Config channel = channel_config();
  channel.room = 100;
  c.request_queue = 100;
  Fixture f(c, channel);
  for (std::uint64_t i = 0; i < 10; ++i) f.dram->push({.line = i, .sectors = 1, .tag = i}, 0);
  const auto done = f.drain();
  for (std::uint64_t i = 1; i < 10; ++i) EXPECT_EQ(done.at(i) - done.at(i - 1), 16u);
}

TEST(ChannelMemory, EveryRequestIsDoneExactlyOnceUnderRandomLoad) {
  for (const std::uint32_t access_bytes : {8u, 32u, 64u, 256u}) {
    ChannelMemoryConfig c = config();
    c.partitions = 6;
    c.return_queue = 5;
    c.return_bytes_per_cycle = 7;
    c.path = 33;
    FixedChannels::Config channel{
        .count = 12, .clock_period = 1371, .access_bytes = access_bytes, .latency = 17, .room = 3};
    Fixture f(c, channel);
    std::mt19937_64 random(7);
    std::map<std::uint64_t, bool> open;
    std::uint64_t tag = 0, expected = 0;
    const auto take = [&](Cycle now) {
      for (const MemoryDone& d : f.at(now)) {
        if (d.tag == no_tag) continue;
        ASSERT_EQ(open.erase(d.tag), 1u);
      }
    };
    Cycle now = 0;
    for (int step = 0; step < 20000; ++step) {
      now += random() % 4;
      take(now);
      const auto partition = static_cast<std::uint32_t>(random() % 6);
      if (!f.dram->ready(partition, now) && random() % 50 != 0) continue;  // write-backs don't ask
      const bool write = !f.dram->ready(partition, now) || random() % 3 == 0;
      f.dram->push({.partition = partition,
                    .line = random() % 5000,
                    .sectors = static_cast<std::uint8_t>(1 + random() % 15),
                    .write = write,
                    .tag = tag},
                   now);
      open[tag++] = true;
      ++expected;
    }
    for (Cycle next = f.dram->next_event(); next != never; next = f.dram->next_event()) take(next);
    EXPECT_TRUE(open.empty()) << access_bytes;
    EXPECT_GT(expected, 3000u);
  }
}

TEST(ChannelMemory, SeveralChannelsOfAPartitionShareItsLinesEvenlyAndWithoutOverlap) {
  ChannelMemoryConfig c = config();
  c.request_queue = 100000;
  c.return_queue = 100000;
  FixedChannels::Config channel{
      .count = 3, .clock_period = 1000, .access_bytes = 128, .latency = 1, .room = 100000};
  Fixture f(c, channel);
  for (std::uint64_t i = 0; i < 6000; ++i) f.dram->push({.line = i, .sectors = 0xf, .tag = i}, 0);
  std::map<std::uint32_t, std::map<std::uint64_t, int>> seen;
  for (const auto& added : f.channels->log) ++seen[added.channel][added.access.address];
  ASSERT_EQ(seen.size(), 3u);
  for (const auto& [number, addresses] : seen) {
    EXPECT_EQ(addresses.size(), 2000u);
    EXPECT_EQ(addresses.rbegin()->first, 1999u * 128) << "dense within the channel";
  }
}

TEST(ChannelMemory, AChannelThatRefusesForEverIsAnErrorAndNotAHang) {
  FixedChannels::Config channel = channel_config();
  channel.room = 0;
  Fixture f(config(), channel);
  f.dram->push({.line = 1, .sectors = 1, .tag = 1}, 10);
  ASSERT_NE(f.dram->next_event(), never);
  try {
    f.at(f.dram->next_event());
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.id(), "dram-stalled"); }
}

TEST(ChannelMemory, AfterARestartTimeAndStatisticsBeginAgain) {
  Fixture f;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 7; ++i)
      f.dram->push({.line = i, .sectors = 1, .write = i % 2 == 0, .tag = i}, 0);
    f.at(5);
    f.dram->restart();
    EXPECT_EQ(f.dram->next_event(), never);
    EXPECT_EQ(f.dram->statistics().read_bytes, 0u);
  }
  f.dram->push({.line = 0, .sectors = 1, .tag = 1}, 0);
  EXPECT_EQ(f.drain().at(1), 22u);
}

// Partition counts that do not divide the slices, or the slices them.
TEST(AddressMap, SlicesAndPartitionsAreEvenWhateverTheirNumbers) {
  for (const std::uint32_t partitions : {1u, 5u, 6u, 8u, 12u, 17u, 18u, 96u})
    for (const std::uint64_t stride : {1ull, 2ull, 12ull, 24ull, 36ull, 64ull, 256ull, 4096ull}) {
      const AddressMap map(12, partitions);
      std::vector<std::uint64_t> slices(12), of_partition(partitions);
      constexpr std::uint64_t lines = 100000;
      for (std::uint64_t i = 0; i < lines; ++i) {
        const auto place = map.place(i * stride);
        ++slices[place.slice];
        ++of_partition[place.partition];
        ASSERT_EQ(map.global_line(place.slice, place.slice_line), i * stride);
      }
      const double limit = stride <= 2 ? 1.01 : 1.15;
      EXPECT_LT(static_cast<double>(*std::max_element(slices.begin(), slices.end())), limit * lines / 12)
          << partitions << ' ' << stride;
      EXPECT_LT(static_cast<double>(*std::max_element(of_partition.begin(), of_partition.end())),
                limit * lines / partitions)
          << partitions << ' ' << stride;
    }
}

TEST(AddressMap, NoTwoLinesShareAPlaceWhateverTheNumbers) {
  const AddressMap map(12, 18);
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> of_slice, of_partition;
  for (std::uint64_t line = 0; line < 36000; ++line) {
    const auto p = map.place(line);
    EXPECT_EQ(++of_slice[std::make_pair(p.slice, p.slice_line)], 1);
    EXPECT_EQ(++of_partition[std::make_pair(p.partition, p.partition_line)], 1);
    EXPECT_LT(p.partition_line, 36000 / 18 + 4);
  }
}

}  // namespace
}  // namespace simtlab::memory
