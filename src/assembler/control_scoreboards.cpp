// Scoreboards of results that come at a time of their own, and of operands that are read late.
//
// First each instruction gets its scoreboards: those who are waited for by one instruction share one, others
// have one of their own as long as there are six; then those share whose sharing delays nobody, or the least.
// Then every reader and overwriter waits for what is pending where it stands, on any way through the code.
#include <algorithm>
#include <array>
#include <bit>
#include <deque>

#include "assembler/control_distance.h"
#include "assembler/control_parts.h"

namespace simtlab::assembler {
namespace {

using ScoreboardMask = std::uint8_t;
constexpr ScoreboardMask mask_of(unsigned scoreboard) {
  return static_cast<ScoreboardMask>(1u << scoreboard);
}

// A call of the driver, or a jump to nobody knows where: everything has to be there.
bool waits_for_all(const machine::Instruction& code) {
  constexpr std::string_view names[] = {"CALL", "RET", "BRX", "BRXU", "JMP", "JMX", "JMXU"};
  return is_one_of_names(base_mnemonic(code), names);
}

// A load or an atomic operation that orders others behind it. What it reads has to be there before the caches
// forget what they hold: that is how acquiring is made.
bool may_acquire(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  if (base == "ATOM" || base == "ATOMG") return true;
  if (base != "LD" && base != "LDG") return false;
  for (std::size_t i = 0; i < code.form->fields.size(); ++i) {
    const std::string* word = code.form->fields[i]->word(code.fields[i]);
    if (word != nullptr && word->starts_with("STRONG")) return true;
  }
  return false;
}

// Which scoreboards have to be waited for before a register may be read, or overwritten.
struct PendingScoreboards {
  std::array<ScoreboardMask, place_count> results{}, operands{};
  ScoreboardMask held = 0;          // by anybody
  ScoreboardMask held_by_read = 0;  // for operands
  ScoreboardMask acquiring = 0;     // by loads that order others
  // Of those who hold a scoreboard for their operands: scoreboards that all of them hold for their results,
  // too. Whoever waits for one of these has also waited for the operands.
  std::array<ScoreboardMask, scoreboard_count> through{};

  ScoreboardMask needed(const Instruction& instruction, const Effects& effects) const {
    if (waits_for_all(instruction.code)) return held;
    unsigned mask = base_mnemonic(instruction.code) == "CCTL" ? unsigned{acquiring} : 0u;
    for (const Effects::Read& read : effects.reads()) mask |= results[read.place];
    for (const Effects::Write& write : effects.writes())
      mask |= unsigned{results[write.place]} | unsigned{operands[write.place]};
    return static_cast<ScoreboardMask>(mask);
  }

  void wait(ScoreboardMask mask) {
    if (mask == 0) return;
    unsigned read = mask;
    for (unsigned s = 0; s < scoreboard_count; ++s)
      if ((held_by_read >> s & 1u) != 0 && (through[s] & mask) != 0) read |= mask_of(s);
    for (ScoreboardMask& m : results) m = static_cast<ScoreboardMask>(m & ~unsigned{mask});
    for (ScoreboardMask& m : operands) m = static_cast<ScoreboardMask>(m & ~read);
    held = static_cast<ScoreboardMask>(held & ~unsigned{mask});
    held_by_read = static_cast<ScoreboardMask>(held_by_read & ~read);
    acquiring = static_cast<ScoreboardMask>(acquiring & ~unsigned{mask});
  }

  void issue(const Instruction& instruction, const Effects& effects) {
    if (!effects.late) return;
    const machine::Control& control = instruction.code.control;
    const unsigned write = control.write_barrier, read = control.read_barrier;
    const ScoreboardMask result_mask = write < scoreboard_count ? mask_of(write) : ScoreboardMask{0};
    const ScoreboardMask operand_mask = read < scoreboard_count ? mask_of(read) : result_mask;
    for (const Effects::Write& w : effects.writes()) add(results[w.place], result_mask);
    for (const Effects::Read& r : effects.reads())
      if (may_be_read_late(r.place)) add(operands[r.place], operand_mask);
    add(held, result_mask);
    add(held, operand_mask);
    if (result_mask != 0 && may_acquire(instruction.code)) add(acquiring, result_mask);
    const unsigned holds = read < scoreboard_count ? read : write;
    if (holds >= scoreboard_count) return;
    through[holds] = (held_by_read >> holds & 1u) != 0
                         ? static_cast<ScoreboardMask>(through[holds] & result_mask)
                         : result_mask;
    add(held_by_read, mask_of(holds));
  }

