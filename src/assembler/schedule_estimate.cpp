#include "assembler/schedule_estimate.h"

#include <algorithm>
#include <array>

#include "assembler/control.h"
#include "assembler/control_parts.h"
#include "assembler/control_reuse.h"

namespace simtlab::assembler {
namespace {

// Results of a unit that works in order come at least so far apart.
constexpr std::uint32_t unit_cycles = 2;
// Operands of loads and stores are read after so many cycles.
constexpr std::uint32_t read_cycles = 12;

class BlockClock {
 public:
  explicit BlockClock(unsigned generation) : generation_(generation) {}

  void issue(const Instruction& instruction) {
    const machine::Control& control = instruction.code.control;
    for (unsigned s = 0; s < scoreboard_count; ++s)
      if ((control.wait_mask >> s & 1u) != 0) now_ = std::max(now_, held_until_[s]);
    if (control.write_barrier < scoreboard_count) hold(control.write_barrier, result_time(instruction));
    if (control.read_barrier < scoreboard_count) hold(control.read_barrier, now_ + read_cycles);
    const PipeUse pipe = pipe_of(instruction.code);
    if (pipe.kind == PipeKind::fma) now_ += conflicts(instruction, pipe.cycles);
    now_ += std::max<std::uint32_t>(control.stall, machine::in_bundles(generation_) ? 0 : 1);
    kept_ = control.reuse;
  }
  std::uint32_t now() const { return now_; }

 private:
  void hold(unsigned scoreboard, std::uint32_t time) {
    held_until_[scoreboard] = std::max(held_until_[scoreboard], time);
  }
  std::uint32_t result_time(const Instruction& instruction) {
    machine::Instruction plain = instruction.code;
    plain.control = {};
    const auto unit = static_cast<std::size_t>(machine::unit_of(plain));
    std::uint32_t time = now_ + expected_latency(plain);
    if (unit == 0) return time;
    time = std::max(time, unit_free_[unit] + unit_cycles);
    unit_free_[unit] = time;
    return time;
  }
  unsigned conflicts(const Instruction& instruction, unsigned cycles) const {
    return bank_conflicts(generation_, operand_slots(instruction), kept_, cycles);
  }

  const unsigned generation_;
  std::uint32_t now_ = 0;
  std::array<std::uint32_t, scoreboard_count> held_until_{};
  std::array<std::uint32_t, static_cast<std::size_t>(machine::InOrder::count_)> unit_free_{};
  std::uint8_t kept_ = 0;  // slots, by the instruction before
};

}  // namespace

std::uint32_t estimated_cycles(const Block& block, unsigned generation, bool in_loop) {
  Program alone;
  alone.generation = generation;
  alone.blocks.push_back(block);
  Block& copy = alone.blocks[0];
  copy.next = none;
  for (Instruction& i : copy.code) i.target = none;
  if (in_loop) copy.next = 0;
  set_control(alone);
  BlockClock clock(generation);
  for (const Instruction& i : copy.code) clock.issue(i);
  if (!in_loop) return clock.now();
  // The second time what the first one has left is under way.
  const std::uint32_t first = clock.now();
  for (const Instruction& i : copy.code) clock.issue(i);
  return clock.now() - first;
}

}  // namespace simtlab::assembler
