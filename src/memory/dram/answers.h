// Answers of a channel that are under way: reads whose data come, writes that count as done, reads that a
// queued write answers. Each of the three comes in the order of time, so that the next of all is one of
// three.
#pragma once

#include <algorithm>
#include <vector>

#include "memory/dram/channels.h"
#include "memory/ring.h"

namespace simtlab::memory::dram {

class Answers {
 public:
  explicit Answers(std::uint32_t channel) : channel_(channel) {}

  Cycle next() const { return next_; }
  void forward(Cycle at, std::uint64_t tag) { push(forwards_, {at, tag, channel_, false}); }
  void finish(Cycle at, std::uint64_t tag, bool write) {
    push(write ? writes_ : reads_, {at, tag, channel_, write});
  }
  // Appends those before cycle `end`.
  void report(Cycle end, std::vector<Completion>& done);
  void restart() {
    reads_.clear(), writes_.clear(), forwards_.clear();
    next_ = never;
  }

 private:
  void push(Ring<Completion>& ring, const Completion& completion) {
    ring.push(completion);
    next_ = std::min(next_, completion.at);
  }

  const std::uint32_t channel_;
  Ring<Completion> reads_, writes_, forwards_;
  Cycle next_ = never;
};

inline void Answers::report(Cycle end, std::vector<Completion>& done) {
  while (next_ < end) {
    next_ = never;
    Ring<Completion>* first = nullptr;
    for (Ring<Completion>* ring : {&forwards_, &reads_, &writes_}) {
      if (ring->empty() || ring->front().at >= next_) continue;
      next_ = ring->front().at;
      first = ring;
    }
    if (next_ >= end) return;
    done.push_back(first->front());
    first->pop();
    next_ = 0;  // looked up again
  }
}

}  // namespace simtlab::memory::dram
