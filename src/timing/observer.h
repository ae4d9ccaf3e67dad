// What an SM tells when somebody listens. Without a listener the SM has no observer, and each place that
// would tell costs one branch.
//
// One observer an SM, shared with nobody: SMs can be simulated independently, and the sums are formed in the
// order of the SMs.
#pragma once

#include <memory>
#include <vector>

#include "timing/line_profile.h"
#include "timing/load_latency.h"
#include "timing/timeline.h"
#include "timing/timing.h"

namespace simtlab::timing {

class SmObserver {
 public:
  SmObserver(std::uint32_t sm, unsigned schedulers, const Observe& observe, MemoryObserver& memory)
      : sm_(sm),
        memory_(memory),
        blamed_(schedulers, Blamed{&nobody_, no_launch}),
        timeline_(sm, observe.timeline) {}

  void begin(Cycle epoch) {
    launches_.clear();
    loads_.clear();
    sent_.clear();
    nobody_ = {};
    current_ = &nobody_;
    answering_ = false;
    std::ranges::fill(blamed_, Blamed{&nobody_, no_launch});
    timeline_.begin(epoch);
  }

  // A launch comes to the SM; it has the slot from now on.
  void begin_launch(unsigned launch) {
    if (launches_.size() <= launch) launches_.resize(launch + 1);
    launches_[launch] = std::make_unique<Observed>();
  }

  // Slots. blame: who is charged with slots from now on.
  void blame(unsigned scheduler, unsigned launch, const Program& program, std::uint32_t pc) {
    blamed_[scheduler] = {&launches_[launch]->table.at(program.function(), pc), launch};
  }
  // The line of the instruction issued last, which is the launch's.
  void blame_issued(unsigned scheduler, unsigned launch) { blamed_[scheduler] = {current_, launch}; }
  void blame_nobody(unsigned scheduler) { blamed_[scheduler] = {&nobody_, no_launch}; }
  void charge(unsigned scheduler, Stall reason, Cycle slots) {
    blamed_[scheduler].line->slots[static_cast<std::size_t>(reason)] += slots;
  }
  // The slot is that of the instruction issued last.
  void selected() { ++current_->slots[static_cast<std::size_t>(Stall::selected)]; }

  // An instruction is issued; what it asks of memory follows.
  void issued(unsigned launch, std::uint32_t warp, const Program& program, std::uint32_t pc, unsigned lanes,
              Cycle now) {
    launch_ = launches_[launch].get();
    current_ = &launch_->table.at(program.function(), pc);
    ++current_->instructions;
    current_->threads += lanes;
    program_ = &program.function(), pc_ = pc;
    timeline_.issued(warp, *program_, pc, lanes, now);
  }
  // A machine instruction before its last one.
  void issued_part(unsigned launch, const Program& program, std::uint32_t pc) {
    launch_ = launches_[launch].get();
    current_ = &launch_->table.at(program.function(), pc);
  }
  void requested(unsigned sectors) {
    ++current_->requests;
    current_->sectors += sectors;
  }
  void shared(unsigned passes, unsigned conflicts) {
    current_->shared_passes += passes;
    current_->shared_conflicts += conflicts;
  }

  // Loads, by their number in the SM.
  void load_begins(std::uint32_t load, std::uint32_t warp, Cycle now);
  void load_refused(std::uint32_t load, LoadStage why, Cycle now);
  void load_looked_up(std::uint32_t load, Cycle at);
  void load_ends(std::uint32_t load, Cycle at);

  // Requests and replies, in the order in which they pass between SM and network.
  void sent(Cycle offered, Cycle arrives) { sent_.push_back({.sent = offered, .arrived = arrives}); }
  std::vector<Flight>& outbox() { return sent_; }
  void reply(Cycle at) {
    flight_ = memory_.take_reply(sm_);
    reply_at_ = at;
    answering_ = true;
  }
  void replies_end() { answering_ = false; }

  bool states(Cycle now) const { return timeline_.states(now); }
  void state(std::uint32_t warp, std::string_view name, Cycle now) { timeline_.state(warp, name, now); }
  void block_begins(std::uint32_t slot, std::uint64_t block, Cycle now) {
    timeline_.block_begins(slot, block, now);
  }
  void block_ends(std::uint32_t slot, Cycle now) { timeline_.block_ends(slot, now); }

  // What a launch did here; null: it has not been here.
  struct Observed {
    InstTable table;
    LoadLatency latency;
  };
  const Observed* of(unsigned launch) const {
    return launch < launches_.size() ? launches_[launch].get() : nullptr;
  }
  void leave(unsigned launch) {
    if (launch >= launches_.size()) return;
    for (Blamed& blamed : blamed_)
      if (blamed.launch == launch) blamed = {&nobody_, no_launch};
    current_ = &nobody_;
    launches_[launch].reset();
  }
  TimelineRecorder& timeline() { return timeline_; }

 private:
  static constexpr unsigned no_launch = ~0u;
  struct Blamed {
    InstCounters* line;
    unsigned launch;
  };
  struct LoadRecord {
    InstCounters* line = nullptr;  // null: a load that is not followed
    LoadLatency* latency = nullptr;
    const ptx::Function* function = nullptr;
    std::uint32_t pc = 0, warp = 0;
    Cycle issued = 0, refused = never, looked_up = 0;
    LoadStage why = LoadStage::mshr;
  };

  std::uint32_t sm_;
  MemoryObserver& memory_;
  std::vector<std::unique_ptr<Observed>> launches_;  // by slot
  Observed* launch_ = nullptr;                       // whose instruction was issued last
  InstCounters nobody_;                              // takes what belongs to no instruction
  InstCounters* current_ = &nobody_;
  const ptx::Function* program_ = nullptr;  // of the instruction issued last
  std::uint32_t pc_ = 0;
  std::vector<Blamed> blamed_;  // by scheduler
  std::vector<LoadRecord> loads_;
  std::vector<Flight> sent_;
  Flight flight_;  // of the reply that is being delivered
  Cycle reply_at_ = 0;
  bool answering_ = false;
  TimelineRecorder timeline_;
};

}  // namespace simtlab::timing
