// Orders of single threads: the picture is the sequence in which the cache was asked, and the cache is the
// one of text books.
#include <gtest/gtest.h>

#include <bit>
#include <list>
#include <map>
#include <set>

#include "cache/kept_accesses.h"
#include "cache/order.h"
#include "cache/turn_numbers.h"
#include "kernels.h"
#include "validate_kernels.h"

namespace simtlab::cache {
namespace {

struct Access {
  std::uint64_t address;
  std::uint64_t thread;
  bool store;
};

std::vector<Access> sequence_of(const result::KernelResult& r, const std::vector<Buffer>& buffers) {
  std::vector<Access> out;
  const result::Table* const points = result::find(r.tables, "points");
  for (std::size_t i = 0; i < points->rows.size(); ++i) {
    const std::string& name = std::get<std::string>(points->rows[i][result::column("points", "buffer")]);
    const auto buffer = std::ranges::find_if(buffers, [&](const Buffer& b) { return b.name == name; });
    EXPECT_EQ(cell(r, "points", i, "order"), static_cast<double>(i));
    out.push_back({buffer->begin + static_cast<std::uint64_t>(cell(r, "points", i, "offset")),
                   static_cast<std::uint64_t>(cell(r, "points", i, "thread")),
                   cell(r, "points", i, "store") != 0});
  }
  return out;
}

// Reads that miss an LRU cache whose sets are the line modulo their number; stores throw a line's data out,
// not its place.
std::uint64_t misses_of(const std::vector<Access>& accesses, std::size_t sets, std::size_t ways,
                        std::uint64_t line_bytes = 128) {
  std::vector<std::list<std::pair<std::uint64_t, bool>>> cache(sets);  // line, whether its data is there
  std::uint64_t misses = 0;
  for (const Access& a : accesses) {
    const std::uint64_t line = a.address / line_bytes;
    auto& set = cache[line % sets];
    const auto at = std::ranges::find_if(set, [&](const auto& one) { return one.first == line; });
    if (a.store) {
      if (at != set.end()) at->second = false;
      continue;
    }
    if (at == set.end()) {
      ++misses;
      if (set.size() == ways) set.pop_back();
      set.emplace_front(line, true);
      continue;
    }
    misses += at->second ? 0 : 1;
    at->second = true;
    set.splice(set.begin(), set, at);
  }
  return misses;
}

std::vector<std::string> thread_orders() {
  std::vector<std::string> out;
  for (const auto& [name, policy] : order_policies())
    if (policy->threads != nullptr) out.emplace_back(name);
  return out;
}

device::Device one_sm(const char* index = "modulo") {
  return device_with("gtx480", {{"sm.count", "1"}, {"l1.set_index", index}});
}

// Each thread: in every round a word of each of `lines` lines that share a set, then a store to another
// buffer.
constexpr const char* rounds = R"(
.entry conflict(.param .u64 in, .param .u64 out, .param .u32 stride, .param .u32 lines) {
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [stride];
  ld.param.u32 %r2, [lines];
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd3, %r3, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r4, 0;
  mov.u32 %r8, 0;
$round:
  mov.u32 %r5, 0;
  mov.u64 %rd4, %rd1;
$line:
  ld.global.u32 %r6, [%rd4];
  add.u32 %r8, %r8, %r6;
  cvt.u64.u32 %rd5, %r1;
  add.u64 %rd4, %rd4, %rd5;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, %r2;
  @%p1 bra $line;
  st.global.u32 [%rd2], %r8;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 8;
  @%p2 bra $round;
  exit;
})";

struct Conflict {
  Conflict() : kernels(rounds) {
    in = kernels.allocate(1 << 16);
    out = kernels.allocate(4096);
    kernels.buffers = {{in, in + (1 << 16), "in"}, {out, out + 4096, "out"}};
  }
  result::KernelResult run(const std::string& order, std::uint32_t lines, std::uint32_t threads,
                           const Options& base = {}) {
    Options o = base;
    o.order = order;
    o.pictures = 1 << 20;
    return kernels.run(one_sm(), o, "conflict", {1, 1, 1}, {threads, 1, 1}, in, out, std::uint32_t{4096},
                       lines);
  }
  Kernels kernels;
  std::uint64_t in = 0, out = 0;
};

TEST(ThreadOrders, FillAtOnceAndPinNothing) {
  Conflict c;
  for (const std::string& order : thread_orders())
    for (const std::uint32_t threads : {1u, 33u, 128u})
      for (const std::uint32_t lines : {4u, 5u, 9u}) {
        const auto r = c.run(order, lines, threads);
        EXPECT_EQ(metric(r, "l1.read.hits_pending"), 0) << order;
        EXPECT_EQ(metric(r, "l1.read.stalled"), 0) << order;
        const auto sequence = sequence_of(r, c.kernels.buffers);
        ASSERT_EQ(sequence.size(), std::size_t{threads} * 8 * (lines + 1)) << order;
        EXPECT_EQ(metric(r, "l1.read.misses"), misses_of(sequence, 32, 4))
            << order << ", " << threads << " threads, " << lines << " lines";
      }
  // Five lines of a set of four ways, in turn: all of the 40 reads miss.
  EXPECT_EQ(metric(c.run("sequential", 5, 1), "l1.read.misses"), 40);
}

// What has to do with time changes nothing.
TEST(ThreadOrders, DoNotDependOnLatencies) {
  Conflict c;
  for (const std::string& order : thread_orders()) {
    const auto usual = c.run(order, 5, 128);
    Options o;
    o.zero_latency = true;
    EXPECT_EQ(c.run(order, 5, 128, o).metrics, usual.metrics) << order;
    o = {};
    o.jitter = 5000, o.skew = 10000, o.allocate = Allocate::on_fill;
    EXPECT_EQ(c.run(order, 5, 128, o).metrics, usual.metrics) << order;
  }
}

TEST(ThreadOrders, AreWhatTheirPicturesShow) {
  Conflict c;
  constexpr std::uint32_t threads = 64, per_thread = 8 * 6;
  for (const std::string& order : thread_orders()) {
    const auto sequence = sequence_of(c.run(order, 5, threads), c.kernels.buffers);
    ASSERT_EQ(sequence.size(), threads * per_thread);
    std::map<std::uint64_t, std::uint32_t> done;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const Access& a = sequence[i];
      // Of each thread in the order of its program: five reads, then a store.
      const std::uint32_t at = done[a.thread]++ % 6;
      EXPECT_EQ(a.store, at == 5) << order << ' ' << i;
      EXPECT_EQ(a.address, a.store ? c.out + 4 * a.thread : c.in + 4096 * at + 4 * a.thread)
          << order << ' ' << i;
      if (order == "sequential") {
        EXPECT_EQ(a.thread, i / per_thread) << i;
      } else if (order == "round_robin") {
        EXPECT_EQ(a.thread, i % threads) << i;
      }
    }
    if (order == "random") {
      std::size_t same = 0;
      for (std::size_t i = 1; i < sequence.size(); ++i)
        same += sequence[i].thread == sequence[i - 1].thread ? 1 : 0;
      EXPECT_LT(same, sequence.size() / 8);
      // Nobody is ahead of the others: half-way, every thread is near its half.
      std::map<std::uint64_t, std::uint32_t> half;
      for (std::size_t i = 0; i < sequence.size() / 2; ++i) ++half[sequence[i].thread];
      for (const auto& [thread, count] : half) EXPECT_NEAR(count, per_thread / 2, 18) << thread;
      EXPECT_EQ(half.size(), threads);
    }
  }
}

