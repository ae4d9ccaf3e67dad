// Instructions that touch memory, numbered as they are first executed: what a shadow cell remembers of an
// access besides who it was.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "check/half.h"
#include "ptx/inst.h"
#include "ptx/module.h"

namespace simtlab::check {

// Bytes by which bulk copies are looked at.
inline constexpr std::uint16_t bulk_grain = 16;

struct Site {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::uint32_t pc = 0;
  bool reads = false, writes = false, atomic = false;
  bool strong = false;  // by the PTX memory model: volatile, relaxed, acquire, release, atomics
  bool volatile_ = false;
  bool spins = false;                   // in a loop that only waits: it is meant to see what others write
  bool guesses = false;                 // a load of what a compare-and-swap expects at first
  bool arrives = false;                 // at a barrier in shared memory; of its state it learns nothing
  bool late = false;                    // cp.async, which has not been waited for
  bool handed = false;                  // ... nor has to be by its thread: it arrives at a barrier when done
  ptx::Scope scope = ptx::Scope::none;  // of strong ones
  std::uint16_t bytes = 0;
  const ptx::Inst& inst() const { return function->code[pc]; }
};

// The instruction is in a loop that writes nothing (but by itself): the innermost one.
bool waits_in_loop(const ptx::Function& function, std::uint32_t pc);

// The instruction loads what a compare-and-swap behind it expects at the same place: a value that is out of
// date costs another round.
bool is_guess(const ptx::Function& function, std::uint32_t pc);

class Sites {
 public:
  // 0 if there are too many: such an access is not remembered.
  std::uint32_t add(const Site& site);
  const Site& at(std::uint32_t number) const {
    return (number & late_bit) != 0 ? late_[number & ~late_bit] : sites_[number];
  }
  bool full() const { return full_; }
  // Nothing that is remembered is of concern any more.
  void clear();

 private:
  std::vector<Site> sites_{1}, late_{1};
  bool full_ = false;
};

}  // namespace simtlab::check
