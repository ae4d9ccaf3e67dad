// Stall counts: the results of fixed latency are there when somebody reads them, on every way through the
// code.
//
// What is pending at a block's begin is the worst of what its predecessors leave. Where its first instruction
// needs more time, the last instruction of the predecessor waits longer.
#include <algorithm>
#include <array>
#include <deque>

#include "assembler/control_parts.h"

namespace simtlab::assembler {
namespace {

constexpr Place scoreboard_places = place_count;
constexpr unsigned longest_stall = 15;

struct UnderWay {
  Effects::Write write;  // Write::place: a register, or scoreboard_places + number
  unsigned age = 0;      // cycles since issue
};
using UnderWayList = std::vector<UnderWay>;

bool is_same(const Effects::Write& a, const Effects::Write& b) {
  return a.place == b.place && a.source == b.source && a.least == b.least;
}

// What is under way as cycles pass.
class PendingResults {
 public:
  explicit PendingResults(unsigned generation) : generation_(generation) {}
  void start(const UnderWayList& list) { list_ = list; }
  const UnderWayList& list() const { return list_; }

  // Cycles that are missing before the instruction may issue.
  unsigned missing(const Instruction& instruction, const Effects& effects) const {
    unsigned most = 0;
    const auto require = [&](unsigned cycles, unsigned age) {
      if (cycles > age) most = std::max(most, cycles - age);
    };
    for (const UnderWay& p : list_) {
      if (p.write.place >= scoreboard_places) {
        if ((instruction.code.control.wait_mask >> (p.write.place - scoreboard_places) & 1u) != 0)
          require(p.write.least, p.age);
        continue;
      }
      for (const Effects::Read& read : effects.reads())
        if (read.place == p.write.place) require(latency_of(generation_, p.write, read.reader), p.age);
      for (const Effects::Write& write : effects.writes())
        if (write.place == p.write.place) require(overwrite_latency(generation_, p.write, write), p.age);
    }
    return most;
  }

  // ... before anybody may read what is under way.
  unsigned unsettled() const {
    unsigned most = 0;
    for (const UnderWay& p : list_) {
      if (p.write.place >= scoreboard_places) continue;
      const unsigned cycles = settled_latency(generation_, p.write);
      if (cycles > p.age) most = std::max(most, cycles - p.age);
    }
    return most;
  }

  void issue(const Instruction& instruction, const Effects& effects) {
    const bool fixed_too = has_fixed_latency_too(instruction.code);
    for (const Effects::Write& write : effects.writes()) {
      if (!effects.partial)
        std::erase_if(list_, [&](const UnderWay& p) { return p.write.place == write.place; });
      if (write.source != machine::ResultSource::variable) add({write, 0});
      if (fixed_too) {
        Effects::Write fixed = write;
        fixed.source = machine::ResultSource::fp64;
        add({fixed, 0});
      }
    }
    const auto set = [&](std::uint8_t s, unsigned cycles) {
      if (s >= scoreboard_count) return;
      Effects::Write write;
      write.place = static_cast<Place>(scoreboard_places + s);
      write.least = static_cast<std::uint8_t>(cycles);
      add({write, 0});
    };
    set(instruction.code.control.write_barrier, cycles_to_wait(instruction.code));
    set(instruction.code.control.read_barrier, scoreboard_cycles);
  }

  void pass(unsigned cycles) {
    for (UnderWay& p : list_) p.age += cycles;
    std::erase_if(list_, [](const UnderWay& p) { return p.age >= machine::longest_latency; });
  }

 private:
  void add(const UnderWay& fresh) {
    for (UnderWay& p : list_)
      if (is_same(p.write, fresh.write)) {
        p.age = fresh.age;
        return;
      }
    list_.push_back(fresh);
  }