// A kernel with two dimensions, many blocks and lines that threads share.
TEST(ThreadOrders, OfTheMultiplicationMissAsTheReferenceDoes) {
  StudyKernels k;
  k.name_buffers = true;
  for (const std::string& order : thread_orders()) {
    Options o;
    o.order = order;
    o.pictures = 1 << 20;
    const auto r = k.matmul(one_sm(), o, 16, 2);
    const auto sequence = sequence_of(r, k.buffers);
    ASSERT_EQ(sequence.size(), metric(r, "access.threads"));
    EXPECT_EQ(metric(r, "l1.read.misses"), misses_of(sequence, 32, 4)) << order;
    EXPECT_EQ(metric(r, "l1.read.hits_pending"), 0) << order;
  }
}

// Addresses that nothing can foresee: each thread mixes its number, its round and a seed into an offset below
// `mask` words and loads there, or stores in an eighth of the rounds.
constexpr const char* scatter = R"(
.entry scatter(.param .u64 in, .param .u32 mask, .param .u32 rounds, .param .u32 seed) {
  .reg .pred %p<3>; .reg .b32 %r<16>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u32 %r1, [mask];
  ld.param.u32 %r2, [rounds];
  ld.param.u32 %r3, [seed];
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r10, %ntid.x;
  mad.lo.u32 %r4, %r5, %r10, %r4;
  mov.u32 %r6, 0;
$round:
  mad.lo.u32 %r7, %r4, 40503, %r3;
  mad.lo.u32 %r7, %r6, 30011, %r7;
  mul.lo.u32 %r7, %r7, 0x9E3779B1;
  shr.u32 %r8, %r7, 15;
  xor.b32 %r7, %r7, %r8;
  mul.lo.u32 %r7, %r7, 0x85EBCA77;
  shr.u32 %r8, %r7, 13;
  xor.b32 %r7, %r7, %r8;
  and.b32 %r9, %r7, %r1;
  mul.wide.u32 %rd2, %r9, 4;
  add.u64 %rd3, %rd1, %rd2;
  shr.u32 %r8, %r7, 29;
  setp.eq.u32 %p1, %r8, 0;
  @%p1 st.global.u32 [%rd3], %r7;
  @!%p1 ld.global.u32 %r11, [%rd3];
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, %r2;
  @%p2 bra $round;
  exit;
})";

