// complementary: kernels bound by memory beside kernels bound by computation, after Orion (Strati et al., EuroSys 2024).
//
// A kernel whose share of memory stalls reaches Settings::memory_class is of the memory class, any other known one of the compute class; an
// unknown one is of neither and may go beside all. A free slot goes to the class of which fewer run, in order of arrival; to the other one
// if nobody of that class waits and the other holds fewer than half of the slots (rounded up). So one class alone leaves slots
// empty on purpose, but never all.
#include <array>

#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

enum Class : std::size_t { compute, memory, unknown };

Class class_of(const View& view, const Launch& launch) {
  const std::optional<double> stall = stall_of(launch);
  return !stall ? unknown : *stall >= view.settings->memory_class ? memory : compute;
}

void decide(const View& view, Grants& grants) {
  std::array<std::uint32_t, 3> held{};
  for (const Launch& launch : view.running) held[class_of(view, launch)] += grants.slots_of(launch);
  const std::uint32_t half = (view.settings->limit + 1) / 2;
  while (grants.free() > 0) {
    const Class wanted = held[memory] < held[compute] ? memory : compute;
    const Class other = wanted == memory ? compute : memory;
    const bool balanced = held[memory] == held[compute];
    const auto first = [&](const Launch& launch) { return balanced || class_of(view, launch) != other; };
    std::size_t next = first_waiting(view, grants, first);
    if (next == nobody && held[other] < half) next = first_waiting(view, grants, anybody);
    if (next == nobody) return;
    const Class chosen = class_of(view, view.waiting[next]);
    if (chosen != unknown && held[chosen] >= half && held[compute] + held[memory] > 0) return;
    if (!grants.take(next)) return;
    held[chosen] += grants.slots_of(view.waiting[next]);
  }
}

}  // namespace

extern constinit const Policy policy_complementary{"complementary", "Kernels bound by memory beside kernels bound by computation.", decide, "--memory-class"};

}  // namespace simtlab::corun