  unsigned generation_;
  UnderWayList list_;
};

// False: `to` had all of it.
bool merge(UnderWayList& to, const UnderWayList& from) {
  bool changed = false;
  for (const UnderWay& p : from) {
    const auto same = std::ranges::find_if(to, [&](const UnderWay& q) { return is_same(p.write, q.write); });
    if (same == to.end()) {
      to.push_back(p);
      changed = true;
    } else if (p.age < same->age) {
      same->age = p.age;
      changed = true;
    }
  }
  return changed;
}

// Cycles around barriers of a block of threads, from Volta on: what ptxas 13 leaves in code for 700 kernels.
class BarrierTurns {
 public:
  explicit BarrierTurns(unsigned generation) : generation_(generation) {}

  // That the instruction has to wait yet.
  unsigned missing(const machine::Instruction& code, unsigned now) const {
    if (machine::in_bundles(generation_)) return 0;
    unsigned from = is_arithmetic(code) ? 0 : barrier_done_;
    if (base_mnemonic(code) == "BAR") from = std::max(from, memory_done_);
    return from > now ? from - now : 0;
  }
  void issue(const machine::Instruction& code, unsigned now) {
    if (base_mnemonic(code) == "BAR") barrier_done_ = now + least_stall(code);
    const PipeKind kind = pipe_of(code).kind;
    if (generation_ < 90 && (kind == PipeKind::memory || kind == PipeKind::special_register))
      memory_done_ = now + behind_memory();
  }
  // Of an instruction, behind which arithmetic may come at once after a barrier.
  unsigned least(const machine::Instruction& code) const {
    const bool goes_on = generation_ >= 80 && base_mnemonic(code) == "BAR";
    return goes_on ? 1 : least_stall(code);
  }
  // Until the block may end.
  unsigned left(unsigned now) const { return barrier_done_ > now ? barrier_done_ - now : 0; }

 private:
  unsigned behind_memory() const { return generation_ < 75 ? 5 : 4; }
  static bool is_arithmetic(const machine::Instruction& code) {
    const PipeKind kind = pipe_of(code).kind;
    return kind == PipeKind::alu || kind == PipeKind::fma || kind == PipeKind::multiply ||
           kind == PipeKind::half;
  }

  unsigned generation_, barrier_done_ = 0, memory_done_ = 0;
};

class StallSetter {
 public:
  StallSetter(Program& program, const std::vector<BlockEffects>& effects)
      : program_(program), effects_(effects), in_(program.blocks.size()), labels_(program.blocks.size(), 0) {
    for (const Block& block : program.blocks)
      for (const Instruction& i : block.code)
        if (i.target != none) labels_[i.target] = 1;
  }

  void run() {
    std::deque<std::uint32_t> work;
    std::vector<char> waiting(program_.blocks.size(), 1);
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) work.push_back(b);
    while (!work.empty()) {
      const std::uint32_t b = work.front();
      work.pop_front();
      waiting[b] = 0;
      walk(b, [&](std::uint32_t to, const UnderWayList& out) {
        if (!merge(in_[to], out) || waiting[to] != 0) return;
        waiting[to] = 1;
        work.push_back(to);
      });
    }
  }

