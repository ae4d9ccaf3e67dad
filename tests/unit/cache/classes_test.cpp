// Why reads miss, beside a classifier that keeps every byte of three caches: one without limits, a fully
// associative one, and the real one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bitset>
#include <list>
#include <map>
#include <random>

#include "cache/l1.h"
#include "kernels.h"

namespace simtlab::cache {
namespace {

using LineBytes = std::bitset<128>;
using Effect = memory::L1Store::Effect;

struct Shape {
  std::uint32_t line, sector;  // bytes
};

// An LRU cache of lines, each with the bytes that it has.
class Bytewise {
 public:
  Bytewise(std::size_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}
  // Null if absent; a look is a use.
  LineBytes* use(std::uint64_t number) {
    Set& set = sets_[number % sets_.size()];
    for (auto at = set.begin(); at != set.end(); ++at)
      if (at->first == number) {
        set.splice(set.begin(), set, at);
        return &set.front().second;
      }
    return nullptr;
  }
  LineBytes& take_in(std::uint64_t number) {
    if (LineBytes* const there = use(number)) return *there;
    Set& set = sets_[number % sets_.size()];
    if (set.size() == ways_) set.pop_back();
    return set.emplace_front(number, LineBytes{}).second;
  }
  void drop(std::uint64_t number, const LineBytes& bytes) {  // no use: the line keeps its place
    for (auto& [line, has] : sets_[number % sets_.size()])
      if (line == number) has &= ~bytes;
  }

 private:
  using Set = std::list<std::pair<std::uint64_t, LineBytes>>;
  std::vector<Set> sets_;
  std::size_t ways_;
};

class Classifier {
 public:
  Classifier(Shape shape, std::size_t lines, std::size_t ways)
      : shape_(shape), unlimited_(1, ~std::size_t{0}), lru_(1, lines), real_(lines / ways, ways) {}

  void read(std::uint64_t number, const LineBytes& wanted) {
    Bytewise* const caches[] = {&unlimited_, &lru_, &real_};
    for (std::uint32_t at = 0; at < shape_.line; at += shape_.sector) {
      const LineBytes sector = bytes_of(at);
      if ((wanted & sector).none()) continue;
      ++counts.accesses;
      const auto has_all = [&](Bytewise& cache) {
        const LineBytes* const line = cache.use(number);
        return line != nullptr && (*line & sector) == sector;
      };
      const bool hit = has_all(real_), unlimited = has_all(unlimited_), lru = has_all(lru_);
      ++(hit ? counts.hits : counts.misses);
      if (hit && !lru) ++counts.lucky;
      if (!hit) ++cause(number, at, sector, unlimited, lru);
    }
    // A sector is fetched whole.
    for (std::uint32_t at = 0; at < shape_.line; at += shape_.sector)
      if ((wanted & bytes_of(at)).any()) {
        for (Bytewise* const cache : caches) cache->take_in(number) |= bytes_of(at);
        dropped_[number] &= ~bytes_of(at);
      }
  }

  // fetch: sectors that the store begins are completed from below.
  void store(std::uint64_t number, LineBytes bytes, Effect effect, bool fetch = false) {
    if (effect == Effect::drop) return drop(number, bytes);
    if (effect == Effect::allocate && fetch) bytes = completed(number, bytes);
    for (Bytewise* const cache : {&unlimited_, &lru_, &real_}) {
      LineBytes* const line = effect == Effect::allocate ? &cache->take_in(number) : cache->use(number);
      if (line != nullptr) *line |= bytes;
    }
    if (unlimited_.use(number) != nullptr) touched_[number] |= bytes;
  }

  ReadCounts counts;
  std::uint64_t fetched_by_stores = 0;  // bytes

