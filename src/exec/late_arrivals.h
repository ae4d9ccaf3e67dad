// Arrivals at barriers in shared memory that wait for copies under way (cp.async.mbarrier.arrive). Copies are
// executed when they are issued; a model that times them says when they are done, and the arrivals follow
// then. Where nobody says so they arrive at once.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "exec/memops/view.h"

namespace simtlab::exec {

class LateArrivals {
 public:
  // An instruction of a warp, and the arrivals of its lanes.
  void next(unsigned warp) {
    used_ = true;
    if (warp >= warps_.size()) warps_.resize(warp + 1);
    warps_[warp].emplace_back();
  }
  void add(unsigned warp, std::uint64_t host, ApplyArrival apply, std::uint64_t b) {
    warps_[warp].back().push_back({host, apply, b});
  }
  // Those of the oldest instruction of the warp happen.
  void happen(unsigned warp);
  bool empty() const;
  void clear();

 private:
  struct Arrival {
    std::uint64_t host = 0;  // of the state, in shared memory
    ApplyArrival apply = nullptr;
    std::uint64_t b = 0;
  };
  std::vector<std::deque<std::vector<Arrival>>> warps_;  // up to the last one that had any
  bool used_ = false;                                    // since clear()
};

}  // namespace simtlab::exec
