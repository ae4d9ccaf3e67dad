#include "timing/quantum.h"

namespace simtlab::timing {

void QuantumRunner::run(MemorySystem& memory, std::deque<Sm>& sms, Cycle end, bool in_turn) {
  busy_.clear();
  for (Sm& sm : sms)
    if (sm.next_event() < end) busy_.push_back(&sm);
  failures_.assign(busy_.size() + 1, nullptr);
  // The memory system is the first job, for it is the longest.
  const auto job = [&](std::size_t i) {
    try {
      if (i == 0)
        memory.advance(end);
      else
        busy_[i - 1]->run(end);
    } catch (...) { failures_[i == 0 ? busy_.size() : i - 1] = std::current_exception(); }
  };
  if (in_turn) {
    for (std::size_t i = 0; i <= busy_.size(); ++i) job(i);
  } else {
    team_.run(busy_.size() + 1, job);
  }
}

void QuantumRunner::rethrow() const {
  for (const std::exception_ptr& failure : failures_)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace simtlab::timing
