// complementary: kernels bound by memory beside kernels bound by computation, after Orion (Strati et al.,
// EuroSys 2024).
//
// A kernel whose share of memory stalls reaches Settings::memory_class is of the memory class, any other
// known one of the compute class; an unknown one is of neither and may go beside all. A free slot goes to the
// class of which fewer run, in order of arrival; to the other one if nobody of that class waits and the other
// holds fewer than half of the slots (rounded up). So one class alone leaves slots empty on purpose, but
// never all.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

enum Class : std::size_t { compute, memory, unknown };

// Without a branch on the class, which nothing predicts.
Class class_of(const Launch& launch, double memory_class) {
  const Profile* p = launch.profile;
  if (p == nullptr || !p->memory_stall) return unknown;
  return static_cast<Class>(*p->memory_stall >= memory_class);
}

// Classes of the waiting launches, a byte each, so that the first of a class is found without looking at
// launches again.
class Classes {
 public:
  Classes(std::span<const Launch> waiting, double memory_class) : of_(waiting.size()) {
    std::uint8_t* out = of_.data();
    for (const Launch& launch : waiting) *out++ = static_cast<std::uint8_t>(class_of(launch, memory_class));
  }
  std::size_t first(Class c) const {
    const void* at = of_.empty() ? nullptr : std::memchr(of_.data(), static_cast<int>(c), of_.size());
    return at == nullptr ? nobody
                         : static_cast<std::size_t>(static_cast<const std::uint8_t*>(at) - of_.data());
  }
  Class at(std::size_t waiting) const { return static_cast<Class>(of_[waiting]); }
  void take(std::size_t waiting) { of_[waiting] = taken; }

 private:
  static constexpr std::uint8_t taken = 3;
  std::vector<std::uint8_t> of_;
};

void decide(const View& view, Grants& grants) {
  std::array<std::uint32_t, 3> held{};
  const double memory_class = view.settings->memory_class;
  for (const Launch& launch : view.running) held[class_of(launch, memory_class)] += grants.slots_of(launch);
  const std::uint32_t half = (view.settings->limit + 1) / 2;
  Classes classes(view.waiting, memory_class);
  while (grants.free() > 0) {
    const Class wanted = held[memory] < held[compute] ? memory : compute;
    const Class other = wanted == memory ? compute : memory;
    std::size_t next = std::min(classes.first(wanted), classes.first(unknown));
    const std::size_t of_other = classes.first(other);
    const bool balanced = held[memory] == held[compute];
    if (balanced || (next == nobody && held[other] < half)) next = std::min(next, of_other);
    if (next == nobody) return;
    const Class chosen = classes.at(next);
    if (chosen != unknown && held[chosen] >= half && held[compute] + held[memory] > 0) return;
    if (!grants.take(next)) return;
    classes.take(next);
    held[chosen] += grants.slots_of(view.waiting[next]);
  }
}

}  // namespace

extern constinit const Policy policy_complementary{
    "complementary",
    "Kernels bound by memory beside kernels bound by computation.",
    decide,
    "--memory-class",
    nullptr,
    knows_stalls,
    "is of neither class and goes beside all"};

}  // namespace simtlab::corun