TEST(ThreadOrders, OfRandomAccessesMissAsTheReferenceDoes) {
  struct Geometry {
    std::uint64_t line, sets, ways;
  };
  constexpr Geometry geometries[] = {{128, 32, 4}, {128, 1, 8}, {128, 64, 1}, {64, 16, 2}, {32, 8, 5}};
  Kernels k(scatter);
  const std::uint64_t in = k.allocate(1 << 18);
  k.buffers = {{in, in + (1 << 18), "in"}};
  std::uint32_t seed = 1;
  for (const Geometry& g : geometries) {
    const std::string line = std::to_string(g.line) + " B";
    const device::Device device =
        device_with("gtx480", {{"sm.count", "1"},
                               {"l1.set_index", "modulo"},
                               {"l1.bytes", std::to_string(g.line * g.sets * g.ways) + " B"},
                               {"l1.ways", std::to_string(g.ways)},
                               {"l1.line_bytes", line},
                               {"l1.sector_bytes", line}});
    // Twice what fits, and eight times
    for (const std::uint64_t factor : {2u, 8u})
      for (const std::string& order : thread_orders()) {
        const auto words = std::bit_ceil(static_cast<std::uint32_t>(factor * g.line * g.sets * g.ways / 4));
        Options o;
        o.order = order;
        o.pictures = 1 << 20;
        o.seed = seed;
        const auto r =
            k.run(device, o, "scatter", {3, 1, 1}, {96, 1, 1}, in, words - 1, std::uint32_t{23}, seed);
        const auto sequence = sequence_of(r, k.buffers);
        ASSERT_EQ(sequence.size(), std::size_t{3} * 96 * 23) << order;
        const std::uint64_t misses = misses_of(sequence, g.sets, g.ways, g.line);
        EXPECT_EQ(metric(r, "l1.read.misses"), misses)
            << order << ", lines of " << g.line << " bytes, " << g.sets << " sets, " << g.ways << " ways";
        EXPECT_GT(misses, sequence.size() / 8);
        EXPECT_LT(misses, sequence.size());
        ++seed;
      }
  }
}

// The offset of a thread's access in `scatter`, in words, and whether it is a store.
std::pair<std::uint32_t, bool> scattered(std::uint32_t thread, std::uint32_t round, std::uint32_t seed,
                                         std::uint32_t mask) {
  std::uint32_t x = (thread * 40503 + seed + round * 30011) * 0x9E3779B1u;
  x = (x ^ x >> 15) * 0x85EBCA77u;
  x ^= x >> 13;
  return {x & mask, x >> 29 == 0};
}

