// When to look whether the launches get anywhere, and when to tell somebody who waits. Both cost time, so
// they happen seldom.
//
// What counts as work is what it took the host to get here: the quanta of few warps are as dear as many
// instructions.
#pragma once

#include <cstdint>
#include <utility>

#include "exec/spin.h"

namespace simtlab::timing {

class ProgressWatch {
 public:
  void begin_period() {  // the GPU was idle
    quanta_ = seen_blocks_ = 0;
    lookout_.restart(0);
    told_ = no_launch;
  }

  // A quantum begins. False: it isn't worth adding up what the SMs have done.
  bool begin_quantum() { return ++quanta_ % seldom == 0; }
  std::uint64_t work(std::uint64_t instructions) const { return quanta_ * work_of_quantum + instructions; }
  // Whether to look for warps that are stuck. While blocks come and go nobody is; blocks: handed out and
  // ended.
  bool due(std::uint64_t work, std::uint64_t blocks) {
    if (std::exchange(seen_blocks_, blocks) == blocks) return lookout_.due(work);
    lookout_.restart(work);
    return false;
  }
  std::uint32_t steps() const { return lookout_.steps(); }  // to look ahead
  void looked(std::uint64_t work) { lookout_.looked(work); }

  // A launch has become the one that is told of.
  bool changes_to(std::uint64_t launch) { return std::exchange(told_, launch) != launch; }
  bool begin_beat() { return ++beats_ % seldom == 0; }  // false: too soon to tell again

 private:
  static constexpr std::uint64_t seldom = 256, work_of_quantum = 64;
  static constexpr std::uint64_t no_launch = ~std::uint64_t{0};
  exec::Lookout lookout_{std::uint64_t{1} << 16, 64};
  std::uint64_t quanta_ = 0, seen_blocks_ = 0;  // since the GPU was idle; at the last look
  std::uint64_t beats_ = 0, told_ = no_launch;
};

}  // namespace simtlab::timing
