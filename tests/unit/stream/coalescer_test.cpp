#include "stream/coalescer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace simtlab::stream {
namespace {

using Addresses = std::array<std::uint64_t, lanes>;

Addresses strided(std::uint64_t base, std::uint64_t stride) {
  Addresses a;
  for (unsigned lane = 0; lane < lanes; ++lane) a[lane] = base + lane * stride;
  return a;
}

std::unique_ptr<Segments> coalesced(const Addresses& a, std::uint32_t mask, unsigned bytes) {
  auto out = std::make_unique<Segments>();
  coalesce(a.data(), mask, bytes, *out);
  return out;
}

TEST(Coalescer, AlignedConsecutiveFloatsAreOneLineOfFourSectors) {
  const auto s = coalesced(strided(0x1000, 4), ~0u, 4);
  ASSERT_EQ(s->count, 1u);
  EXPECT_EQ(s->items[0].line, 0x1000u / 128);
  EXPECT_EQ(s->items[0].sectors, 0xf);
  EXPECT_EQ(s->items[0].lane_count, 32);
  for (const std::uint32_t bytes : s->items[0].bytes) EXPECT_EQ(bytes, ~0u);
}

TEST(Coalescer, MisalignedConsecutiveFloatsTouchTwoLinesAndFiveSectors) {
  const auto s = coalesced(strided(0x1004, 4), ~0u, 4);
  ASSERT_EQ(s->count, 2u);
  EXPECT_EQ(s->sector_count(), 5u);
  EXPECT_EQ(s->items[1].bytes[0], 0xfu);
  EXPECT_EQ(s->items[0].lane_count + s->items[1].lane_count, 32);
}

TEST(Coalescer, SixteenByteElementsAreFourLines) { EXPECT_EQ(coalesced(strided(0, 16), ~0u, 16)->count, 4u); }

TEST(Coalescer, OneAddressForAllLanesIsOneSector) {
  const auto s = coalesced(strided(0x2040, 0), ~0u, 4);
  ASSERT_EQ(s->count, 1u);
  EXPECT_EQ(s->items[0].sectors, 0x4);
  EXPECT_EQ(s->items[0].lane_count, 32);
}

TEST(Coalescer, LineStrideIsOneLineALane) {
  const auto s = coalesced(strided(0, 128), ~0u, 4);
  EXPECT_EQ(s->count, 32u);
  EXPECT_EQ(s->sector_count(), 32u);
}

TEST(Coalescer, InactiveLanesDoNotCount) {
  Addresses a = strided(0, 128);
  const auto s = coalesced(a, 0x5, 4);
  EXPECT_EQ(s->count, 2u);
  EXPECT_EQ(coalesced(a, 0, 4)->count, 0u);
}

TEST(Coalescer, AnAccessAcrossALineTouchesBoth) {
  const auto s = coalesced(strided(124, 0), 1, 8);
  ASSERT_EQ(s->count, 2u);
  EXPECT_EQ(s->items[0].bytes[3], 0xf0000000u);
  EXPECT_EQ(s->items[1].bytes[0], 0xfu);
}

// Byte by byte: the lines in order of the first lane that touches them.
void expect_naive(const Addresses& a, std::uint32_t mask, unsigned bytes) {
  struct Line {
    std::array<std::uint32_t, 4> bytes{};
    unsigned lanes = 0;
  };
  std::map<std::uint64_t, Line> naive;
  std::vector<std::uint64_t> order;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    for (unsigned b = 0; b < bytes; ++b) {
      const std::uint64_t at = a[lane] + b;
      if (!naive.contains(at / 128)) order.push_back(at / 128);
      naive[at / 128].bytes[at % 128 / 32] |= 1u << at % 32;
    }
    ++naive[a[lane] / 128].lanes;
  }
  const auto s = coalesced(a, mask, bytes);
  ASSERT_EQ(s->count, naive.size());
  for (unsigned i = 0; i < s->count; ++i) {
    const Segment& segment = s->items[i];
    ASSERT_EQ(segment.line, order[i]);
    ASSERT_EQ(segment.bytes, naive.at(segment.line).bytes);
    ASSERT_EQ(segment.lane_count, naive.at(segment.line).lanes);
    ASSERT_EQ(segment.same_address, 0);
    for (unsigned k = 0; k < 4; ++k) ASSERT_EQ((segment.sectors >> k & 1) != 0, segment.bytes[k] != 0);
  }
}

TEST(Coalescer, EqualsTheNaiveUnionOfBytesOnRandomPatterns) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 20000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const std::uint64_t range = std::uint64_t{1} << (5 + random() % 10);
    const std::uint64_t base = random() % 1000 * 32;
    Addresses a;
    const bool pattern = random() % 3 == 0;
    const std::uint64_t stride = random() % 3 == 0 ? bytes : random() % 40;
    for (unsigned lane = 0; lane < lanes; ++lane)
      a[lane] = base + (pattern ? lane * stride : random() % range);
    ASSERT_NO_FATAL_FAILURE(expect_naive(a, random() % 2 ? ~0u : static_cast<std::uint32_t>(random()), bytes))
        << "round " << round;
  }
}

// Blocks narrower than a warp, on rows and on columns; some with lanes that break the pattern.
TEST(Coalescer, EqualsTheNaiveUnionOfBytesOnRowsAndColumns) {
  std::mt19937_64 random(43);
  for (int round = 0; round < 20000; ++round) {
    const unsigned bytes = 1u << random() % 5, width = 1u << random() % 6;
    const std::uint64_t base = (std::uint64_t{1} << 33) + random() % 64 * (random() % 2 ? bytes : 32);
    const std::uint64_t row =
        (random() % 5) * (random() % 2 ? 128 : bytes) * (random() % 4 == 0 ? ~std::uint64_t{0} : 1);
    const bool columns = random() % 2;
    Addresses a;
    for (unsigned lane = 0; lane < lanes; ++lane)
      a[lane] = base + (columns ? lane % width * row + lane / width * bytes
                                : lane % width * bytes + lane / width * row);
    for (unsigned broken = random() % 4 == 0 ? 2 : 0; broken != 0; --broken)
      a[random() % lanes] += (random() % 3) * bytes;
    ASSERT_NO_FATAL_FAILURE(expect_naive(a, random() % 8 ? ~0u : static_cast<std::uint32_t>(random()), bytes))
        << "round " << round;
  }
}

TEST(Coalescer, AtomicsKnowHowManyLanesShareAnAddress) {
  Addresses a = strided(0, 4);
  a[5] = a[6] = a[7] = 0;
  Segments s;
  coalesce_atomic(a.data(), ~0u, 4, s);
  ASSERT_EQ(s.count, 1u);
  EXPECT_EQ(s.items[0].same_address, 4);
}

TEST(Coalescer, LocalWordsOfAWarpAreInterleaved) {
  Segments s;
  coalesce_local(strided(16, 0).data(), ~0u, 4, 1 << 20, s);
  ASSERT_EQ(s.count, 1u);
  EXPECT_EQ(s.items[0].sectors, 0xf);
  EXPECT_EQ(s.items[0].line, (1u << 20) / 128 + 4);
  coalesce_local(strided(16, 0).data(), ~0u, 16, 1 << 20, s);
  EXPECT_EQ(s.count, 4u);
}

}  // namespace
}  // namespace simtlab::stream
