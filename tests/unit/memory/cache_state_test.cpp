// A cache that is restored goes on as the one that was saved.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/policy_names.h"
#include "memory/cache.h"

namespace simtlab::memory {
namespace {

using stream::trace::Buffer;
using stream::trace::Bytes;
using stream::trace::Malformed;

constexpr std::array<std::uint32_t, 4> half_of_each = {0xffffu, 0xffffu, 0xffffu, 0xffffu};

// Some reads, fills and writes; what came of them.
std::vector<std::uint64_t> use(Cache& cache, std::mt19937& random, unsigned times) {
  std::vector<std::uint64_t> seen;
  for (unsigned i = 0; i < times; ++i) {
    const std::uint64_t line = random() % 97;
    const auto sectors = static_cast<std::uint8_t>(1 + random() % 15);
    Evictions evicted;
    if (random() % 3 == 0) cache.write(line, half_of_each, sectors, true, true, evicted);
    const Cache::Probe probe = cache.read(line, sectors);
    cache.fill(line, probe.miss, random() % 4 == 0, evicted);
    if (random() % 11 == 0) cache.invalidate(line, sectors);
    seen.push_back(probe.hit);
    for (unsigned k = 0; k < evicted.count; ++k)
      seen.push_back(evicted.items[k].line << 4 | evicted.items[k].sectors);
  }
  return seen;
}

TEST(CacheState, GoesOnWhereItWasSaved) {
  for (const std::uint32_t line_bytes : {32u, 64u, 128u})
    for (const auto& [name, replacement] :
         device::names_of(static_cast<const device::Replacement*>(nullptr))) {
      SCOPED_TRACE(name);
      const CacheConfig config{.bytes = 48 * 128,
                               .line_bytes = line_bytes,
                               .ways = 4,
                               .replacement = replacement,
                               .set_index = device::SetIndex::hash};
      Cache cache(config), other(config);
      std::mt19937 random(1), elsewhere(2);
      use(cache, random, 500);
      use(other, elsewhere, 300);
      Buffer saved;
      cache.save(saved);
      Bytes in(saved);
      other.restore(in);
      EXPECT_TRUE(in.at_end());
      Buffer again;
      other.save(again);
      EXPECT_EQ(saved, again);
      std::mt19937 same = random;
      EXPECT_EQ(use(cache, random, 500), use(other, same, 500));
    }
}

TEST(CacheState, RefusesWhatNoCacheWrites) {
  const CacheConfig config{.bytes = 16 * 128, .ways = 4};
  Cache cache(config);
  std::mt19937 random(3);
  use(cache, random, 200);
  Buffer saved;
  cache.save(saved);
  unsigned refused = 0;
  for (std::size_t at = 0; at < saved.size(); ++at) {
    Buffer bad = saved;
    bad[at] ^= 0x15;
    Cache other(config);
    try {
      Bytes in(bad);
      other.restore(in);
      use(other, random, 100);
    } catch (const Malformed&) { ++refused; }
    try {
      Bytes in(std::span<const std::uint8_t>(saved.data(), at));
      other.restore(in);
      FAIL() << at;
    } catch (const Malformed&) {}
  }
  EXPECT_GT(refused, saved.size() / 4);
  Cache larger({.bytes = 32 * 128, .ways = 4});
  Bytes in(saved);
  EXPECT_THROW(larger.restore(in), Malformed);
}

}  // namespace
}  // namespace simtlab::memory
