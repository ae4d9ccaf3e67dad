// Executions of blocks, numbered in the order in which they begin. Where a block has more barriers than a
// half can count (or a warp more synchronisations), it goes on under another number: its part from there on.
#pragma once

#include <cstdint>
#include <vector>

#include "check/half.h"

namespace simtlab::check {

struct Instance {
  std::uint64_t block = 0;  // of its grid
  std::uint32_t launch = 0;
  Time begin;         // of its warps when this part began
  bool fine = false;  // of its launch: several readers are lists (readers.h)
  std::uint64_t cluster = 0;
};

class Instances {
 public:
  std::uint32_t add(const Instance& instance) {
    all_.push_back(instance);
    return static_cast<std::uint32_t>(first_ + all_.size() - 1);
  }
  const Instance& at(std::uint32_t number) const { return all_[number - first_]; }
  Time time_of(Half h) const {
    const Time begin = at(instance_of(h)).begin;
    const unsigned time = check::time_of(h), epoch = time >> step_bits, step = time & most_steps;
    return {begin.epoch + epoch, epoch == 0 ? begin.step + step : step};
  }
  std::uint32_t next() const { return static_cast<std::uint32_t>(first_ + all_.size()); }
  // Those so far are of no concern any more; false: the numbers are used up, and all cells must be emptied.
  bool forget() {
    first_ += all_.size();
    all_.clear();
    if (first_ < most_instances / 2) return true;
    first_ = 1;
    return false;
  }
  bool nearly_full() const { return first_ + all_.size() >= most_instances - 16; }

 private:
  std::uint64_t first_ = 1;
  std::vector<Instance> all_;
};

}  // namespace simtlab::check
