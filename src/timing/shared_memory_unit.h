// Shared memory of an SM: one instruction takes as many passes as the fullest bank has different words to
// give. What lies in another block's goes over the network between the SMs of a cluster.
#pragma once

#include "stream/bank_conflicts.h"
#include "timing/scoreboard.h"
#include "timing/sm_context.h"
#include "timing/unit_ports.h"

namespace simtlab::timing {

class SharedMemoryUnit {
 public:
  SharedMemoryUnit(SmContext& sm, std::vector<Warp>& warps, Scoreboard& scoreboard, UnitPorts& ports)
      : sm_(sm),
        warps_(warps),
        scoreboard_(scoreboard),
        ports_(ports),
        banks_{sm.config.device.shared.banks, sm.config.device.shared.bank_bytes,
               sm.config.device.shared.shares_pairs},
        cycles_a_byte_(sm.config.device.shared.cluster_bandwidth > 0
                           ? 1 / sm.config.device.shared.cluster_bandwidth
                           : 0) {}

  void begin() { network_.reset(); }  // nothing is under way

  // at: when the unit may begin at the earliest.
  void access(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle at);

 private:
  SmContext& sm_;
  std::vector<Warp>& warps_;
  Scoreboard& scoreboard_;
  UnitPorts& ports_;
  stream::Banks banks_;
  double cycles_a_byte_;
  memory::Port network_;  // to the other SMs of a cluster
};

}  // namespace simtlab::timing
