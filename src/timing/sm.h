// A streaming multiprocessor under the clock: its units, put together, and the order in which they act in a
// cycle.
//
// In a cycle replies from the network come first, then blocks start, then memory instructions that had to
// wait try again, then each warp scheduler issues. Between events nothing is evaluated: next_event() says
// when something can happen. SMs run on their own within a quantum of the network's latency, on any host
// thread: nothing that one of them sends reaches another before its end.
//
//   BlockSlots        which thread blocks are here, and room for more
//   IssueStage        the warp schedulers: who issues, and why a slot is lost
//   InstructionUnit   what an instruction does when it issues
//   Sequencer         what each warp does next: operands, barriers, instruction caches
//   LoadStoreUnit, SharedMemoryUnit, ConstantUnit, RequestPort
//                     memory
#pragma once

#include <memory>
#include <vector>

#include "timing/instruction_unit.h"

namespace simtlab::timing {

class Sm {
 public:
  Sm(std::uint32_t id, const SmConfig& config, Interconnect& network);
  Sm(const Sm&) = delete;  // its units refer to each other
  Sm& operator=(const Sm&) = delete;

  // Empties the SM; time starts at 0 (%clock at epoch). The work is done when the first block comes, so that
  // small grids cost little on large GPUs. L1 and the constant cache start cold whenever a launch comes to an
  // SM without blocks, as between kernels on hardware.
  void begin(std::uint64_t epoch);
  bool has_room(const LaunchContext& launch) const;  // for a block, beside those that are here
  // Since when there is room for it, as far as that came in the last quantum; else `now`.
  Cycle freed_at(Cycle now) const { return blocks_.freed_at(now); }
  // Stores of the launch, whose blocks may have ended, that L2 has not acknowledged.
  bool stores_under_way(const LaunchContext& launch) const;
  // has_room() said so; `at` never decreases.
  void assign(LaunchContext& launch, std::uint64_t block, Cycle at);

  Cycle next_event() const;
  void run(Cycle end);  // everything before `end`
  std::uint32_t id() const { return context_.id; }
  std::vector<TimedRequest>& outbox() { return requests_.outbox(); }
  void commit() { accounts_.commit(); }  // what its blocks have written becomes visible to all

  bool idle() const { return blocks_.empty(); }
  const LaunchAccounts& accounts() const { return accounts_; }
  void leave(unsigned slot);  // the launch has ended, and everything until then is settled
  void settle(Cycle now);     // charges slots and residency until `now`; everything before has been run
  void add_slots(Cycle now,
                 SlotCounts& out) const;  // slots by reason until `now`, as settle() would charge them
  const BlockSlots& blocks() const { return blocks_; }
  // Every resident warp is stuck, and no block is about to start (exec/spin.h): adds who waits for what.
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) {
    return context_.unused || blocks_.stuck(steps, who);
  }
  // What is still under way, in words: a load, a store, a queued instruction, a miss register in use. Empty
  // if nothing is.
  std::string unfinished() const;

  void observe(std::unique_ptr<SmObserver> observer) { context_.observer = std::move(observer); }
  // Warps go on that blocks on other SMs have let go at the barrier of their cluster.
  void meet_in_clusters(Cycle now) { sequencer_.meet_in_clusters(now); }
  SmObserver* observer() { return context_.observer.get(); }  // null: nobody listens
  FrontEnd& front_end() { return front_end_; }
  const FrontEnd& front_end() const { return front_end_; }

 private:
  void prepare();
  void make_cold(const LaunchContext& launch);
  void deliver(Cycle now);
  void expect_replies(Cycle end);
  void expect_warps(Cycle end);

  SmContext context_;
  Interconnect& network_;
  LaunchAccounts accounts_;  // before the blocks, which belong to shares of launches
  BlockSlots blocks_;
  std::vector<Warp> warps_;
  std::vector<WarpScheduler> schedulers_;
  Scoreboard scoreboard_;
  FrontEnd front_end_;
  UnitPorts ports_;
  std::unique_ptr<AsWritten> as_written_;  // --what-if perfect-coalescing only
  WarpPolicies policies_;
  Sequencer sequencer_;
  LoadTable loads_;
  RequestPort requests_;
  SharedMemoryUnit shared_;
  ConstantUnit constants_;
  LoadStoreUnit load_store_;
  InstructionUnit instructions_;
  IssueStage issue_;
  // Loads that are answered, and warps that issue, in the quantum: for the hints at its beginning
  struct {
    std::vector<std::uint32_t> loads, warps;
  } expected_;
};

}  // namespace simtlab::timing
