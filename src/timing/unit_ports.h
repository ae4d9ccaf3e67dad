// The ports of the units that all schedulers of an SM share: global memory (lg, tex), shared memory with
// shuffles (mio), and double precision where the SM has one unit for it (sm.fp64_queue).
//
// An instruction takes its turn at the port when it issues, however far ahead that turn is: the port stands
// for the queue in front of the unit as well. When it is booked further ahead than sm.unit_backlog, issue to
// the unit is throttled. Global memory has a second limit (sm.held_accesses): instructions that found no miss
// register, no room in the network, or too many stores under way.
//
// A device may say more of the way to the units: each scheduler has a queue of its own, of sm.memory_queue
// instructions, which its address unit takes one by one (sm.address_interval) once their operands are read;
// and L1 looks up tags in one stage and gives data in another, which shared memory may use as well
// (l1.shares_data_path).
#pragma once

#include <cmath>
#include <vector>

#include "device/device.h"
#include "memory/time.h"
#include "timing/pipes.h"

namespace simtlab::timing {

class UnitPorts {
 public:
  explicit UnitPorts(const device::Device& device)
      : turn_mask_(device.sm.issue_turns - 1),
        address_interval_(static_cast<Cycle>(std::llround(std::max(1.0, device.sm.address_interval)))),
        unit_backlog_(static_cast<Cycle>(std::llround(device.sm.unit_backlog))),
        held_accesses_(device.sm.held_accesses),
        special_interval_(memory::to_fixed(device.sm.special_interval)),
        mio_(device.l1_shares_data_path ? data_ : own_mio_),
        queues_(device.sm.memory_queue == 0 ? 0 : device.sm.schedulers),
        fp64_queues_(device.sm.fp64_queue == 0 ? 0 : device.sm.schedulers) {
    for (Queue& queue : queues_) queue.leaves.resize(device.sm.memory_queue);
    for (Queue& queue : fp64_queues_) queue.leaves.resize(device.sm.fp64_queue);
  }
  UnitPorts(const UnitPorts&) = delete;
  UnitPorts& operator=(const UnitPorts&) = delete;

  void begin() {
    lg_.reset();
    data_.reset();
    own_mio_.reset();
    arrivals_.reset();
    specials_.reset();
    last_user_ = 0;
    lg_waiting_ = 0;
    fp64_.reset();
    for (Queue& queue : queues_) queue.clear();
    for (Queue& queue : fp64_queues_) queue.clear();
  }

  // The instruction enters the queue of its scheduler. read: cycles until its operands are read where nothing
  // is before it. Returns how much later than that it leaves the queue.
  Cycle enter(unsigned scheduler, Cycle read, Cycle now) {
    return queues_.empty() ? 0 : queues_[scheduler].push(now + read, address_interval_) - (now + read);
  }
  // It takes its turn at the unit, at `at` at the earliest: the first cycle of its service. data: of the
  // stage that gives data, 0 where L1 has one stage for all.
  Cycle book_lg(unsigned scheduler, FixedCycles cost, FixedCycles data, Cycle at) {
    const Cycle start = book(lg_, scheduler, cost, at);
    return data == 0 ? start : data_.take(start, data);
  }
  Cycle book_mio(unsigned scheduler, FixedCycles cost, Cycle at) { return book(mio_, scheduler, cost, at); }
  // Whether the pipeline is the SM's one unit of double precision.
  bool is_fp64_unit(Pipe pipe) const { return pipe == Pipe::fp64 && !fp64_queues_.empty(); }
  // Whether instructions of the pipeline take their turn here.
  bool serves(Pipe pipe) const { return has_port(pipe) || is_fp64_unit(pipe); }
  // An instruction of double precision takes its turn at that unit: the first cycle of it.
  Cycle book_fp64(unsigned scheduler, FixedCycles cost, Cycle now) {
    const Cycle start = fp64_.take(now, cost);
    fp64_queues_[scheduler].push(start, 0);
    return start;
  }
  // The SM reads special registers one after another: the first cycle of this one's turn.
  Cycle read_special(Cycle at) { return specials_.take(at, special_interval_); }
  // A warp arrives at a barrier of its block: the SM counts arrivals one after another. When this one has
  // been counted.
  Cycle count_arrival(FixedCycles cost, Cycle now) {
    arrivals_.take(now, cost);
    return arrivals_.free_at();
  }
  // Instructions that wait in the load-store unit for a register, a credit or the network.
  void set_lg_waiting(std::size_t instructions) { lg_waiting_ = instructions; }

  // The scheduler that issues first: who used a unit last comes last, so that schedulers take turns at the
  // units.
  unsigned first_scheduler() const { return last_user_; }

  // The first cycle in which the unit of the pipeline takes another instruction of the scheduler; never: an
  // event will say. Of schedulers that issue in turns (Fermi), the one whose turn comes just when the unit
  // takes more would always be the same. So whoever used the unit last waits for the turns of the others.
  Cycle free_from(Pipe pipe, unsigned scheduler, Cycle now) const {
    if (pipe == Pipe::fp64) return std::max(now, fp64_queues_[scheduler].oldest());
    if (pipe != Pipe::mio && lg_waiting_ >= held_accesses_) return never;
    const Cycle booked = pipe == Pipe::mio ? mio_.free_at() : std::max(lg_.free_at(), data_.free_at());
    const Cycle ahead = unit_backlog_ - (scheduler + 1 == last_user_ ? turn_mask_ : 0);
    const Cycle room = queues_.empty() ? now : std::max(now, queues_[scheduler].oldest());
    return booked > room + ahead ? booked - ahead : room;
  }
  static constexpr bool has_port(Pipe pipe) {
    return pipe == Pipe::mio || pipe == Pipe::lg || pipe == Pipe::tex;
  }

 private:
  // When the instructions of one scheduler leave its queue: a ring of the last ones.
  struct Queue {
    std::vector<Cycle> leaves;
    std::size_t at = 0;
    Cycle last = 0;
    Cycle oldest() const { return leaves[at]; }
    Cycle push(Cycle earliest, Cycle interval) {
      last = std::max(earliest, last + interval);
      leaves[at] = last;
      at = at + 1 == leaves.size() ? 0 : at + 1;
      return last;
    }
    void clear() {
      std::ranges::fill(leaves, 0);
      at = 0;
      last = 0;
    }
  };

  Cycle book(memory::Port& port, unsigned scheduler, FixedCycles cost, Cycle at) {
    last_user_ = scheduler + 1u;
    return port.take(at, cost);
  }

  Cycle turn_mask_, address_interval_, unit_backlog_;
  std::size_t held_accesses_;
  FixedCycles special_interval_;
  memory::Port lg_, data_, own_mio_, arrivals_, specials_, fp64_;
  memory::Port& mio_;  // data_ or own_mio_
  std::vector<Queue> queues_, fp64_queues_;
  unsigned last_user_ = 0;  // number of the scheduler + 1; 0: nobody
  std::size_t lg_waiting_ = 0;
};

}  // namespace simtlab::timing