 private:
  // Sets the stall counts of a block from what is pending at its begin. leave(block, list): what is pending
  // on the way to another one.
  template <class F>
  void walk(std::uint32_t b, const F& leave) {
    std::vector<Instruction>& code = program_.blocks[b].code;
    PendingResults pending(program_.generation);
    pending.start(in_[b]);
    const std::uint32_t next = program_.blocks[b].next;
    if (code.empty() && next != none) leave(next, pending.list());
    std::array<unsigned, static_cast<std::size_t>(PipeKind::count_)> free{};
    BarrierTurns barriers(program_.generation);
    unsigned now = 0;
    for (std::size_t n = 0; n < code.size(); ++n) {
      const PipeUse pipe = pipe_of(code[n].code);
      unsigned& free_from = free[static_cast<std::size_t>(pipe.kind)];
      if (n > 0) {
        const unsigned taken = pipe.kind != PipeKind::none && free_from > now ? free_from - now : 0;
        const unsigned structure = std::max(taken, barriers.missing(code[n].code, now));
        const unsigned data = std::max(pending.missing(code[n], effects_[b][n]),
                                       comes_settled(code[n].code) ? pending.unsettled() : 0u);
        now += delay(code[n - 1], effects_[b][n - 1], data, structure);
        pending.pass(std::max(data, structure));
      }
      pending.issue(code[n], effects_[b][n]);
      // The second of a pair leads none.
      const bool second = n > 0 && code[n - 1].code.control.stall == 0;
      const bool pairs = !second && n + 1 < code.size() && may_pair(code[n].code, code[n + 1].code);
      const unsigned least = pairs ? 0 : barriers.least(code[n].code);
      code[n].code.control.stall = static_cast<std::uint8_t>(least);
      code[n].code.control.yield = false;
      free_from = now + pipe.cycles;
      const PipeUse beside = pipe_beside(code[n].code);
      unsigned& also_from = free[static_cast<std::size_t>(beside.kind)];
      also_from = std::max(also_from, now + beside.cycles);
      barriers.issue(code[n].code, now);
      now += least;
      pending.pass(least);
      const std::uint32_t target = is_branch_to_block(code[n]) ? code[n].target : none,
                          behind = n + 1 == code.size() ? next : none;
      unsigned missing = std::max(missing_at(target, pending), missing_at(behind, pending));
      if (target != none || is_label(behind) || behind == b) missing = std::max(missing, pending.unsettled());
      const unsigned until_end = n + 1 == code.size() ? barriers.left(now) : 0;
      now += delay(code[n], effects_[b][n], missing, until_end);
      pending.pass(std::max(missing, until_end));
      for (const std::uint32_t to : {target, behind})
        if (to != none) leave(to, pending.list());
    }
  }

  // Who goes on there has left another place than the instruction before.
  bool is_label(std::uint32_t b) const {
    for (std::size_t steps = 0; b != none && steps <= program_.blocks.size(); ++steps) {
      if (labels_[b] != 0) return true;
      if (!program_.blocks[b].code.empty()) return false;
      b = program_.blocks[b].next;
    }
    return false;
  }
  // Lanes meet at it, or another function begins.
  static bool comes_settled(const machine::Instruction& code) {
    return base_mnemonic(code) == "BSYNC" || base_mnemonic(code) == "CALL";
  }

  // Cycles until the first instruction of a block may issue.
  unsigned missing_at(std::uint32_t block, const PendingResults& pending) const {
    const std::uint32_t first = first_with_code(block);
    return first == none ? 0 : pending.missing(program_.blocks[first].code[0], effects_[first][0]);
  }

  // The instruction waits longer. Where that is for a result, another warp goes first.
  static unsigned delay(Instruction& instruction, const Effects& effects, unsigned data, unsigned structure) {
    machine::Control& control = instruction.code.control;
    const unsigned cycles = std::max(data, structure);
    SIMTLAB_ASSERT(control.stall + cycles <= longest_stall, "a stall count is at most 15");
    control.stall = static_cast<std::uint8_t>(control.stall + cycles);
    control.yield = (control.yield || data > structure) && !effects.late &&
                    !is_control_flow(base_mnemonic(instruction.code));
    return cycles;
  }

  std::uint32_t first_with_code(std::uint32_t b) const {
    for (std::size_t steps = 0; b != none && program_.blocks[b].code.empty(); ++steps) {
      if (steps > program_.blocks.size()) return none;
      b = program_.blocks[b].next;
    }
    return b;
  }

  Program& program_;
  const std::vector<BlockEffects>& effects_;
  std::vector<UnderWayList> in_;
  std::vector<char> labels_;  // of a block: branches lead there
};

}  // namespace

void set_stalls(Program& program, const std::vector<BlockEffects>& effects) {
  StallSetter(program, effects).run();
}

}  // namespace simtlab::assembler
