// The ports of the units that all schedulers of an SM share: global memory (lg, tex) and shared memory with
// shuffles (mio).
//
// An instruction takes its turn at the port when it issues, however far ahead that turn is: the port stands
// for the queue in front of the unit as well. A queue holds about a dozen instructions. When the port is
// booked further ahead than that, issue to the unit is throttled. Global memory has a second limit:
// instructions that found no miss register, credit or room in the network.
#pragma once

#include "memory/time.h"
#include "timing/pipes.h"

namespace simtlab::timing {

class UnitPorts {
 public:
  // turns: a scheduler issues in every so-many-th cycle.
  explicit UnitPorts(Cycle turns) : turn_mask_(turns - 1) {}
  void begin() {
    lg_.reset();
    mio_.reset();
    last_user_ = 0;
    lg_waiting_ = 0;
  }

  // An instruction of the scheduler takes its turn: the first cycle of its service.
  Cycle book_lg(unsigned scheduler, FixedCycles cost, Cycle now) { return book(lg_, scheduler, cost, now); }
  Cycle book_mio(unsigned scheduler, FixedCycles cost, Cycle now) { return book(mio_, scheduler, cost, now); }
  // Instructions that wait in the load-store unit for a register, a credit or the network.
  void set_lg_waiting(std::size_t instructions) { lg_waiting_ = instructions; }

  // The scheduler that issues first: who used a unit last comes last, so that schedulers take turns at the
  // units.
  unsigned first_scheduler() const { return last_user_; }

  // The first cycle in which the unit of the pipeline takes another instruction of the scheduler; never: an
  // event will say. Of schedulers that issue in turns (Fermi), the one whose turn comes just when the unit
  // takes more would always be the same. So whoever used the unit last waits for the turns of the others.
  Cycle free_from(Pipe pipe, unsigned scheduler, Cycle now) const {
    if (pipe != Pipe::mio && lg_waiting_ >= lg_queue_depth) return never;
    const memory::Port& port = pipe == Pipe::mio ? mio_ : lg_;
    const Cycle ahead = queue_ahead - (scheduler + 1 == last_user_ ? turn_mask_ : 0);
    return port.free_at() > now + ahead ? port.free_at() - ahead : now;
  }
  static constexpr bool has_port(Pipe pipe) {
    return pipe == Pipe::mio || pipe == Pipe::lg || pipe == Pipe::tex;
  }

 private:
  static constexpr Cycle queue_ahead = 16;  // cycles of work in front of a unit: about a dozen instructions
  static constexpr std::size_t lg_queue_depth = 8;

  Cycle book(memory::Port& port, unsigned scheduler, FixedCycles cost, Cycle now) {
    last_user_ = scheduler + 1u;
    return port.take(now, cost);
  }

  memory::Port lg_, mio_;
  Cycle turn_mask_;
  unsigned last_user_ = 0;  // number of the scheduler + 1; 0: nobody
  std::size_t lg_waiting_ = 0;
};

}  // namespace simtlab::timing