// Neighbours that take turns together are coalesced as a warp of that size.
TEST(ThreadOrders, WarpsOfAnySizeAreCoalesced) {
  constexpr std::uint32_t mask = 1023, rounds = 23, seed = 7, blocks = 3, threads = 96;
  Kernels k(scatter);
  const std::uint64_t in = k.allocate(1 << 18);
  k.buffers = {{in, in + (1 << 18), "in"}};
  for (const std::uint32_t width : {1u, 2u, 8u, 16u, 32u, 64u, 256u}) {
    std::uint64_t lines = 0;
    for (std::uint32_t block = 0; block < blocks; ++block)
      for (std::uint32_t first = 0; first < threads; first += width)
        for (std::uint32_t round = 0; round < rounds; ++round) {
          std::set<std::pair<std::uint32_t, bool>> touched;
          for (std::uint32_t t = first; t < std::min(first + width, threads); ++t) {
            const auto [word, store] = scattered(block * threads + t, round, seed, mask);
            touched.emplace(word * 4 / 128, store);
          }
          lines += touched.size();
        }
    for (const std::string& order : thread_orders()) {
      Options o;
      o.order = order;
      o.warp_size = width;
      o.pictures = 1 << 20;
      const auto r = k.run(one_sm(), o, "scatter", {blocks, 1, 1}, {threads, 1, 1}, in, mask, rounds, seed);
      EXPECT_EQ(metric(r, "access.lines"), lines) << order << ", warps of " << width;
      EXPECT_EQ(metric(r, "access.threads"), blocks * threads * rounds);
      // Each thread's accesses stay in their order.
      std::map<std::uint64_t, std::uint32_t> done;
      for (const Access& a : sequence_of(r, k.buffers)) {
        const auto [word, store] =
            scattered(static_cast<std::uint32_t>(a.thread), done[a.thread]++, seed, mask);
        ASSERT_EQ(a.address, in + word * 4) << order << ", warps of " << width;
        ASSERT_EQ(a.store, store);
      }
    }
  }
}

TEST(ThreadOrders, OneThreadIsAWarpOfOne) {
  Conflict c;
  Options one;
  one.warp_size = 1;
  for (const std::string& order : thread_orders())
    EXPECT_EQ(c.run(order, 5, 128, one).metrics, c.run(order, 5, 128).metrics) << order;
}

TEST(ThreadOrders, PassNoBarrierInWarpsOfAnySize) {
  Kernels k(R"(
.entry both(.param .u64 in) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  ld.global.u32 %r2, [%rd2];
  bar.sync 0;
  ld.global.u32 %r3, [%rd2+8192];
  exit;
})");
  const std::uint64_t in = k.allocate(1 << 16);
  k.buffers = {{in, in + (1 << 16), "in"}};
  for (const std::string& order : thread_orders())
    for (const std::uint32_t width : {1u, 8u, 64u, 1024u}) {
      Options o;
      o.order = order, o.warp_size = width, o.pictures = 1 << 20;
      const auto sequence = sequence_of(k.run(one_sm(), o, "both", {1, 1, 1}, {200, 1, 1}, in), k.buffers);
      ASSERT_EQ(sequence.size(), 400u) << order << ' ' << width;
      for (std::size_t i = 0; i < sequence.size(); ++i)
        EXPECT_EQ(sequence[i].address >= in + 8192, i >= 200) << order << ' ' << width << ' ' << i;
    }
}

TEST(ThreadOrders, SizesOfWarpsAndFetchGroupsGoWithTheirOrders) {
  StudyKernels k;
  Options o;
  o.order = "lrr", o.warp_size = 16;
  EXPECT_THROW(k.transpose(one_sm(), o, 2), Error);
  o.order = "gto", o.warp_size = 0, o.fetch_group = 4;
  EXPECT_THROW(k.transpose(one_sm(), o, 2), Error);
  for (const char* bad :
       {"warp_size=0", "warp_size=3", "warp_size=2048", "warp_size=-1", "fetch_group=0", "fetch_group=x"})
    EXPECT_THROW(parse_options(bad), Error) << bad;
  // Eight is what it is without.
  o.order = "two_level", o.fetch_group = 0;
  const auto usual = k.matmul(one_sm(), o, 16, 4);
  o.fetch_group = 8;
  EXPECT_EQ(k.matmul(one_sm(), o, 16, 4).metrics, usual.metrics);
  o.fetch_group = 1;
  EXPECT_NE(metric(k.matmul(one_sm(), o, 16, 4), "l1.read.misses"), metric(usual, "l1.read.misses"));
}

