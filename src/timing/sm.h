// A streaming multiprocessor under the clock.
//
// In the order of the hardware: replies from the network, new blocks, memory instructions that had to wait
// for a register or credit, then each warp scheduler issues. Issue takes the instruction from the source of
// warps in the same step: executed then, function and timing cannot diverge. In-order issue per warp with a
// scoreboard of ready cycles per register; loads leave their registers open until the data is there. Between
// events nothing is evaluated: next_event() says when something can happen, skipped slots get the reason that
// held. Memory instructions take their turn at the port of their unit (shared memory: passes; L1: tags and
// bytes) when they issue; L1's tags are looked at then, too, up to a few cycles before the port's turn.
#pragma once

#include <memory>
#include <vector>

#include "exec/spin.h"
#include "memory/cache.h"
#include "memory/mshr.h"
#include "memory/ring.h"
#include "stream/bank_conflicts.h"
#include "stream/coalescer.h"
#include "stream/warp_source.h"
#include "timing/as_written.h"
#include "timing/front_end.h"
#include "timing/interconnect.h"
#include "timing/latencies.h"
#include "timing/observer.h"
#include "timing/program.h"
#include "timing/scheduler.h"
#include "timing/statistics.h"
#include "timing/tenant.h"

namespace simtlab::timing {

// Parameters that all SMs share.
struct SmConfig {
  const device::Device& device;
  const PipeTable& pipes;
  const Latencies& latencies;
  const SchedulerPolicy& policy;
  const device::WhatIf& what_if;
};

class Sm {
 public:
  Sm(std::uint32_t id, const SmConfig& config, Interconnect& network);

  // Empties the SM, time starts at 0 (%clock at epoch). The work is done when the first block comes, so that
  // small grids cost little on large GPUs. L1 and the constant cache start cold whenever a launch comes to an
  // SM without blocks, as between kernels on hardware.
  void begin(std::uint64_t epoch);
  // Room for a block of the launch, beside what is there.
  bool takes(const LaunchContext& launch) const;
  // takes() said so; `at` never decreases
  void assign(LaunchContext& launch, std::uint64_t block, Cycle at);

  Cycle next_event() const;
  void run(Cycle end);  // everything before `end`
  std::vector<TimedRequest>& outbox() { return outbox_; }
  // What its blocks wrote becomes visible to all.
  void commit() {
    for (const auto& tenant : tenants_) tenant->work->commit();
  }

  bool idle() const { return held_.blocks == 0; }
  // Launches that have come here, in their order; those whose blocks have all ended stay until leave().
  const std::vector<std::unique_ptr<Tenant>>& tenants() const { return tenants_; }
  Tenant* tenant(unsigned slot);  // null: it has not been here
  // The launch has ended, and all is settled until then: what it did here joins the past
  void leave(unsigned slot);
  // Charges slots and residency until `now`; everything before has been run
  void settle(Cycle now);
  // Of its first resident block; empty if there is none
  std::string whereabouts(const LaunchContext* launch) const;
  void check_progress() const;  // throws Fault(deadlock) if a block cannot go on
  SmCounters counters() const;  // of all launches since begin()
  // Who listens; null: nobody.
  void observe(std::unique_ptr<SmObserver> observer) { observer_ = std::move(observer); }
  SmObserver* observer() { return observer_.get(); }
  FrontEnd& front_end() { return front_end_; }
  const FrontEnd& front_end() const { return front_end_; }
  // Slots by reason until `now`, as finish() would charge them.
  void add_slots(Cycle now, SlotCounts& out) const;
  // Resident warps summed over the cycles until `now`.
  std::uint64_t warp_cycles(Cycle now) const;
  std::uint64_t warp_instructions() const;  // of all launches since begin()
  // No block is on its way here, and those that are there are stuck (exec/spin.h): adds who waits for what.
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who);
  // Nothing is under way: no load, store, queued instruction or miss register in use. What holds, else what
  // does not.
  std::string unfinished() const;

