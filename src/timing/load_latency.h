// Where loads wait, in cycles that add up exactly to their latencies.
//
// A load instruction is followed from its issue to the cycle in which its registers are there. Until the last
// of its lines has been looked up in L1 it waits there (queue, miss register, network that takes no more);
// from then on for the last of its answers. Every answer carries the times at which its request passed the
// stations; what lies before the load joined it (a load that hits on a miss under way) does not count for
// that load. Returning atomics count as loads; constants don't.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/ring.h"
#include "timing/messages.h"

namespace simtlab::timing {

enum class LoadStage : std::uint8_t {
  l1_queue,    // for the unit's turn, behind other loads and its own lines
  mshr,        // at the head of the queue, for a free miss register or a place in one
  l1,          // look-up, and the data of a hit
  crossbar,    // for a port of the network and in it, both ways
  l2_queue,    // for the slice's turn, or for a miss register of it
  l2,          // look-up, data, atomic operation
  dram_queue,  // for room in the memory's queue and for its turn there
  dram,        // the idle latency of the memory, or all of a detailed memory
  count_,
};
inline constexpr std::size_t load_stage_count = static_cast<std::size_t>(LoadStage::count_);
std::string_view name_of(LoadStage stage);  // "l1_queue"

struct LoadLatency {
  std::array<Cycle, load_stage_count> stages{};  // sums over loads
  Cycle total = 0;
  std::uint64_t loads = 0;
  std::uint64_t from_dram = 0;  // loads whose last answer came from main memory
  void add(const LoadLatency& other);
};

// The times of one request at its stations; 0: not reached.
struct Flight {
  Cycle sent = 0;     // offered to the network
  Cycle arrived = 0;  // at the slice
  Cycle started = 0;  // the slice's turn
  Cycle looked_up = 0;
  Cycle served = 0;      // hit, or asked of DRAM
  Cycle dram_start = 0;  // DRAM's turn
  Cycle dram_done = 0;
  Cycle answered = 0;      // offered to the network
  bool dram_full = false;  // what it waited for between look-up and service
  bool from_dram = false;
};

// What the memory side tells: kept beside the requests of MemorySystem, by their index.
class MemoryObserver {
 public:
  // dram_latency: idle latency of a memory whose time in the queue can be told by it; 0: cannot be told.
  MemoryObserver(std::size_t sms, std::size_t slices, Cycle dram_latency)
      : dram_latency_(dram_latency), dram_full_(slices, false), replies_(sms) {}

  void begin() {
    flights_.clear();
    leaving_.clear();
    for (auto& ring : replies_) ring.clear();
  }
  void entered(std::uint32_t index, const Flight& flight) {
    if (flights_.size() <= index) flights_.resize(std::size_t{index} + 1);
    flights_[index] = flight;
  }
  void started(std::uint32_t index, Cycle at, Cycle looked_up) {
    // What follows in the other part of L2 is L2's
    if (flights_[index].started == 0) flights_[index].started = at;
    flights_[index].looked_up = looked_up;
  }
  // The slice's head cannot be served: why it and all behind it wait.
  void refused(std::uint32_t slice, bool dram_full) { dram_full_[slice] = dram_full; }
  void missed(std::uint32_t index, std::uint32_t slice, Cycle at) {
    flights_[index].served = at;
    flights_[index].from_dram = true;
    flights_[index].dram_full = dram_full_[slice];
  }
  void performed(std::uint32_t index, std::uint32_t slice, Cycle at) {
    Flight& flight = flights_[index];
    if (!flight.from_dram) {
      flight.served = at;
      flight.dram_full = dram_full_[slice];
    } else {
      flight.dram_done = at;
      flight.dram_start = dram_latency_ != 0 && at > dram_latency_
                              ? std::max(flight.served, at - dram_latency_)
                              : flight.served;
    }
  }
  // In the order in which replies enter the inbox of the SM, which is not before deliver(): SMs may be at
  // work meanwhile.
  void answered(std::uint32_t index, std::uint32_t sm, Cycle at) {
    Flight flight = flights_[index];
    flight.answered = at;
    leaving_.push_back({sm, flight});
  }
  // The answer to a request goes through the other part of L2 first, by the number of the crossing.
  void crosses(std::uint32_t crossing, std::uint32_t index) {
    if (crossings_.size() <= crossing) crossings_.resize(std::size_t{crossing} + 1);
    crossings_[crossing] = flights_[index];
  }
  void crossed(std::uint32_t crossing, std::uint32_t sm, Cycle at) {
    crossings_[crossing].answered = at;
    leaving_.push_back({sm, crossings_[crossing]});
  }
  void deliver() {
    for (const Leaving& l : leaving_) replies_[l.sm].push(l.flight);
    leaving_.clear();
  }
  Flight take_reply(std::uint32_t sm) {
    const Flight flight = replies_[sm].front();
    replies_[sm].pop();
    return flight;
  }
  std::size_t replies_left() const {
    std::size_t left = leaving_.size();
    for (const auto& ring : replies_) left += ring.size();
    return left;
  }

 private:
  struct Leaving {
    std::uint32_t sm;
    Flight flight;
  };

  Cycle dram_latency_;
  std::vector<Leaving> leaving_;
  std::vector<Flight> crossings_;
  std::vector<Flight> flights_;
  std::vector<bool> dram_full_;  // by slice
  std::vector<memory::Ring<Flight>> replies_;
};

}  // namespace simtlab::timing