// The number of a thread in pictures, of blocks of `width` x `width` threads: block by block.
std::uint64_t thread_at(std::uint64_t x, std::uint64_t y, std::uint64_t width, std::uint64_t blocks) {
  return ((y / width * blocks + x / width) * width + y % width) * width + x % width;
}

// Single threads of blocks that alternate go row by row of the grid.
TEST(ThreadOrders, BlocksThatAlternateAreRowsOfTheGrid) {
  StudyKernels k;
  k.name_buffers = true;
  constexpr std::uint64_t blocks = 2, side = 16 * blocks, threads = side * side;
  for (const char* order : {"round_robin", "sequential"}) {
    Options o;
    o.order = order, o.alternate_blocks = true, o.pictures = 1 << 20;
    const auto r = k.transpose(one_sm(), o, blocks);
    const auto sequence = sequence_of(r, k.buffers);
    ASSERT_EQ(sequence.size(), 2 * threads);
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const bool in_turn = o.order == "round_robin";
      const std::uint64_t turn = in_turn ? i % threads : i / 2;
      EXPECT_EQ(sequence[i].thread, thread_at(turn % side, turn / side, 16, blocks)) << order << ' ' << i;
      EXPECT_EQ(sequence[i].store, in_turn ? i >= threads : i % 2 == 1);
    }
    EXPECT_EQ(metric(r, "l1.read.misses"), misses_of(sequence, 32, 4)) << order;
  }
}

// Warps of blocks that alternate: the first of every block, then the second of every block.
TEST(ThreadOrders, BlocksThatAlternateTakeTurnsWarpByWarp) {
  StudyKernels k;
  k.name_buffers = true;
  constexpr std::uint64_t blocks = 4, width = 32, in_block = 256 / width;
  Options o;
  o.order = "round_robin", o.warp_size = width, o.alternate_blocks = true, o.pictures = 1 << 20;
  const auto sequence = sequence_of(k.transpose(one_sm(), o, 2), k.buffers);
  ASSERT_EQ(sequence.size(), 2u * blocks * 256);
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::uint64_t turn = i / width % (blocks * in_block);
    EXPECT_EQ(sequence[i].thread, turn % blocks * 256 + turn / blocks * width + i % width) << i;
    EXPECT_EQ(sequence[i].store, i >= blocks * 256);
  }
}

// More blocks than an SM holds: the first ones take turns, the others come in as places get free.
TEST(ThreadOrders, BlocksThatAlternateAllCome) {
  StudyKernels k;
  k.name_buffers = true;
  for (const char* order : {"round_robin", "sequential"})
    for (const std::uint32_t width : {1u, 32u, 64u}) {
      Options o;
      o.order = order, o.warp_size = width, o.alternate_blocks = true, o.pictures = 1 << 20;
      const auto sequence = sequence_of(k.transpose(one_sm(), o, 5), k.buffers);
      ASSERT_EQ(sequence.size(), 2u * 25 * 256) << order << ' ' << width;
      std::map<std::uint64_t, std::uint32_t> done;
      for (const Access& a : sequence) EXPECT_EQ(a.store, done[a.thread]++ == 1) << order << ' ' << width;
      EXPECT_EQ(done.size(), 25u * 256) << order << ' ' << width;
    }
}

