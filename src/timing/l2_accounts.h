// What L2 has done, for each launch under way and for all.
#pragma once

#include <array>

#include "timing/launch.h"
#include "timing/statistics.h"

namespace simtlab::timing {

class L2Accounts {
 public:
  L2Counters& counters() { return counters_; }
  const L2Counters& counters() const { return counters_; }
  L2Served& of(unsigned launch) { return served_[launch]; }  // of the launch in a slot
  const L2Served& of(unsigned launch) const { return served_[launch]; }
  // The launch has ended, and another one may get its slot.
  void close(unsigned launch) {
    past_.add(served_[launch]);
    served_[launch] = {};
  }
  L2Served all() const {
    L2Served out = past_;
    for (const L2Served& one : served_) out.add(one);
    return out;
  }
  void restart() {
    counters_ = {};
    served_.fill({});
    past_ = {};
  }

 private:
  L2Counters counters_;
  std::array<L2Served, max_launches> served_{};
  L2Served past_;  // of launches that have ended
};

}  // namespace simtlab::timing