 private:
  enum class State : std::uint8_t { empty, running, on_register, at_barrier, on_stores, on_async, drain };
  static constexpr unsigned async_groups = 8;
  struct Warp {
    stream::ResidentBlock* block = nullptr;
    Tenant* tenant = nullptr;
    const Program* program = nullptr;
    std::uint32_t pc = 0;
    std::uint16_t in_block = 0, block_slot = 0;
    std::uint8_t scheduler = 0, local = 0;  // who schedules it, and its number there
    State state = State::empty;
    std::uint8_t fraction = 0;  // of a cycle, carried from one latency to the next
    std::uint8_t part = 0;      // machine instructions of the next one that have issued
    std::uint8_t forwards = 0;  // in forwards_
    // Of atomics, outstanding: they come to the registers at the end of a quantum
    std::uint32_t answers = 0;
    std::uint8_t async_group = 0;         // open group of asynchronous copies
    std::uint8_t async_wait = 0;          // on_async: newest groups that may stay open
    std::uint32_t loads = 0, stores = 0;  // outstanding
    Cycle floor = 0;                      // no issue before
    Cycle reach_at = 0;                   // when the line at the end of its instruction buffer is there
    std::uint32_t reach = 0;              // that line
    std::array<std::uint16_t, async_groups> async{};
  };
  struct BlockSlot {
    std::unique_ptr<stream::ResidentBlock> block;  // kept for the next one of the same launch
    Tenant* tenant = nullptr;
    std::uint32_t first_warp = 0, warps_left = 0;
    std::uint32_t at_barrier = 0;
    std::uint64_t number = 0;          // of the block in the grid
    bool taken = false, busy = false;  // busy: it has begun
  };
  struct BlockLaunch {
    std::uint32_t slot = 0;
    Cycle at = 0;
  };
  // A load instruction whose data is not all there.
  struct Load {
    const InstInfo* info = nullptr;
    const Program* program = nullptr;
    Cycle ready_at = 0;
    std::uint32_t remaining = 0;  // answers still expected, + 1 while segments wait in the queue
    std::uint16_t warp = 0;
    std::uint8_t async_group = 0;
  };
  // An instruction that was folded into others while a load still owed it an operand: its results come when
  // that does.
  struct Forward {
    const Program* program = nullptr;
    const InstInfo* info = nullptr;
    std::uint64_t latest = 0;  // of the operands that were known; as in the scoreboard
    std::array<std::uint16_t, 3> open{};
    std::uint8_t count = 0;  // of `open`
  };
  static constexpr unsigned max_forwards = 4;  // of a warp; the next one waits for its operands
  static constexpr std::uint32_t no_load = ~std::uint32_t{0};  // who asked does not wait
  enum class Access : std::uint8_t { load, store, atomic, reduction };
  // Data comes back
  static bool is_load(Access access) { return access == Access::load || access == Access::atomic; }
  // A global or local memory instruction, or what is left of it.
  struct LgInstruction {
    Access access = Access::load;
    bool cached = true;  // looks into L1
    bool local = false;
    bool found = false;  // --what-if perfect-coalescing: as it is written it finds its data in L1
    std::uint16_t warp = 0;
    std::uint32_t load = 0;
    std::uint32_t extra = 0;  // texture: latency beyond L1's, 8 binary places
    unsigned segments = 0;    // left, at the front of lg_segments_
  };

  // sm.cpp: the cycle
  void prepare();
  void deliver(Cycle now);
  void work_for(const Warp& warp) {
    account_ = &warp.tenant->counters;
    asker_ = warp.tenant->context->slot;
  }
  Tenant& admit(LaunchContext& launch);
  void make_cold(const LaunchContext& launch);
  void widen_scoreboard(std::uint32_t slots);
  // First warp of so many free ones in a row; their number if there are none
  std::uint32_t free_run(std::uint32_t warps) const;
  void launch_blocks(Cycle now);
  void start_block(std::uint32_t number, Cycle now);
  void end_block(std::uint32_t number, Cycle now);
  void evaluate(WarpScheduler& scheduler, Cycle now);
  bool open(WarpScheduler& scheduler, Cycle now) const;
  void hold(WarpScheduler& scheduler);
  Cycle throttled_until(const WarpScheduler& scheduler, Pipe pipe, Cycle now) const;
  Stall waiting_reason(const WarpScheduler& scheduler) const;
  void end_warp(std::uint32_t warp, Cycle now);
  static constexpr unsigned nobody = max_scheduler_warps;
  // Who gives the scheduler's slots their reason, by number in the scheduler.
  unsigned blamed(const WarpScheduler& scheduler, const WarpScheduler::Next& next) const;
  Warp& warp_of(const WarpScheduler& scheduler, unsigned local) {
    return warps_[local * schedulers_.size() + index_of(scheduler)];
  }

  // sm_observe.cpp: what observers are told
  unsigned index_of(const WarpScheduler& scheduler) const {
    return static_cast<unsigned>(&scheduler - schedulers_.data());
  }
  void observe_charge(const WarpScheduler& scheduler, Cycle now);
  void observe_stall(const WarpScheduler& scheduler, unsigned local);
  void observe_warps(const WarpScheduler& scheduler, unsigned issued, WarpScheduler::Mask throttled,
                     Cycle now);