TEST(ThreadOrders, ThatKnowNoNumbersDoNotAlternate) {
  StudyKernels k;
  Options o;
  o.alternate_blocks = true;
  for (const char* order : {"", "lrr", "two_level", "random"}) {
    o.order = order;
    EXPECT_THROW(k.transpose(one_sm(), o, 2), Error) << order;
  }
  for (const char* bad : {"alternate_blocks=2", "alternate_blocks=yes", "fetch_on_write=-1"})
    EXPECT_THROW(parse_options(bad), Error) << bad;
  o.order = "round_robin", o.fetch_on_write = true;
  EXPECT_EQ(parse_options(to_text(o)), o);
}

TEST(KeptAccesses, ComeOutAsTheyWentIn) {
  KeptAccesses kept;
  std::list<std::uint64_t> expected;
  std::uint64_t next = 0, seed = 1;
  // Mostly in, mostly out, by turns, so that it runs empty and grows large
  for (int i = 0; i < 20000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    ASSERT_EQ(kept.empty(), expected.empty());
    if (expected.empty() || (seed >> 60) < (i / 1000 % 2 == 0 ? 11u : 5u)) {
      kept.push_back({.address = next, .code = nullptr, .pc = 0, .step = 0, .bytes = 4, .local = false});
      expected.push_back(next++);
    } else {
      ASSERT_EQ(kept.front().address, expected.front());
      kept.pop_front(), expected.pop_front();
    }
  }
  EXPECT_GT(next, 9000u);
}

// Numbers are a rearrangement of the units, whatever blocks there are.
TEST(TurnNumbers, AreARearrangement) {
  constexpr std::uint32_t places = 5, units = 64;
  TurnNumbers numbers(places, units, true);
  const exec::Dim3 grid{7, 3, 2}, block{5, 3, 4};  // 60 threads of two warps
  std::uint64_t seed = 1;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint32_t> before(places * units);
    for (std::uint32_t n = 0; n < before.size(); ++n) before[n] = numbers.unit_of(n);
    std::vector<std::uint64_t> blocks(places);
    for (std::uint32_t place = 0; place < places; ++place) {  // a block has one place
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      blocks[place] = seed >> 60 < 4 ? TurnNumbers::vacant : (seed >> 33) % 8 * places + place;
    }
    const auto renumbered = numbers.by_grid(blocks, grid, block);
    std::uint64_t last = 0;
    std::uint32_t threads = 0;
    for (const std::uint64_t one : blocks)
      threads += one == TurnNumbers::vacant ? 0 : static_cast<std::uint32_t>(block.count());
    for (std::uint32_t n = 0; n < places * units; ++n) {
      const std::uint32_t unit = numbers.unit_of(n);
      ASSERT_EQ(numbers.number_of(unit), n);
      EXPECT_EQ(renumbered[n], numbers.number_of(before[n]));
      if (n >= threads) continue;
      const std::uint64_t at = blocks[unit / units], in = unit % units;
      ASSERT_NE(at, TurnNumbers::vacant);
      ASSERT_LT(in, block.count());
      const std::uint64_t x = at % 7 * 5 + in % 5, y = at / 7 % 3 * 3 + in / 5 % 3, z = at / 21 * 4 + in / 15;
      const std::uint64_t global = (z * 9 + y) * 35 + x;
      EXPECT_GE(global, last) << n;
      last = global;
    }
  }
  TurnNumbers apart(places, units, false);
  for (std::uint32_t n = 0; n < places * units; ++n) EXPECT_EQ(apart.unit_of(n), n);
}

// The picture of all SMs has each in its own order.
TEST(ThreadOrders, PicturesOfAllSms) {
  StudyKernels k;
  k.name_buffers = true;
  for (const char* order : {"sequential", "lrr"}) {
    Options o;
    o.order = order, o.pictures = 1 << 14;
    const auto r = k.transpose(device_with("gtx480"), o, 4);
    const result::Table* const points = result::find(r.tables, "sm_points");
    ASSERT_NE(points, nullptr);
    EXPECT_EQ(points->rows.size(), metric(r, "access.threads"));
    std::map<double, double> next;
    for (std::size_t i = 0; i < points->rows.size(); ++i)
      EXPECT_EQ(cell(r, "sm_points", i, "order"), next[cell(r, "sm_points", i, "sm")]++) << order;
    EXPECT_EQ(next.size(), 15u) << order;
  }
}

}  // namespace
}  // namespace simtlab::cache