  // False: nothing is new.
  bool merge(const PendingScoreboards& other) {
    const PendingScoreboards before = *this;
    for (std::size_t p = 0; p < place_count; ++p) {
      add(results[p], other.results[p]);
      add(operands[p], other.operands[p]);
    }
    for (unsigned s = 0; s < scoreboard_count; ++s) {
      if ((other.held_by_read >> s & 1u) == 0) continue;
      through[s] = (held_by_read >> s & 1u) != 0 ? static_cast<ScoreboardMask>(through[s] & other.through[s])
                                                 : other.through[s];
    }
    add(held, other.held);
    add(held_by_read, other.held_by_read);
    add(acquiring, other.acquiring);
    return !(*this == before);
  }
  bool operator==(const PendingScoreboards&) const = default;

 private:
  static void add(ScoreboardMask& to, ScoreboardMask more) { to = static_cast<ScoreboardMask>(to | more); }
};

// Those who hold one scoreboard: when the last of them is done, and when somebody waits for it first.
struct Holders {
  bool busy = false;
  std::uint32_t ready = 0, use = no_occurrence;

  void add(std::uint32_t more_ready, std::uint32_t more_use) {
    ready = busy ? std::max(ready, more_ready) : more_ready;
    use = busy ? std::min(use, more_use) : more_use;
    busy = true;
  }
  // Cycles that somebody waits longer if another one holds it, too.
  std::uint32_t cost(std::uint32_t more_ready, std::uint32_t more_use) const {
    if (use <= more_use) {
      const std::uint32_t at = std::max(use, ready);
      return more_ready > at ? more_ready - at : 0;
    }
    const std::uint32_t at = std::max(more_use, more_ready);
    return ready > at ? ready - at : 0;
  }
};
using AllHolders = std::array<Holders, scoreboard_count>;

// Operands of loads and stores are read after so many cycles.
constexpr std::uint32_t operand_cycles = 12;

class ScoreboardSetter {
 public:
  ScoreboardSetter(Program& program, const std::vector<BlockEffects>& effects)
      : program_(program),
        effects_(effects),
        distances_(program, effects),
        predecessors_(program.blocks.size()),
        pending_(program.blocks.size()),
        holders_(program.blocks.size()) {}

  void run() {
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b)
      for (const std::uint32_t s : ways_out(program_, b)) predecessors_[s].push_back(b);
    reserve();
    // The second time it is known what is pending behind loops.
    for (int turn = 0; turn < 2; ++turn)
      for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) assign(b);
    wait_everywhere();
  }

 private:
  // Groups of asynchronous copies count on a scoreboard that nobody else may hold.
  void reserve() {
    for (Block& block : program_.blocks)
      for (Instruction& i : block.code)
        if (i.code.mnemonic() == "DEPBAR" && i.code.field("le") != 0)
          if (const int at = i.code.form->operand("SB"); at >= 0)
            reserved_ = static_cast<unsigned>(i.code.operands[static_cast<std::size_t>(at)].value) & 7u;
    for (Block& block : program_.blocks)
      for (Instruction& i : block.code)
        if (i.code.mnemonic() == "LDGDEPBAR") {
          if (reserved_ == none) reserved_ = 0;
          i.code.control.write_barrier = static_cast<std::uint8_t>(reserved_);
        }
  }

  // Where a block begins: what its predecessors leave, as far as that is known.
  void enter(std::uint32_t b, PendingScoreboards& pending, AllHolders& holders) const {
    for (const std::uint32_t p : predecessors_[b]) {
      pending.merge(pending_[p]);
      for (unsigned s = 0; s < scoreboard_count; ++s)
        if (holders_[p][s].busy) holders[s].add(holders_[p][s].ready, holders_[p][s].use);
    }
  }

  void assign(std::uint32_t b) {
    std::vector<Instruction>& code = program_.blocks[b].code;
    PendingScoreboards pending;
    AllHolders holders;
    enter(b, pending, holders);
    for (std::size_t n = 0; n < code.size(); ++n) {
      const Effects& effects = effects_[b][n];
      const ScoreboardMask mask = pending.needed(code[n], effects);
      pending.wait(mask);
      for (unsigned s = 0; s < scoreboard_count; ++s)
        if ((mask >> s & 1u) != 0) holders[s] = {};
      if (effects.late) give(code[n], effects, distances_.use(b, n), distances_.issue(b, n), holders);
      pending.issue(code[n], effects);
    }
    const std::uint32_t end = distances_.end(b);
    const auto from = [&](std::uint32_t time) {
      return time == no_occurrence ? no_occurrence : time > end ? time - end : 0;
    };
    for (Holders& h : holders)
      if (h.busy) h = {true, from(h.ready), from(h.use)};
    pending_[b] = pending;
    holders_[b] = holders;
  }

