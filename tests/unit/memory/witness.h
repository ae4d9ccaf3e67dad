// What a scheduler and a page policy that only write down their events have seen since they were made or
// restarted.
#pragma once

#include <array>
#include <cstdint>

#include "memory/time.h"

namespace simtlab::memory::dram::witness {

struct SchedulerEvents {
  std::uint64_t arrived = 0, moved = 0, served = 0, opened = 0, closed = 0, turned = 0;
  bool to_writes = false;  // the last turn
  bool in_order = true;    // of time, and turns alternate
  Cycle last = 0;
};
struct PageEvents {
  std::uint64_t arrived = 0, served = 0, opened = 0;
  std::array<std::uint64_t, 5> closed{};  // by Closing
  bool in_order = true;
  Cycle last = 0;
};

inline SchedulerEvents scheduler;
inline PageEvents page;

template <class Events>
void note(Events& events, Cycle at) {
  events.in_order = events.in_order && at >= events.last;
  events.last = at;
}

}  // namespace simtlab::memory::dram::witness
