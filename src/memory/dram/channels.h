// Main memory as independent channels in one clock: what the GPU's partitions and the stand-alone tool drive.
// The event-driven controller and external simulators (plug-ins) implement it.
//
// Time is in clocks of the memory and never goes back. advance(end) does everything that happens before cycle
// `end`; requests are then added at cycles >= end, and may be scheduled in the very cycle in which they are
// added.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/time.h"

namespace simtlab::memory::dram {

// One transaction of access_bytes().
struct Access {
  std::uint64_t address = 0;  // bytes within the channel; the part below access_bytes() is ignored
  bool write = false;
  std::uint32_t source = 0;  // who asks (an SM, a core, an application): for fair schedulers
  std::uint64_t tag = 0;     // given back when done
};

struct Completion {
  Cycle at = 0;
  std::uint64_t tag = 0;
  std::uint32_t channel = 0;
  bool write = false;
};

class Channels {
 public:
  virtual ~Channels() = default;
  virtual std::uint32_t count() const = 0;
  virtual double clock_period() const = 0;          // ps
  virtual std::uint32_t access_bytes() const = 0;   // one transaction
  virtual std::uint64_t channel_bytes() const = 0;  // capacity of one channel; 0: unknown
  // Whether the channel takes this access now.
  virtual bool accepts(std::uint32_t channel, const Access& access) const = 0;
  // The same of cycle `at`, for who has said that he does not wait for room: what happens before may make
  // some.
  virtual bool accepts_by(std::uint32_t channel, const Access& access, Cycle /*at*/) {
    return accepts(channel, access);
  }
  // Whether somebody waits for accepts() to become true: as long as nobody does, next_event() may be beyond
  // cycles in which it would. At first somebody does.
  virtual void await_room(std::uint32_t /*channel*/, bool /*waits*/) {}
  // Only when accepted. at: not before the end of the last advance().
  virtual void add(std::uint32_t channel, const Access& access, Cycle at) = 0;
  // No completion and no change of accepts() that somebody waits for comes before this cycle; never: nothing
  // is under way.
  virtual Cycle next_event() const = 0;
  // Appends the completions before cycle `end`, ordered by cycle, then by channel.
  virtual void advance(Cycle end, std::vector<Completion>& done) = 0;
  // Time starts again at 0, statistics too; what was under way is dropped.
  virtual void restart() = 0;
};

}  // namespace simtlab::memory::dram
