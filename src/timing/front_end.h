// How instructions come to the schedulers of an SM: instruction caches and what warps ask of them.
//
// A warp asks for the line that the end of its instruction buffer reaches, so a new line is under way
// `instruction.buffer` instructions before its first one is needed. L0 (one for all schedulers up to Pascal,
// one each from Volta on) costs nothing on a hit: what it takes is part of the latency of branches. Behind it
// L1 of the SM (Volta: the 128 KiB beside constants), behind that L2. A line that is new to a cache brings
// the next ones along (prefetch). When a line is there is known when it is asked for: lines under way wait in
// a short list, no events. Code does not change, so what the caches hold stays from launch to launch; only
// the first one that comes to an SM finds them cold. The way to L2 has a width and L2's latency of its own:
// it takes nothing from data (docs/reference/deviations/timing.md).
//
// Constants that machine code names as operands come the same way: each scheduler keeps some lines of them
// (instruction.constant_bytes), empty when a launch begins, and L1 of the instructions is behind. The launch
// has put its parameters there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/device.h"
#include "memory/time.h"
#include "stream/trace/bytes.h"
#include "timing/statistics.h"

namespace simtlab::timing {

// Where the machine instructions of a function lie.
class CodeLayout {
 public:
  explicit CodeLayout(const device::Device::Instruction& parameters) : p_(parameters) {}
  // First byte of the n-th machine instruction of a function: control words lie before the instructions that
  // they belong to.
  std::uint64_t address(std::uint64_t n) const {
    return (p_.group == 0 ? n : n + n / p_.group + 1) * p_.bytes;
  }
  std::uint64_t line(std::uint64_t address) const { return address / p_.line_bytes; }
  std::uint64_t bytes() const { return p_.bytes; }
  unsigned buffer() const { return p_.buffer; }

 private:
  const device::Device::Instruction& p_;
};

// Tags of one instruction cache, and which of its lines are not there yet. Line 0 is none.
class InstructionCache {
 public:
  using Line = std::uint32_t;
  void set_size(std::uint64_t lines, std::uint32_t ways);  // and cold
  void restart();                                          // time begins anew: all lines have come

  struct Place {
    bool hit = false;
    bool first = false;    // nobody has asked for it since it came
    memory::Cycle at = 0;  // of a hit: when it is there
  };
  // Somebody asks for the line.
  Place look(Line line, memory::Cycle now) {
    Tag* const tag = const_cast<Tag*>(find(line));
    if (tag == nullptr) return {};
    const bool first = (tag->used & 1) != 0;
    tag->used = stamp();
    return {true, first, now >= settled_ ? now : comes(line, now)};
  }
  bool holds(Line line) const { return find(line) != nullptr; }
  // It comes, there at `at`; demanded: somebody waits for it.
  void put(Line line, memory::Cycle at, memory::Cycle now, bool demanded);
  // What it holds; restore() throws Malformed for what save() of a cache of this size cannot have written.
  void save(stream::trace::Buffer& out) const;
  void restore(stream::trace::Bytes& in);

 private:
  struct Tag {
    Line line = 0;
    std::uint32_t used = 0;  // time of the last use; the lowest bit: nobody has asked for it yet
  };
  struct Coming {
    Line line;
    memory::Cycle at;
  };
  // Where the line was put last is looked at first: sets of L0s are wide.
  const Tag* find(Line line) const {
    if (const Tag& known = tags_[places_[line % places_.size()]]; known.line == line) return &known;
    const Tag* const set = &tags_[std::size_t{line % sets_} * ways_];
    for (std::uint32_t way = 0; way < ways_; ++way)
      if (set[way].line == line) return &set[way];
    return nullptr;
  }
  memory::Cycle comes(Line line, memory::Cycle now);
  // Even numbers.
  std::uint32_t stamp() { return (clock_ += 2) != 0 ? clock_ : begin_clock(); }
  std::uint32_t begin_clock();

  std::uint32_t sets_ = 1, ways_ = 1;
  std::vector<Tag> tags_;
  std::array<std::uint32_t, 256> places_{};  // in tags_, by lines modulo their number
  std::vector<Coming> coming_;
  memory::Cycle settled_ = 0;  // nothing is under way from here on
  std::uint32_t clock_ = 0;
};

class FrontEnd {
 public:
  explicit FrontEnd(const device::Device& device);
  bool on() const { return p_.caches; }
  void begin();    // before the first fetch
  void restart();  // time begins anew
  // Between launches, for checkpoints.
  void save(stream::trace::Buffer& out) const;
  void restore(stream::trace::Bytes& in);
  // A warp of the scheduler asks for a line: when it is there, now if it is in L0. `now` never decreases.
  memory::Cycle fetch(unsigned scheduler, std::uint32_t line, memory::Cycle now, FetchCounters& counters);
  // An instruction of the scheduler is about to issue that has a constant of this line (Program::constant) as
  // an operand: when it is there.
  memory::Cycle operand(unsigned scheduler, std::uint32_t line, memory::Cycle now, FetchCounters& counters) {
    if (operands_.empty()) return now;
    const InstructionCache::Place place = operands_[scheduler].look(line, now);
    return place.hit ? place.at : fetch_operand(scheduler, line, now, counters);
  }
  static constexpr std::uint32_t constant_line_bytes = 64;
  static constexpr std::uint32_t parameters = 1u << 31;  // in the numbers of lines of the launch's own bank

 private:
  memory::Cycle fetch_operand(unsigned scheduler, std::uint32_t line, memory::Cycle now,
                              FetchCounters& counters);
  memory::Cycle from_l1(std::uint32_t line, memory::Cycle now, FetchCounters& counters);

  const device::Device::Instruction& p_;
  unsigned sharing_;  // schedulers of an L0
  memory::Cycle l1_latency_, l2_latency_;
  memory::FixedCycles l1_cost_, l2_cost_;
  unsigned schedulers_;
  std::vector<InstructionCache> l0_, operands_;
  InstructionCache l1_;
  memory::Port l1_port_, l2_port_;
};

}  // namespace simtlab::timing
