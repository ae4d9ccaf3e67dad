#include "memory/dram/channel_statistics.h"

#include <algorithm>

namespace simtlab::memory::dram {

// Whatever of the wait for a row was over before the request's first command, or after its column command,
// was not its own.
void ChannelCounters::add_latency(const Request& r, Cycle at, Cycle row_ready) {
  const Cycle begun = std::min(r.begun, at);
  const Cycle row = std::clamp(row_ready, begun, at) - begun;
  requests_.latency_queue += begun - r.arrived;
  requests_.latency_row += r.begun == never ? 0 : row;
  requests_.latency_bus += at - begun - (r.begun == never ? 0 : row);
  requests_.latency_transfer += transfer_;
}

void ChannelCounters::add_commands(std::uint32_t rank, RankActivity& activity) const {
  const BankIndex first = rank * rules_->shape.rank_banks();
  for (BankIndex b = first; b < first + rules_->shape.rank_banks(); ++b) {
    activity.activations += banks_[b].activations;
    activity.reads += banks_[b].reads;
    activity.writes += banks_[b].writes;
  }
}

void ChannelCounters::restart() {
  requests_ = {};
  std::fill(banks_.begin(), banks_.end(), BankActivity{});
  std::fill(pending_.begin(), pending_.end(), 0u);
  loss_.restart();
}

}  // namespace simtlab::memory::dram
