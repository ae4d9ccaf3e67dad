// Pushes a source of traffic into a memory and measures what comes back. Event-driven: clocks in which
// nothing can happen cost nothing.
//
// Requests enter in their order, at most `per_clock` a clock; one that the memory does not take holds back
// those behind it. A request larger than one access of the memory is several accesses, and done when the last
// of them is. Its latency counts from the clock that takes its first access to the clock that answers its
// last.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "memory/dram/channels.h"
#include "memory/traffic/core.h"
#include "memory/traffic/latencies.h"
#include "memory/traffic/places.h"
#include "memory/traffic/router.h"
#include "memory/traffic/source.h"

namespace simtlab::memory::traffic {

struct DriverOptions {
  std::uint64_t line = 64;              // bytes of a request, a power of two
  std::uint32_t per_clock = 1;          // requests
  bool wrap = false;                    // addresses beyond the memory count modulo its size
  std::uint64_t max_requests = 0;       // then the source counts as ended; 0: no limit
  std::uint64_t max_cycles = 0;         // 0: no limit
  const volatile bool* stop = nullptr;  // looked at now and then
  CoreOptions core;                     // Pace::instructions
  // Now and then: requests taken, clocks gone
  std::function<void(std::uint64_t requests, memory::Cycle now)> told;
};

enum class Outcome : std::uint8_t { finished, cycle_limit, stopped };

// What was measured.
struct Measured {
  Outcome outcome = Outcome::finished;
  std::uint64_t reads = 0, writes = 0;                  // requests taken
  std::uint64_t read_accesses = 0, write_accesses = 0;  // of the memory
  std::uint64_t under_way = 0;  // requests without an answer when the run was stopped; else 0
  memory::Cycle cycles = 0;     // to the last answer; to the end of the run if it was stopped
  memory::Cycle end = 0;        // the memory was advanced to here
  std::uint64_t late = 0;       // sum over Pace::timed of the clocks by which requests entered too late
  Latencies read_latency, write_latency;                 // clocks
  std::uint64_t core_cycles = 0, core_instructions = 0;  // Pace::instructions
};

class Driver {
 public:
  // All outlive the driver. Throws Error(usage, "dram-line") for a line that is no power of two.
  Driver(memory::dram::Channels& memory, const Router& router, const DriverOptions& options);

  // From clock 0 of a memory that is new or restarted. Throws Error(bad_input) for what the source is refused
  // for
  // ("dram-address": beyond the memory), Error(failure): "dram-stalled" (the memory stopped answering),
  // "dram-conservation" (it answered what was not asked, or twice).
  Measured run(Source& source);

 private:
  struct Flight {
    memory::Cycle since = 0;
    std::uint32_t pending = 0;  // accesses
    std::uint32_t place = 0;    // in the core's window
    bool write = false;
  };

  // The request that enters next, piece by piece.
  struct Head {
    bool here = false;  // there is one
    Access request;
    std::uint64_t at = 0;    // address of its next piece
    std::uint32_t left = 0;  // pieces that were not taken
    std::uint32_t flight = 0;
    bool opened = false;        // it has its flight
    std::uint32_t channel = 0;  // of the next piece
    memory::dram::Access piece;
  };

  bool fetch();
  void route_head();
  bool offer();
  void open_flight();
  void run_queue(Pace pace);
  void run_core();
  bool core_clock(Core& core, std::uint64_t& bubbles);
  memory::Cycle next_change();
  bool step(memory::Cycle to);
  void collect();
  [[noreturn]] void beyond(std::uint64_t address) const;

  memory::dram::Channels& memory_;
  const Router& router_;
  DriverOptions options_;
  std::vector<Places> places_;  // one, if there is a mapping
  std::uint64_t piece_bytes_;
  std::uint32_t pieces_;  // of a request

  Source* source_ = nullptr;
  Core* core_ = nullptr;
  memory::Cycle now_ = 0, last_answer_ = 0,
                active_ = 0;  // active_: when a request last entered or was answered
  Head head_;

  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_;
  std::uint64_t outstanding_ = 0, fetched_ = 0;
  std::vector<memory::dram::Completion> done_;
  std::uint32_t steps_ = 0;
  Measured measured_;
};

}  // namespace simtlab::memory::traffic
