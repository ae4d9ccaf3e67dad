// Loose round-robin: the next ready warp after the last one.
#include "cachesim/schedule.h"

namespace simtlab::cachesim {
namespace {

class LooseRoundRobin final : public Schedule {
 public:
  std::uint32_t pick(const WarpSet& ready) override { return last_ = ready.next_around(last_); }

 private:
  std::uint32_t last_ = WarpSet::none - 1;   // the first pick is from 0
};

}  // namespace

std::unique_ptr<Schedule> make_lrr() { return std::make_unique<LooseRoundRobin>(); }

}  // namespace simtlab::cachesim
