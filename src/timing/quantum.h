// Runs one quantum: the SMs and the memory system on their own, on as many host threads as there are.
#pragma once

#include <deque>
#include <exception>
#include <vector>

#include "base/team.h"
#include "timing/memory_system.h"
#include "timing/sm.h"

namespace simtlab::timing {

class QuantumRunner {
 public:
  explicit QuantumRunner(unsigned threads) : team_(threads) {}
  // Everything before `end`. in_turn: the SMs share something and run one after the other. Whatever is thrown
  // is kept.
  void run(MemorySystem& memory, std::deque<Sm>& sms, Cycle end, bool in_turn);
  const std::vector<Sm*>& ran() const { return busy_; }  // the SMs that had something to do, in their order
  // Throws what the first of them threw, or else the memory system; nothing if all went well.
  void rethrow() const;

 private:
  Team team_;
  std::vector<Sm*> busy_;
  std::vector<std::exception_ptr> failures_;  // of busy_; the last one is the memory system's
};

}  // namespace simtlab::timing