 private:
  LineBytes sectors_of(const LineBytes& bytes) const {
    LineBytes out;
    for (std::uint32_t at = 0; at < shape_.line; at += shape_.sector)
      if ((bytes & bytes_of(at)).any()) out |= bytes_of(at);
    return out;
  }
  LineBytes completed(std::uint64_t number, const LineBytes& bytes) {
    const LineBytes sectors = sectors_of(bytes), has = real_.take_in(number) | bytes;
    for (std::uint32_t at = 0; at < shape_.line; at += 32) {
      LineBytes unit;
      for (std::uint32_t i = at; i < at + 32; ++i) unit.set(i);
      if ((sectors & unit).any() && (has & unit) != unit) fetched_by_stores += 32;
    }
    return sectors;
  }
  LineBytes bytes_of(std::uint32_t at) const {
    LineBytes out;
    for (std::uint32_t i = 0; i < shape_.sector; ++i) out.set(at + i);
    return out;
  }
  std::uint64_t& cause(std::uint64_t number, std::uint32_t, const LineBytes& sector, bool unlimited,
                       bool lru) {
    if (unlimited) return lru ? counts.conflict : counts.capacity;
    const LineBytes* const line = unlimited_.use(number);
    if (line != nullptr && (*line & sector).any()) return counts.partial;
    return (dropped_[number] & sector).any() ? counts.invalidated : counts.cold;
  }
  void drop(std::uint64_t number, const LineBytes& bytes) {
    const LineBytes sectors = sectors_of(bytes);
    if (const LineBytes* const line = unlimited_.use(number))
      dropped_[number] |= (*line | touched_[number]) & sectors;
    for (Bytewise* const cache : {&unlimited_, &lru_, &real_}) cache->drop(number, sectors);
  }

