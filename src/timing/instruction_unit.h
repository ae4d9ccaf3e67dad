// What happens when a warp's instruction issues: it is executed, occupies its pipeline, and its results get
// their cycle.
//
// Function and timing happen in one step: the instruction is taken from the source of warps when it issues,
// so that the two cannot diverge. An instruction that becomes several machine instructions occupies an issue
// slot for each; it happens with the last.
#pragma once

#include <vector>

#include "timing/constant_unit.h"
#include "timing/issue_stage.h"
#include "timing/load_store_unit.h"
#include "timing/sequencer.h"
#include "timing/shared_memory_unit.h"

namespace simtlab::timing {

class InstructionUnit final : public InstructionIssuer {
 public:
  // The parts of the SM that it works with.
  struct Parts {
    std::vector<Warp>& warps;
    std::vector<WarpScheduler>& schedulers;
    Scoreboard& scoreboard;
    UnitPorts& ports;
    Sequencer& sequencer;
    SharedMemoryUnit& shared;
    ConstantUnit& constants;
    FrontEnd& front_end;
    LoadStoreUnit& load_store;
  };
  InstructionUnit(SmContext& sm, const Parts& parts);

  // Up to issue_width instructions of the warp in one cycle: dual issue takes the next instruction of the
  // same warp.
  bool issue(WarpScheduler& scheduler, unsigned local, Cycle now) override;

 private:
  enum class Issued : std::uint8_t { nothing, last, more };  // more: the warp may issue again in this cycle
  Issued issue_one(WarpScheduler& scheduler, unsigned local, Cycle now, bool more);
  Issued issue_part(WarpScheduler& scheduler, unsigned local, Warp& warp, const InstInfo& info, Cycle now);
  bool has_constant(WarpScheduler& scheduler, unsigned local, Warp& warp, const InstInfo& info, Cycle now);
  void complete(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now, Cycle next);
  void occupy(WarpScheduler& scheduler, Pipe pipe, FixedCycles interval, Cycle now);
  bool can_pair(const WarpScheduler& scheduler, const InstInfo& first, const InstInfo& second,
                Cycle now) const;

  void compute(std::uint32_t warp, const InstInfo& info, Cycle now);
  void access_memory(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now);
  void access_nothing(std::uint32_t warp, const InstInfo& info, Cycle now);
  void control(std::uint32_t warp, const InstInfo& info, Cycle now);
  void barrier(std::uint32_t warp, const InstInfo& info, Cycle now);
  void fence(std::uint32_t warp, const InstInfo& info, Cycle now);
  void wait_for_copies(std::uint32_t warp, const InstInfo& info, Cycle now);
  void copy_bulk(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now);
  void arrive_behind_copies(std::uint32_t warp, const stream::Step& step, Cycle now, Cycle next,
                            Stall until_next);
  void fetch(WarpScheduler& scheduler, Cycle now);
  static bool behind_with_fetching(const WarpScheduler& scheduler, Cycle now);
  Cycle sleep_cycles(const Warp& warp, const InstInfo& info) const;

  SmContext& sm_;
  const Parts parts_;
  unsigned schedulers_;
  Cycle queued_ = 0;  // how much later the instruction gets to its unit than if none were before it
  Cycle turn_mask_;   // sm.issue_turns - 1
  unsigned yield_cycles_, buffer_;
  FixedCycles fetch_cost_;  // of an instruction; 0: no limit
};

}  // namespace simtlab::timing