  void give(Instruction& instruction, const Effects& effects, const LateUse& use, std::uint32_t now,
            AllHolders& holders) const {
    machine::Control& control = instruction.code.control;
    control.read_barrier = no_scoreboard;
    if (instruction.code.mnemonic() == "LDGDEPBAR") return;
    control.write_barrier = no_scoreboard;
    if (!effects.writes().empty())
      control.write_barrier = choose(holders, now + expected_latency(instruction.code), use.result, true);
    // Who waits for the results has also waited for the operands.
    const bool early = effects.writes().empty() ? use.operand != no_occurrence : use.operand < use.result;
    if (early && !result_is_early(instruction, effects))
      control.read_barrier = choose(holders, now + operand_cycles, use.operand, false);
  }

  // Whether a generic address is that of shared memory is known before the atomic acts; that result comes by
  // the scoreboard of the operands, if there is one.
  static bool result_is_early(const Instruction& instruction, const Effects& effects) {
    const std::string_view name = instruction.code.mnemonic();
    if (name != "ATOM" && !name.starts_with("ATOM.")) return false;
    return std::ranges::any_of(effects.writes(),
                               [](const Effects::Write& w) { return w.place >= predicate_places; });
  }

  // The scoreboard that costs least: cycles that somebody waits longer, and for the last free ones what their
  // loss may cost later.
  std::uint8_t choose(AllHolders& holders, std::uint32_t ready, std::uint32_t use, bool result) const {
    constexpr std::array<std::uint32_t, scoreboard_count + 1> price_of_free = {0, 24, 8, 2, 0, 0, 0};
    std::size_t free = 0;
    for (unsigned s = 0; s < scoreboard_count; ++s)
      if (s != reserved_ && !holders[s].busy) ++free;
    std::uint8_t best = no_scoreboard;
    std::array<std::uint32_t, 2> best_rank{};
    for (std::uint8_t s = 0; s < scoreboard_count; ++s) {
      if (s == reserved_) continue;
      const Holders& h = holders[s];
      const std::uint32_t apart = h.use > use ? h.use - use : use - h.use;
      std::array<std::uint32_t, 2> rank{};
      if (!h.busy)
        rank = {1 + (result ? price_of_free[free] : 0), 0};
      else if (apart > 0)
        rank = {2 + h.cost(ready, use), apart};
      if (best != no_scoreboard && !(rank < best_rank)) continue;
      best = s;
      best_rank = rank;
    }
    holders[best].add(ready, use);
    return best;
  }

  void wait_everywhere() {
    std::fill(pending_.begin(), pending_.end(), PendingScoreboards{});
    std::deque<std::uint32_t> work;
    std::vector<char> waiting(program_.blocks.size(), 1);
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) work.push_back(b);
    while (!work.empty()) {
      const std::uint32_t b = work.front();
      work.pop_front();
      waiting[b] = 0;
      PendingScoreboards pending = pending_[b];
      std::vector<Instruction>& code = program_.blocks[b].code;
      for (std::size_t n = 0; n < code.size(); ++n) {
        const ScoreboardMask mask = pending.needed(code[n], effects_[b][n]);
        code[n].code.control.wait_mask = mask;
        pending.wait(mask);
        pending.issue(code[n], effects_[b][n]);
      }
      for (const std::uint32_t s : ways_out(program_, b))
        if (pending_[s].merge(pending) && waiting[s] == 0) {
          waiting[s] = 1;
          work.push_back(s);
        }
    }
  }

  Program& program_;
  const std::vector<BlockEffects>& effects_;
  const Distances distances_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<PendingScoreboards> pending_;  // behind blocks; later where they begin
  std::vector<AllHolders> holders_;          // behind blocks
  unsigned reserved_ = none;
};

}  // namespace

void set_scoreboards(Program& program, const std::vector<BlockEffects>& effects) {
  ScoreboardSetter(program, effects).run();
}

}  // namespace simtlab::assembler