  Shape shape_;
  Bytewise unlimited_, lru_, real_;
  std::map<std::uint64_t, LineBytes> dropped_, touched_;
};

void expect_equal(const ReadCounts& ours, const ReadCounts& theirs, const std::string& where) {
  EXPECT_EQ(ours.accesses, theirs.accesses) << where;
  EXPECT_EQ(ours.hits, theirs.hits) << where;
  EXPECT_EQ(ours.misses, theirs.misses) << where;
  EXPECT_EQ(ours.cold, theirs.cold) << where;
  EXPECT_EQ(ours.partial, theirs.partial) << where;
  EXPECT_EQ(ours.invalidated, theirs.invalidated) << where;
  EXPECT_EQ(ours.capacity, theirs.capacity) << where;
  EXPECT_EQ(ours.conflict, theirs.conflict) << where;
  EXPECT_EQ(ours.lucky, theirs.lucky) << where;
  EXPECT_EQ(ours.misses, ours.cold + ours.partial + ours.invalidated + ours.capacity + ours.conflict)
      << where;
}

// Accesses within 128 bytes: words, whole sectors, the whole.
stream::Segment random_segment(std::mt19937_64& random, std::uint64_t lines) {
  stream::Segment out{.line = random() % 4 == 0 ? random() % lines : random() % (lines / 4)};
  const auto kind = static_cast<unsigned>(random() % 3);
  const unsigned from = kind == 2 ? 0 : static_cast<unsigned>(random() % 32) * 4, bytes = kind == 2   ? 128
                                                                                          : kind == 1 ? 32
                                                                                                      : 4;
  for (unsigned i = from; i < std::min(128u, from + bytes); ++i) {
    out.bytes[i / 32] |= 1u << i % 32;
    out.sectors = static_cast<std::uint8_t>(out.sectors | 1u << i / 32);
  }
  return out;
}

LineBytes bytes_in(const stream::Segment& s, unsigned sub, std::uint32_t line_bytes) {
  LineBytes out;
  for (std::uint32_t i = 0; i < line_bytes; ++i) {
    const std::uint32_t at = sub * line_bytes + i;
    if (s.bytes[at / 32] >> at % 32 & 1) out.set(i);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> small_caches(Shape shape, const char* policy, bool allocate,
                                                              bool caches_global) {
  const std::string line = std::to_string(shape.line) + " B", sector = std::to_string(shape.sector) + " B";
  return {{"l1.bytes", "2 KiB"},
          {"l1.ways", "2"},
          {"l1.line_bytes", line},
          {"l1.sector_bytes", sector},
          {"l1.set_index", "modulo"},
          {"l1.write_policy", policy},
          {"l1.write_allocate", allocate ? "true" : "false"},
          {"l1.caches_global", caches_global ? "true" : "false"}};
}

constexpr Shape shapes[] = {{128, 32}, {128, 64}, {128, 128}, {64, 32}, {64, 64}, {32, 32}};

// A comparison without any miss of a class would say nothing of it.
void expect_every_class(const ReadCounts& sum, bool thrown_out) {
  EXPECT_GT(sum.cold, 0u);
  EXPECT_GT(sum.partial, 0u);
  EXPECT_GT(sum.capacity, 0u);
  EXPECT_GT(sum.conflict, 0u);
  EXPECT_EQ(sum.invalidated > 0, thrown_out);
}

class MissClassesOfL1 : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(FetchOnWrite, MissClassesOfL1, testing::Bool());

TEST_P(MissClassesOfL1, AreThoseOfAByteByByteClassifier) {
  ReadCounts sum;
  std::uint64_t fetched_by_stores = 0;
  for (const Shape shape : shapes)
    for (const char* policy : {"write_through", "write_back", "write_evict"})
      for (const bool allocate : {false, true})
        for (const bool local : {false, true})
          for (const double sample : {1.0, 0.5}) {
            const auto device = device_with("gtx480", small_caches(shape, policy, allocate, true));
            Options o;
            o.zero_latency = true;
            o.sample = sample;
            o.fetch_on_write = GetParam();
            L1 l1(device, 2, o, 0, nullptr);
            l1.begin_launch();
            const std::size_t lines = 2048 / shape.line;
            Classifier reference(shape, lines, 2);
            const bool drops = std::string_view(policy) == "write_evict" && !local;
            const Effect effect = drops               ? Effect::drop
                                  : local || allocate ? Effect::allocate
                                                      : Effect::refresh;
            const std::string where = fmt::format("{}-byte lines of {}, {}, allocate {}, local {}, sample {}",
                                                  shape.line, shape.sector, policy, allocate, local, sample);
            std::mt19937_64 random(shape.line + shape.sector);
            for (int i = 0; i < 4000; ++i) {
              const stream::Segment s = random_segment(random, 64);
              const auto what = static_cast<unsigned>(random() % 8);
              for (unsigned sub = 0; sub < 128 / shape.line; ++sub) {
                const LineBytes bytes = bytes_in(s, sub, shape.line);
                const std::uint64_t number = s.line * (128 / shape.line) + sub;
                if (bytes.none()) continue;
                if (what < 4)
                  reference.read(number, bytes);
                else
                  reference.store(number, bytes, what < 7 ? effect : Effect::drop, GetParam());
              }
              Time now = 0;
              if (what < 4)
                l1.read(s, {}, now, {});
              else if (what < 7)
                l1.write(s, local, {}, now, {});
              else
                l1.atomic(s, {}, now);
            }
            expect_equal(l1.counts().read, reference.counts, where);
            EXPECT_EQ(l1.counts().bytes_fetched_by_writes, reference.fetched_by_stores) << where;
            if (GetParam() && effect == Effect::allocate) {
              EXPECT_EQ(reference.counts.partial, 0u) << where;
            }
            fetched_by_stores += reference.fetched_by_stores;
            if (testing::Test::HasFailure()) return;
            sum.add(reference.counts);
          }
  expect_every_class(sum, true);
  EXPECT_EQ(fetched_by_stores > 0, GetParam());
}

class MissClassesOfL2 : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(FetchOnWrite, MissClassesOfL2, testing::Bool());

TEST_P(MissClassesOfL2, AreThoseOfAByteByByteClassifier) {
  ReadCounts sum;
  for (const std::uint32_t sector : {32u, 64u, 128u})
    for (const bool allocate : {true, false})
      for (const double sample : {1.0, 0.5}) {
        const auto device = device_with("gtx480", {{"l2.bytes", "4 KiB"},
                                                   {"l2.ways", "2"},
                                                   {"l2.slices", "1"},
                                                   {"l2.set_index", "modulo"},
                                                   {"dram.partitions", "1"},
                                                   {"l2.sector_bytes", std::to_string(sector) + " B"},
                                                   {"l2.write_allocate", allocate ? "true" : "false"}});
        L2 l2(device, sample, GetParam());
        Classifier reference({128, sector}, 32, 2);
        std::mt19937_64 random(sector);
        for (int i = 0; i < 8000; ++i) {
          const stream::Segment s = random_segment(random, 128);
          const LineBytes bytes = bytes_in(s, 0, 128);
          if (random() % 2 == 0) {
            l2.read(s.line, s.sectors, {}, 0);
            reference.read(s.line, bytes);
          } else {
            l2.write(s);
            reference.store(s.line, bytes, allocate ? Effect::allocate : Effect::refresh, GetParam());
          }
        }
        const std::string where =
            fmt::format("sectors of {}, allocate {}, sample {}", sector, allocate, sample);
        expect_equal(l2.counts().read, reference.counts, where);
        EXPECT_EQ(l2.counts().bytes_fetched_by_writes, reference.fetched_by_stores) << where;
        EXPECT_EQ(reference.fetched_by_stores > 0, GetParam() && allocate) << where;
        sum.add(reference.counts);
      }
  expect_every_class(sum, false);
}

constexpr const char* neighbours = R"(
.entry store_one(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 32;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  exit;
}
.entry read_next(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 32;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1+4];
  st.global.u32 [%rd1], %r2;
  exit;
})";

// One word of each sector is stored, then its neighbour is read: nothing is in anybody's way.
TEST(MissClasses, OfSectorsThatStoresHaveBegunAreNoConflicts) {
  Kernels k(neighbours);
  const std::uint64_t p = k.allocate(1 << 16);
  const auto device = device_with("gtx480");
  Study study(device, {});
  k.run(study, device, "store_one", {1, 1, 1}, {512, 1, 1}, p);
  const auto r = k.run(study, device, "read_next", {1, 1, 1}, {512, 1, 1}, p);
  EXPECT_EQ(metric(r, "l2.read.misses"), 512);
  EXPECT_EQ(metric(r, "l2.read.misses.partial"), 512);
  EXPECT_EQ(metric(r, "l2.read.misses.conflict"), 0);
  EXPECT_FALSE(r.metrics.get("l2.write.fetched.bytes"));
}

// Where the stores fetch what they do not fill, their sectors are there.
TEST(MissClasses, OfSectorsThatStoresHaveFetchedAreHits) {
  Kernels k(neighbours);
  const std::uint64_t p = k.allocate(1 << 16);
  const auto device = device_with("gtx480");
  for (const char* order : {"", "round_robin"}) {
    Options o;
    o.order = order, o.fetch_on_write = true;
    Study study(device, o);
    const auto stored = k.run(study, device, "store_one", {1, 1, 1}, {512, 1, 1}, p);
    EXPECT_EQ(metric(stored, "l2.write.fetched.bytes"), 512 * 32) << order;
    EXPECT_EQ(metric(stored, "dram.read.bytes"), 512 * 32) << order;
    EXPECT_EQ(metric(stored, "l1.write.fetched.bytes"), 0) << "L1 of a GTX 480 takes in no store";
    const auto r = k.run(study, device, "read_next", {1, 1, 1}, {512, 1, 1}, p);
    EXPECT_EQ(metric(r, "l2.read.misses"), 0) << order;
    EXPECT_EQ(metric(r, "l2.write.fetched.bytes"), 0) << order;
  }
}

}  // namespace
}  // namespace simtlab::cache
