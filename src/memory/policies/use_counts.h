// How often the lines of a cache were used since they came.
#pragma once

#include <vector>

#include "memory/replacement.h"

namespace simtlab::memory {

class UseCounts : public Replacement {
 public:
  UseCounts(std::uint32_t sets, std::uint32_t ways) : ways_(ways), uses_(std::size_t{sets} * ways, 0) {}
  void filled(std::uint32_t set, std::uint32_t way) override { uses_[std::size_t{set} * ways_ + way] = 1; }
  void used(std::uint32_t set, std::uint32_t way) override {
    std::uint32_t& uses = uses_[std::size_t{set} * ways_ + way];
    if (uses != ~std::uint32_t{0}) ++uses;
  }
  void clear() override { uses_.assign(uses_.size(), 0); }
  void save(stream::trace::Buffer& out) const override {
    for (const std::uint32_t uses : uses_) stream::trace::put_number(out, uses);
  }
  void restore(stream::trace::Bytes& in) override {
    for (std::uint32_t& uses : uses_)
      uses = static_cast<std::uint32_t>(in.number(~std::uint32_t{0}, "the uses of a line"));
  }

 protected:
  // The first way that has the fewest uses, or the most.
  std::uint32_t find(std::uint32_t set, bool most) const {
    const std::uint32_t* const uses = &uses_[std::size_t{set} * ways_];
    std::uint32_t best = 0;
    for (std::uint32_t way = 1; way < ways_; ++way)
      if (most ? uses[way] > uses[best] : uses[way] < uses[best]) best = way;
    return best;
  }

 private:
  std::uint32_t ways_;
  std::vector<std::uint32_t> uses_;
};

}  // namespace simtlab::memory
