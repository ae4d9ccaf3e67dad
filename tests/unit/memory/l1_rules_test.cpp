#include "memory/l1_rules.h"

#include <gtest/gtest.h>

#include "device/catalogue.h"

namespace simtlab::memory {
namespace {

device::Device with(device::WritePolicy policy, bool allocate, bool caches_global = true) {
  device::Device d = device::load_device("v100").device;
  d.l1.write_policy = policy;
  d.l1.write_allocate = allocate;
  d.l1_caches_global = caches_global;
  return d;
}

ptx::Inst load(ptx::CacheOp cache, ptx::MemOrder order = ptx::MemOrder::weak) {
  ptx::Inst inst{};
  inst.op_class = ptx::OpClass::load;
  inst.mods.cache = cache;
  inst.mods.order = order;
  return inst;
}

stream::Segment whole(std::uint64_t line) {
  return {.line = line, .bytes = {~0u, ~0u, ~0u, ~0u}, .sectors = 0xf};
}

struct Stored {
  L1Store store;
  std::uint8_t there = 0;  // afterwards
  unsigned evicted = 0;
};

// A store to a line that a load has brought, or not.
Stored store(const device::Device& d, bool local, bool room, bool cached) {
  Cache l1(cache_config(d.l1, 4096, 0));
  Evictions evicted;
  if (cached) l1.fill(7, 0xf, false, evicted);
  const L1Store done = store_in_l1(l1, d, whole(7), local, room, evicted);
  return {done, l1.probe(7, 0xf).hit, evicted.count};
}

TEST(L1Rules, LoadsPassWhereTheInstructionOrTheDeviceSaysSo) {
  using enum ptx::CacheOp;
  const device::Device caching = with(device::WritePolicy::write_through, false),
                       not_caching = with(device::WritePolicy::write_through, false, false);
  EXPECT_TRUE(looks_into_l1(load(ca), caching));
  EXPECT_FALSE(looks_into_l1(load(cg), caching));
  EXPECT_FALSE(looks_into_l1(load(cv), caching));
  EXPECT_FALSE(looks_into_l1(load(ca, ptx::MemOrder::volatile_), caching));
  EXPECT_FALSE(looks_into_l1(load(ca), not_caching));
  EXPECT_TRUE(looks_into_l1(load(nc), not_caching));
  ptx::Inst texture = load(ca);
  texture.op_class = ptx::OpClass::texture;
  EXPECT_TRUE(looks_into_l1(texture, not_caching));
}

TEST(L1Rules, GlobalStoresFollowTheWritePolicy) {
  using enum L1Store::Effect;
  const Stored evict = store(with(device::WritePolicy::write_evict, false), false, true, true);
  EXPECT_EQ(evict.store.effect, drop);
  EXPECT_EQ(evict.store.present, 0xf);
  EXPECT_EQ(evict.there, 0);
  const Stored through = store(with(device::WritePolicy::write_through, false), false, true, true);
  EXPECT_EQ(through.store.effect, refresh);
  EXPECT_EQ(through.there, 0xf);
  EXPECT_EQ(store(with(device::WritePolicy::write_through, false), false, true, false).there, 0);
  EXPECT_EQ(store(with(device::WritePolicy::write_back, true), false, true, false).there, 0xf);
  EXPECT_EQ(store(with(device::WritePolicy::write_back, true), false, false, false).there, 0) << "no room";
  EXPECT_EQ(store(with(device::WritePolicy::write_back, true, false), false, true, true).store.effect, drop)
      << "L1 does not keep global data";
}

TEST(L1Rules, LocalStoresStayWhateverThePolicy) {
  const device::Device d = with(device::WritePolicy::write_evict, false);
  const Stored stored = store(d, true, true, false);
  EXPECT_EQ(stored.store.effect, L1Store::Effect::allocate);
  EXPECT_EQ(stored.store.present, 0);
  EXPECT_EQ(stored.there, 0xf);
}

}  // namespace
}  // namespace simtlab::memory
