// What a block reads over the whole kernel, and what shared memory should hold of it.
#include "models/loops/tile.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "models/loops/choose.h"
#include "nest.h"

namespace simtlab::models::loops {
namespace {

using namespace test;

std::set<std::int64_t> bytes_in(const Intervals& all) {
  std::set<std::int64_t> out;
  for (const Interval& i : all)
    for (std::int64_t b = i.low; b < i.high; ++b) out.insert(b);
  return out;
}

TEST(Intervals, RepeatedAsOftenAsCounted) {
  const Intervals one_piece = {{0, 4}};
  for (const std::uint64_t stride : {0u, 1u, 3u, 4u, 5u, 16u})
    for (const std::uint64_t copies : {1u, 2u, 3u, 7u, 8u, 33u}) {
      std::set<std::int64_t> expected;
      for (std::uint64_t c = 0; c < copies; ++c)
        for (std::int64_t b = 0; b < 4; ++b) expected.insert(static_cast<std::int64_t>(c * stride) + b);
      const auto got = repeated(one_piece, stride, copies);
      ASSERT_TRUE(got);
      EXPECT_EQ(bytes_in(*got), expected) << stride << ' ' << copies;
      EXPECT_EQ(bytes_of(*got), expected.size());
    }
  EXPECT_FALSE(repeated(one_piece, 8, 1 << 20));  // too many pieces
  EXPECT_FALSE(repeated(one_piece, std::uint64_t{1} << 61, 8));
}

struct Tiled {
  Description nest;
  Shape shape;
  NestCounts counts;
  device::Device device;
};

Tiled tiled(const std::string& load, std::vector<int> loops, std::array<std::uint32_t, 3> block,
            const std::string& store = offset(columns, one)) {
  Tiled out{parse_description(nest_json(load, store)), {}, {}, {}};
  out.shape = shape_of(out.nest, {1024, 1024, std::nullopt, std::nullopt}, {});
  device::Device& d = out.device;
  d.sm.count = 16, d.sm.max_warps = 64, d.sm.max_blocks = 32, d.sm.max_threads_per_block = 1024;
  d.sm.shared_bytes_per_block = 48 << 10, d.sm.shared_bytes = 96 << 10;
  d.sm.registers = 65536, d.sm.max_threads = 2048;
  d.shared.banks = 32, d.shared.bank_bytes = 4;
  out.counts =
      counts_of(out.nest, out.shape, with_block(out.nest, out.shape, std::move(loops), block), d, {});
  return out;
}

std::vector<Tile> tiles(const Tiled& t) {
  return tiles_of(t.nest, t.shape, t.counts.mapping, t.counts.patterns, t.device);
}

TEST(Tile, ARowThatEveryThreadReadsWhole) {  // in[j], rows to threads
  const std::vector<Tile> all = tiles(tiled(offset(none, one), {0}, {64, 1, 1}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].bytes, 4096u);  // over the whole loop
  EXPECT_EQ(all[0].sectors, 128u);
  EXPECT_EQ(all[0].pieces.size(), 1u);
  EXPECT_DOUBLE_EQ(all[0].reads, 64);
  EXPECT_EQ(all[0].passes, 1);
}

TEST(Tile, ATransposedTileIsReadOnceAndPadded) {  // in[i + j * columns]: lanes on j read a column
  const std::vector<Tile> all = tiles(tiled(offset(one, columns), {1, 0}, {32, 32, 1}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].bytes, 4096u);
  EXPECT_DOUBLE_EQ(all[0].reads, 1);
  EXPECT_EQ(all[0].pieces.size(), 32u);
  EXPECT_TRUE(all[0].padded);
  EXPECT_EQ(all[0].passes, 1);
  EXPECT_EQ(all[0].shared_bytes, 4096u + 31 * 4);
}

TEST(Tile, ArraysThatTheNestWritesAndDataStayOut) {
  EXPECT_TRUE(tiles(tiled(R"(["*",64,["const",64,4],["load",64,0]])", {0}, {64, 1, 1})).empty());
}

TEST(Staging, MostSavedPerByteFirstAndOnlyWhatFits) {
  Tiled t = tiled(offset(none, one), {0}, {64, 1, 1});
  std::vector<Staging> all = stagings(t.nest, t.shape, t.counts, t.device);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].fits);
  // 2 warps ask for 1024 sectors of one lane's word each, of which 128 stay.
  EXPECT_DOUBLE_EQ(all[0].saved, (2 * 1024 - 128) * 16.0);
  t.device.sm.shared_bytes_per_block = 4095;
  EXPECT_FALSE(stagings(t.nest, t.shape, t.counts, t.device)[0].fits);
  // Lanes that read in order share nothing.
  const Tiled in_order = tiled(offset(columns, one), {1, 0}, {32, 8, 1});
  EXPECT_TRUE(stagings(in_order.nest, in_order.shape, in_order.counts, in_order.device).empty());
}

