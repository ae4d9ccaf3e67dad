// Inserts new lines where they leave next (LIP; Qureshi et al., Adaptive Insertion Policies for High
// Performance Caching, ISCA 2007): a line that is never used again pushes out no line that is. A loop over a
// little more than the cache holds hits nothing under LRU; here most of it stays.
#include <algorithm>
#include <vector>

#include "memory/replacement.h"

namespace simtlab::memory {
namespace {

class InsertLast final : public Replacement {
 public:
  InsertLast(std::uint32_t sets, std::uint32_t ways) : ways_(ways), used_(std::size_t{sets} * ways, 0) {}

  void filled(std::uint32_t set, std::uint32_t way) override { used_[at(set, way)] = 0; }
  void used(std::uint32_t set, std::uint32_t way) override { used_[at(set, way)] = ++now_; }
  std::uint32_t victim(std::uint32_t set) override {
    const auto first = used_.begin() + static_cast<std::ptrdiff_t>(at(set, 0));
    return static_cast<std::uint32_t>(std::min_element(first, first + ways_) - first);
  }

  void clear() override {
    used_.assign(used_.size(), 0);
    now_ = 0;
  }
  // For checkpoints.
  void save(stream::trace::Buffer& out) const override {
    stream::trace::put_number(out, now_);
    for (const std::uint64_t time : used_) stream::trace::put_number(out, time);
  }
  void restore(stream::trace::Bytes& in) override {
    now_ = in.number(~std::uint64_t{0}, "the uses of a cache");
    for (std::uint64_t& time : used_) time = in.number(now_, "the last use of a line");
  }

 private:
  std::size_t at(std::uint32_t set, std::uint32_t way) const { return std::size_t{set} * ways_ + way; }

  std::uint32_t ways_;
  std::uint64_t now_ = 0;            // uses so far
  std::vector<std::uint64_t> used_;  // when a line was used last; 0: not since it came
};

std::unique_ptr<Replacement> make(std::uint32_t sets, std::uint32_t ways) {
  return std::make_unique<InsertLast>(sets, ways);
}

}  // namespace

extern constinit const ReplacementRule replace_lip{
    "The line that was used longest ago, where being brought is no use", make};

}  // namespace simtlab::memory
