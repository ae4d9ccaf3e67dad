// The issue stage of an SM: in each cycle every warp scheduler issues from one of its warps, and every slot
// gets its reason.
//
// A scheduler is evaluated only when something can have changed for it: a warp becomes ready, a pipeline or a
// unit takes more, a warp starts or ends. The slots in between were lost for the reason that held, which is
// that of the warp nearest to issue.
#pragma once

#include <vector>

#include "timing/launch_accounts.h"
#include "timing/scheduler.h"
#include "timing/sm_context.h"
#include "timing/unit_ports.h"
#include "timing/warp_policies.h"

namespace simtlab::timing {

// What happens when a warp has been selected.
class InstructionIssuer {
 public:
  // Issues the next instruction of the warp, or several at once. False: none could be issued after all.
  virtual bool issue(WarpScheduler& scheduler, unsigned warp, Cycle now) = 0;

 protected:
  ~InstructionIssuer() = default;
};

class IssueStage {
 public:
  // The parts of the SM that it works with.
  struct Parts {
    std::vector<Warp>& warps;
    std::vector<WarpScheduler>& schedulers;
    UnitPorts& ports;
    LaunchAccounts& accounts;
    WarpPolicies& policies;
    InstructionIssuer& issuer;
  };
  IssueStage(SmContext& sm, const Parts& parts);

  void begin();             // no warp is there
  Cycle next_try() const {  // when a scheduler has to be evaluated
    Cycle next = never;
    for (const WarpScheduler& scheduler : parts_.schedulers) next = std::min(next, scheduler.next_try);
    return next;
  }
  void run(Cycle now);
  void try_all(Cycle now);                               // something has changed for all of them
  void charge(Cycle now);                                // slots until `now`
  void disown(const Tenant& tenant);                     // the launch has ended; its slots have been charged
  void add_uncharged(Cycle now, SlotCounts& out) const;  // slots until `now`, as charge() would

 private:
  static constexpr unsigned nobody = max_scheduler_warps;
  // Warps that have their operands but whose pipeline takes nothing now, and when the first of these
  // pipelines is free again.
  struct Throttle {
    WarpMask warps = 0;
    Cycle until = never;
  };

  void evaluate(WarpScheduler& scheduler, Cycle now);
  bool may_issue(WarpScheduler& scheduler, Cycle now) const;
  Throttle throttled(WarpScheduler& scheduler, Cycle now) const;
  WarpMask select_and_issue(WarpScheduler& scheduler, WarpMask eligible, Cycle now);
  void end_issue(WarpScheduler& scheduler, WarpMask throttled, Cycle now);
  void close(WarpScheduler& scheduler);
  void wait(WarpScheduler& scheduler, const Throttle& throttle, WarpMask held_back, Cycle now);
  Stall event_reason(const WarpScheduler& scheduler) const;
  // The warp that gives the scheduler's slots their reason.
  unsigned blamed(const WarpScheduler& scheduler, const WakeUps::Next& next, Stall reason) const;
  const Warp& warp_of(const WarpScheduler& scheduler, unsigned local) const {
    return parts_.warps[local * parts_.schedulers.size() + scheduler.index];
  }

  void observe_charge(const WarpScheduler& scheduler, Cycle now);
  void observe_stall(const WarpScheduler& scheduler, unsigned local);
  void observe_warps(const WarpScheduler& scheduler, unsigned issued, WarpMask throttled, Cycle now);

  SmContext& sm_;
  const Parts parts_;
  Cycle turn_mask_;  // sm.issue_turns - 1
};

}  // namespace simtlab::timing