TEST(Staging, TheKnapsackBinds) {
  device::Device device;
  device.sm.shared_bytes_per_block = 48 << 10;
  std::vector<Staging> all(3);
  all[0].tile.shared_bytes = 24 << 10, all[1].tile.shared_bytes = 40 << 10,
  all[2].tile.shared_bytes = 8 << 10;
  // Each tile gains 10, but the third costs 5.
  const auto time = [](const std::vector<Tile>& tiles) {
    double t = 100;
    for (const Tile& x : tiles) t += x.shared_bytes == 8 << 10 ? 5 : -10;
    return t;
  };
  EXPECT_EQ(choose(all, device, 100, time), 90);
  EXPECT_TRUE(all[0].chosen);
  EXPECT_FALSE(all[1].chosen);  // no room
  EXPECT_EQ(all[1].time_ns, 0);
  EXPECT_FALSE(all[2].chosen);
  EXPECT_EQ(all[2].time_ns, 95);
  EXPECT_EQ(chosen(all).size(), 1u);
}

// Loads that wait together: no tile gains anything alone, or the second one only once the first is there.
TEST(Staging, TilesThatGainTogether) {
  device::Device device;
  device.sm.shared_bytes_per_block = 48 << 10;
  const auto run = [&](double first, double second, double both) {
    std::vector<Staging> all(2);
    all[0].tile.shared_bytes = 1 << 10, all[1].tile.shared_bytes = 2 << 10;
    const double t = choose(all, device, 100, [&](const std::vector<Tile>& tiles) {
      return tiles.size() == 2 ? both : tiles[0].shared_bytes == 1 << 10 ? first : second;
    });
    return std::make_tuple(t, all[0].chosen, all[1].chosen);
  };
  EXPECT_EQ(run(100, 100, 40), std::make_tuple(40, true, true));
  EXPECT_EQ(run(100, 60, 40), std::make_tuple(40, true, true));
  EXPECT_EQ(run(100, 60, 70), std::make_tuple(60, false, true));
  EXPECT_EQ(run(100, 100, 100), std::make_tuple(100, false, false));
}

TEST(Tile, RowsThatLieBehindEachOtherArePadded) {  // in[i * columns + j], rows of 1024 words to lanes
  Tiled t = tiled(offset(columns, one), {0}, {8, 1, 1});
  t.device.sm.shared_bytes_per_block = 64 << 10;
  std::vector<Tile> all = tiles(t);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].padded);
  EXPECT_EQ(all[0].passes, 1);
  EXPECT_EQ(all[0].pieces.size(), 8u);
  EXPECT_EQ(all[0].shared_bytes, 8u * 4096 + 7 * 4);
  t.device.sm.shared_bytes_per_block = 8 * 4096;  // no room for the padding
  all = tiles(t);
  EXPECT_FALSE(all[0].padded);
  EXPECT_EQ(all[0].passes, 8);
}

TEST(TileCopy, FewStepsTooManyAndManyAtOnce) {
  Tile t;
  for (const auto& [elements, at_once, rounds, ragged] : {std::tuple{64u, 1u, 1u, false},
                                                          {65u, 2u, 1u, true},
                                                          {192u, 3u, 1u, false},
                                                          {320u, 3u, 2u, true},
                                                          {384u, 3u, 2u, false},
                                                          {512u, 4u, 2u, false},
                                                          {10u, 1u, 1u, true}}) {
    t.bytes = elements * 4;
    const TileCopy c = copy_of(t, 4, 64);
    EXPECT_EQ(c.at_once, at_once) << elements;
    EXPECT_EQ(c.rounds, rounds) << elements;
    EXPECT_EQ(c.ragged, ragged) << elements;
    EXPECT_GE(c.at_once * c.rounds * 64, elements);
  }
}

TEST(Staging, CountsMoveFromGlobalToSharedMemory) {
  const Tiled t = tiled(offset(none, one), {0}, {64, 1, 1});
  const std::vector<Tile> all = tiles(t);
  const NestCounts with = staged(t.nest, t.shape, t.counts, all, t.device, {});
  const auto of = [](const NestCounts& c, device::OpClass k) { return c.code.mix[device::index(k)]; };
  EXPECT_EQ(of(t.counts, device::OpClass::load), 1024);
  EXPECT_EQ(of(with, device::OpClass::load), 16);  // 1024 words, 64 threads
  EXPECT_EQ(of(with, device::OpClass::shared), 1024 + 16);
  EXPECT_EQ(of(with, device::OpClass::barrier), 1);
  EXPECT_EQ(with.shared_bytes, 4096u);
  EXPECT_LT(with.l1_bytes, t.counts.l1_bytes);
  EXPECT_LE(with.dram_bytes, t.counts.dram_bytes * 1.0001);
  EXPECT_LT(with.chain_accesses, t.counts.chain_accesses);
  EXPECT_EQ(with.chain_accesses, 4);    // 16 copies of a thread, four at a time
  EXPECT_EQ(with.chain_miss_ratio, 1);  // which miss
}

}  // namespace
}  // namespace simtlab::models::loops
