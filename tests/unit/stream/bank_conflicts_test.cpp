#include "stream/bank_conflicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

namespace simtlab::stream {
namespace {

using Offsets = std::array<std::uint64_t, 32>;
constexpr Banks fermi{32, 4};
constexpr Banks wide{32, 8};

Offsets strided(std::uint64_t stride) {
  Offsets o;
  for (unsigned lane = 0; lane < 32; ++lane) o[lane] = lane * stride;
  return o;
}

TEST(BankConflicts, ConsecutiveWordsTakeOnePass) {
  EXPECT_EQ(shared_passes(strided(4).data(), ~0u, 4, fermi), 1u);
}
TEST(BankConflicts, OneWordForAllIsABroadcast) {
  EXPECT_EQ(shared_passes(strided(0).data(), ~0u, 4, fermi), 1u);
}
TEST(BankConflicts, StrideTwoTakesTwoPasses) {
  EXPECT_EQ(shared_passes(strided(8).data(), ~0u, 4, fermi), 2u);
}
TEST(BankConflicts, StrideOfAllBanksTakesOnePassALane) {
  EXPECT_EQ(shared_passes(strided(128).data(), ~0u, 4, fermi), 32u);
}
TEST(BankConflicts, PaddingByOneWordRemovesTheConflict) {
  EXPECT_EQ(shared_passes(strided(132).data(), ~0u, 4, fermi), 1u);
}
TEST(BankConflicts, BytesOfAWordShareIt) { EXPECT_EQ(shared_passes(strided(1).data(), ~0u, 1, fermi), 1u); }
TEST(BankConflicts, DoublesAreReadByHalfWarps) {
  EXPECT_EQ(shared_passes(strided(8).data(), ~0u, 8, fermi), 2u);
}
TEST(BankConflicts, SixteenBytesAreReadByQuarterWarps) {
  EXPECT_EQ(shared_passes(strided(16).data(), ~0u, 16, fermi), 4u);
}
TEST(BankConflicts, HalfAWarpOfDoublesTakesOnePass) {
  EXPECT_EQ(shared_passes(strided(8).data(), 0xffffu, 8, fermi), 1u);
}
TEST(BankConflicts, EightByteBanksReadDoublesInOnePass) {
  EXPECT_EQ(shared_passes(strided(8).data(), ~0u, 8, wide), 1u);
}
TEST(BankConflicts, EightByteBanksServeStrideTwoInOnePass) {
  EXPECT_EQ(shared_passes(strided(8).data(), ~0u, 4, wide), 1u);
}
// Loads of equal pairs: two half-warps or quarter-warps share a pass.
TEST(BankConflicts, WideLoadsOfEqualPairsTakeHalfOfThePasses) {
  constexpr Banks pairs{32, 4, true};
  const auto passes = [&](unsigned bytes, auto word_of, std::uint32_t mask = ~0u) {
    Offsets o;
    for (unsigned lane = 0; lane < 32; ++lane) o[lane] = std::uint64_t{word_of(lane)} * bytes;
    EXPECT_EQ(shared_load_passes(o.data(), mask, bytes, fermi), shared_passes(o.data(), mask, bytes, pairs))
        << "where the banks have no pairs";
    return shared_load_passes(o.data(), mask, bytes, pairs);
  };
  const auto one = [](unsigned) { return 0u; };
  const auto next = [](unsigned lane) { return lane / 2; };
  const auto second_next = [](unsigned lane) { return lane / 4 * 2 + lane % 2; };
  EXPECT_EQ(passes(16, one), 2u);
  EXPECT_EQ(passes(16, next), 2u);
  EXPECT_EQ(passes(16, second_next), 2u);
  EXPECT_EQ(passes(8, one), 1u);
  EXPECT_EQ(passes(8, next), 1u);
  EXPECT_EQ(passes(4, next), 1u) << "a warp of words is one group as it is";
  EXPECT_EQ(passes(16, [](unsigned lane) { return lane; }), 4u) << "all differ";
  EXPECT_EQ(passes(16, [](unsigned lane) { return lane % 8; }), 4u) << "equal, but not in pairs";
  EXPECT_EQ(passes(16, [](unsigned lane) { return lane / 2 * 8; }), 16u) << "pairs that meet in a bank";
  EXPECT_EQ(passes(16, one, 0xffu), 1u);
  EXPECT_EQ(passes(16, one, 0), 0u);
}

TEST(BankConflicts, NobodyActiveIsNoPass) { EXPECT_EQ(shared_passes(strided(4).data(), 0, 4, fermi), 0u); }

TEST(BankConflicts, AtomicsOnOneWordAreDoneInTurn) {
  EXPECT_EQ(shared_atomic_passes(strided(0).data(), ~0u, 4, fermi), 32u);
  EXPECT_EQ(shared_atomic_passes(strided(4).data(), ~0u, 4, fermi), 1u);
}

TEST(BankConflicts, ConstantsTakeOnePassAnAddress) {
  EXPECT_EQ(constant_passes(strided(0).data(), ~0u), 1u);
  EXPECT_EQ(constant_passes(strided(4).data(), ~0u), 32u);
  EXPECT_EQ(constant_passes(strided(4).data(), 0xf), 4u);
}

// The definition, slowly: per group the most distinct words of one bank.
unsigned naive(const Offsets& o, std::uint32_t mask, unsigned bytes, const Banks& banks) {
  const unsigned width = std::min(32u, banks.count * banks.bytes / bytes);
  unsigned passes = 0;
  for (unsigned first = 0; first < 32; first += width) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words;
    for (unsigned lane = first; lane < first + width; ++lane)
      if (mask >> lane & 1)
        for (unsigned b = 0; b < bytes; ++b)
          words[(o[lane] + b) / banks.bytes % banks.count].insert((o[lane] + b) / banks.bytes);
    std::size_t most = 0;
    for (const auto& [bank, set] : words) most = std::max(most, set.size());
    passes += static_cast<unsigned>(most);
  }
  return passes;
}

TEST(BankConflicts, EqualsTheDefinitionOnRandomPatterns) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const Banks& banks = random() % 2 ? fermi : wide;
    Offsets o;
    const std::uint64_t range = std::uint64_t{1} << (3 + random() % 10);
    const bool pattern = random() % 2;
    const std::uint64_t stride = random() % 40;
    for (unsigned lane = 0; lane < 32; ++lane) o[lane] = (pattern ? lane * stride : random() % range) * bytes;
    const std::uint32_t mask = random() % 2 ? ~0u : static_cast<std::uint32_t>(random());
    ASSERT_EQ(shared_passes(o.data(), mask, bytes, banks), naive(o, mask, bytes, banks))
        << bytes << ' ' << stride;
  }
}

}  // namespace
}  // namespace simtlab::stream