  // sm_issue.cpp: one instruction
  bool issue(WarpScheduler& scheduler, unsigned local, Cycle now);  // false: nothing could be done
  enum class Issued : std::uint8_t { nothing, last, more };  // more: the warp may issue again in this cycle
  Issued issue_one(WarpScheduler& scheduler, unsigned local, Cycle now, bool more);
  Issued issue_part(WarpScheduler& scheduler, unsigned local, Warp& warp, const InstInfo& info, Cycle now);
  bool pairs(const InstInfo& first, const InstInfo& second) const;
  Cycle take(memory::Port& port, std::uint32_t warp, FixedCycles cost, Cycle now) {
    first_scheduler_ = warps_[warp].scheduler + 1u;
    return port.take(now, cost);
  }
  void occupy(WarpScheduler& scheduler, Pipe pipe, FixedCycles interval, Cycle now);
  void count(const InstInfo& info, const stream::Step& step);
  void advance_warp(std::uint32_t warp, Cycle floor, Stall reason);
  const InstInfo& look(Warp& warp);
  Stall fetch(Warp& warp, const InstInfo& info, Stall reason);
  bool pass(std::uint32_t warp, const InstInfo& info, Cycle at);
  void forward(std::uint32_t warp);
  bool try_ready(std::uint32_t warp, Stall reason);
  void wait_for_event(std::uint32_t warp, State state, Stall reason);
  void set_destinations(std::uint32_t warp, const Program& program, const InstInfo& info,
                        std::uint64_t value);
  Cycle latency(Warp& warp, std::uint32_t fine) const;
  void after_control(std::uint32_t warp, const InstInfo& info, Cycle now);
  void after_barrier(std::uint32_t warp, const InstInfo& info, Cycle now);
  void release_barriers(std::uint32_t block_slot, Cycle now);
  void after_fence(std::uint32_t warp, const InstInfo& info, Cycle now);
  void after_async_wait(std::uint32_t warp, const InstInfo& info, Cycle now);
  bool async_done(const Warp& warp) const;
  Cycle sleep_cycles(const Warp& warp, const InstInfo& info) const;
  std::uint64_t immediate(const Warp& warp, const ptx::Operand& operand) const;

  // sm_memory.cpp: loads, stores, atomics
  void memory(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now);
  void shared_access(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now);
  void constant_access(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now);
  void global_access(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now);
  void count_global(std::uint32_t warp, const InstInfo& info, const stream::Step& step, bool local);
  bool pack(const InstInfo& info, const stream::Step& step, bool looks_into_l1);
  bool looks_into_l1(const InstInfo& info, bool local) const;
  std::uint32_t new_load(std::uint32_t warp, const InstInfo& info);
  void answer_load(std::uint32_t load, Cycle now);
  void complete_load(std::uint32_t load, Cycle at);
  void acknowledge_store(std::uint32_t warp, Cycle now);
  bool process(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle now);
  bool process_load(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle now);
  bool process_store(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle now);
  bool process_atomic(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle now);
  FixedCycles l1_cost(const stream::Segment& segment) const;
  void queue_rest(LgInstruction& instruction, unsigned first, Cycle now);
  void retry_lg(Cycle now);
  bool network_full(Cycle now);
  void send(Request request, Cycle at, unsigned data_sectors);
  void write_back(const memory::Evictions& evicted, Cycle at);

  std::uint32_t id_;
  const SmConfig& config_;
  Interconnect& network_;
  bool unused_ = true;  // no block yet
  std::uint64_t epoch_ = 0;
  Cycle end_ = 0;  // of the quantum
  Cycle now_ = 0;
  std::vector<std::unique_ptr<Tenant>> tenants_;  // before the blocks
  SmCounters* account_ = nullptr;                 // of the launch that the SM works for, and its slot
  std::uint8_t asker_ = 0;
  SlotCounts nobody_{};            // slots that no launch lost
  SmCounters past_;                // launches that have left
  device::Held held_;              // by blocks that it has taken
  std::uint64_t shared_room_ = 0;  // bytes of shared memory beside L1 as it is now
  std::vector<WarpScheduler> schedulers_;
  Cycle tick_mask_;  // sm.issue_turns - 1
  std::vector<Warp> warps_;
  std::vector<std::uint64_t> scoreboard_;  // warps x slots; scoreboard.h
  std::vector<Forward> forwards_;          // warps x max_forwards
  std::uint32_t slots_ = 0;
  std::vector<BlockSlot> blocks_;
  std::vector<bool> taken_warps_;
  memory::Ring<BlockLaunch> launches_;
  std::uint64_t launch_order_ = 0;

  FrontEnd front_end_;
  memory::Cache l1_, constant_cache_;
  memory::Mshr mshr_, constant_mshr_;
  memory::Port lg_port_, mio_port_;
  unsigned first_scheduler_ = 0;  // who may use them first in the next cycle
  memory::Ring<LgInstruction> lg_queue_;
  memory::Ring<stream::Segment> lg_segments_;
  Cycle lg_retry_at_ = never, lg_blocked_since_ = never;
  Cycle lg_queued_since_ = 0;  // lg_queue_ has held something since
  std::vector<Load> loads_;
  std::vector<std::uint32_t> free_loads_;
  std::uint32_t stores_outstanding_ = 0, direct_outstanding_ = 0;
  std::vector<TimedRequest> outbox_;
  stream::Segments segments_;
  stream::Banks banks_;
  unsigned l1_unit_ = 0;  // its counters are in 2^l1_unit_ sectors of 32 bytes
  FixedCycles l1_sector_cost_ = 0;
  std::unique_ptr<AsWritten> as_written_;  // --what-if perfect-coalescing only
  std::unique_ptr<SmObserver> observer_;
};

}  // namespace simtlab::timing
