// --what-if perfect-coalescing, and the L1 of the code as it is written.
//
// Packing an access into few sectors changes which ones it touches, and with that the reuse: a thread that
// walks along a row finds seven of eight elements in the sector that the first one brought, while of packed
// accesses each asks for new sectors. Coalescing is to make accesses cheaper, not to take the hits away. So
// this L1 follows the accesses as they are written. A load that would find all its sectors here does not wait
// for those that the packed access lacks; they are fetched all the same, so that the traffic is that of the
// packed accesses.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "memory/cache.h"
#include "memory/l1_rules.h"
#include "stream/coalescer.h"

namespace simtlab::timing {

class AsWritten {
 public:
  AsWritten(const memory::CacheConfig& l1, const device::Device& device) : l1_(l1), device_(device) {}

  void make_cold(std::uint32_t ways) {
    if (ways != l1_.ways()) l1_.resize_ways(ways);
    l1_.clear();
    under_way_.clear();
  }
  // A load as it is written: does it find everything? What it lacks is there when the load ends.
  bool finds(const stream::Segments& segments) {
    lacking_.clear();
    for (unsigned i = 0; i < segments.count; ++i) {
      const std::uint8_t wanted = l1_.widen(segments.items[i].sectors);
      if (l1_.read(segments.items[i].line, wanted).miss != 0)
        lacking_.emplace_back(segments.items[i].line, wanted);
    }
    return lacking_.empty();
  }
  // The load of the last finds() has this number.
  void begins(std::uint32_t load) {
    if (load >= under_way_.size()) under_way_.resize(load + 1);
    under_way_[load].swap(lacking_);
  }
  void ends(std::uint32_t load) {
    if (load >= under_way_.size()) return;
    memory::Evictions evicted;  // global memory is written through: nothing is lost
    for (const auto& [line, sectors] : under_way_[load]) {
      evicted.count = 0;
      l1_.fill(line, sectors, false, evicted);
    }
    under_way_[load].clear();
  }
  void stores(const stream::Segments& segments) {
    memory::Evictions evicted;
    for (unsigned i = 0; i < segments.count; ++i) {
      evicted.count = 0;
      memory::store_in_l1(l1_, device_, segments.items[i], false, true, evicted);
    }
  }

 private:
  using Lacking = std::vector<std::pair<std::uint64_t, std::uint8_t>>;  // lines and their sectors
  memory::Cache l1_;
  const device::Device& device_;
  Lacking lacking_;
  std::vector<Lacking> under_way_;  // by load
};

}  // namespace simtlab::timing
