#include "assembler/spill.h"

#include <algorithm>
#include <array>

namespace simtlab::assembler {
namespace {

// Of an access, in instructions of straight code: a load takes longer than a number, and the one who reads
// waits for it.
constexpr double load_cost = 4, store_cost = 2, remake_cost = 1;

double weight_of(unsigned depth) {
  constexpr std::array<double, 7> weights{1, 10, 100, 1e3, 1e4, 1e5, 1e6};
  return weights[std::min<std::size_t>(depth, weights.size() - 1)];
}

// What is known of a register of the file.
struct Candidate {
  double stored = 0, remade = 0;  // costs
  std::uint32_t crowded = 0;      // gaps with too many values, times its parts that live there
  std::uint32_t accesses = 0;     // parts times gaps that it needs anyway
  std::uint32_t writes = 0;
  bool remakes = true, allowed = false;

  double cost() const { return remakes ? std::min(stored, remade) : stored; }
  double price() const { return cost() / static_cast<double>(crowded - std::min(crowded, accesses) + 1); }
};

class Planner {
 public:
  Planner(const Program& program, const Liveness& liveness, File file, std::uint32_t target)
      : program_(program), liveness_(liveness) {
    plan_.file = file;
    plan_.target = target;
    plan_.reliefs.assign(program.registers.size(), Relief::none);
  }
  SpillPlan run();

 private:
  struct Access {
    std::uint32_t reg, gap, count;
  };
  bool of_file(std::uint32_t reg) const { return program_.registers[reg].file == plan_.file; }
  void find_pressure();
  void find_accesses();
  void add_access(const Instruction& i, const Ref& ref, bool writes, std::uint32_t gap, double weight,
                  bool makes_alone);
  void rate();
  void relieve(std::uint32_t reg);
  bool accessed(std::uint32_t reg, std::uint32_t gap) const;
  std::uint32_t cheapest(const std::vector<std::uint32_t>& alive, std::uint32_t gap) const;

  const Program& program_;
  const Liveness& liveness_;
  SpillPlan plan_;
  std::vector<Candidate> candidates_;
  std::vector<Access> accesses_;             // by register, then by gap
  std::vector<std::uint32_t> first_access_;  // of a register
};

void Planner::find_pressure() {
  std::vector<std::uint32_t>& pressure = plan_.pressure;
  pressure.assign(liveness_.first_gap.back() + 1, 0);
  for (std::uint32_t r = 0; r < program_.registers.size(); ++r) {
    if (!of_file(r)) continue;
    for (std::uint32_t k = 0; k < program_.registers[r].width; ++k)
      for (const Segment& s : liveness_.lives[liveness_.first_unit[r] + k]) {
        ++pressure[s.from];
        --pressure[s.to];
      }
  }
  std::uint32_t now = 0;
  for (std::uint32_t& p : pressure) p = now += p;
}

void Planner::add_access(const Instruction& i, const Ref& ref, bool writes, std::uint32_t gap, double weight,
                         bool makes_alone) {
  Candidate& c = candidates_[ref.reg];
  c.allowed = program_.registers[ref.reg].fixed == Register::anywhere;
  c.stored += weight * (writes ? store_cost : load_cost);
  c.remade += writes ? 0 : weight * remake_cost * ref.count;
  c.accesses += ref.count;
  c.writes += writes ? ref.count : 0;
  if (writes) c.remakes = c.remakes && i.remakes && !i.guarded() && makes_alone;
  accesses_.push_back({ref.reg, gap + (writes ? 1 : 0), ref.count});
}

void Planner::find_accesses() {
  candidates_.resize(program_.registers.size());
  for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) {
    const Block& block = program_.blocks[b];
    const double weight = weight_of(block.depth);
    std::uint32_t gap = liveness_.first_gap[b];
    for (const Instruction& i : block.code) {
      std::uint32_t refs = 0;
      for_each_ref(i, [&](const Ref&, bool) { ++refs; });
      for (const bool results : {false, true})
        for_each_ref(i, [&](const Ref& ref, bool writes) {
          if (writes == results && of_file(ref.reg)) add_access(i, ref, writes, gap, weight, refs == 1);
        });
      ++gap;
    }
  }
  // More writes than parts: the last one is not the only one.
  for (std::uint32_t r = 0; r < candidates_.size(); ++r)
    candidates_[r].remakes = candidates_[r].remakes && candidates_[r].writes <= program_.registers[r].width;
  first_access_.assign(candidates_.size() + 1, 0);
  for (const Access& a : accesses_) ++first_access_[a.reg + 1];
  for (std::size_t r = 1; r < first_access_.size(); ++r) first_access_[r] += first_access_[r - 1];
  std::ranges::stable_sort(accesses_, {}, &Access::reg);
}

void Planner::rate() {
  std::vector<std::uint32_t> crowded{0};
  for (const std::uint32_t p : plan_.pressure) crowded.push_back(crowded.back() + (p > plan_.target ? 1 : 0));
  for (std::uint32_t r = 0; r < candidates_.size(); ++r) {
    if (!candidates_[r].allowed) continue;
    for (std::uint32_t k = 0; k < program_.registers[r].width; ++k)
      for (const Segment& s : liveness_.lives[liveness_.first_unit[r] + k])
        candidates_[r].crowded += crowded[s.to] - crowded[s.from];
  }
}

bool Planner::accessed(std::uint32_t reg, std::uint32_t gap) const {
  const auto first = accesses_.begin() + first_access_[reg],
             last = accesses_.begin() + first_access_[reg + 1];
  const auto at =
      std::lower_bound(first, last, gap, [](const Access& a, std::uint32_t g) { return a.gap < g; });
  return at != last && at->gap == gap;
}

void Planner::relieve(std::uint32_t reg) {
  const Candidate& c = candidates_[reg];
  plan_.reliefs[reg] = c.remakes && c.remade <= c.stored ? Relief::remade : Relief::stored;
  plan_.any = true;
  for (std::uint32_t k = 0; k < program_.registers[reg].width; ++k)
    for (const Segment& s : liveness_.lives[liveness_.first_unit[reg] + k])
      for (std::uint32_t gap = s.from; gap < s.to; ++gap) --plan_.pressure[gap];
  for (std::uint32_t k = first_access_[reg]; k < first_access_[reg + 1]; ++k)
    plan_.pressure[accesses_[k].gap] += accesses_[k].count;
}

std::uint32_t Planner::cheapest(const std::vector<std::uint32_t>& alive, std::uint32_t gap) const {
  std::uint32_t best = none;
  for (const std::uint32_t r : alive)
    if (candidates_[r].allowed && plan_.reliefs[r] == Relief::none && !accessed(r, gap) &&
        (best == none || candidates_[r].price() < candidates_[best].price()))
      best = r;
  return best;
}

SpillPlan Planner::run() {
  find_pressure();
  find_accesses();
  rate();
  // The gaps in order, with the registers that have a part alive in them.
  struct Event {
    std::uint32_t gap, reg;
    bool begins;
  };
  std::vector<Event> events;
  for (std::uint32_t r = 0; r < candidates_.size(); ++r) {
    if (!candidates_[r].allowed) continue;
    for (std::uint32_t k = 0; k < program_.registers[r].width; ++k)
      for (const Segment& s : liveness_.lives[liveness_.first_unit[r] + k]) {
        events.push_back({s.from, r, true});
        events.push_back({s.to, r, false});
      }
  }
  std::ranges::stable_sort(events, {}, &Event::gap);
  std::vector<std::uint32_t> alive;
  std::vector<std::uint32_t> parts(candidates_.size(), 0);
  auto event = events.begin();
  for (std::uint32_t gap = 0; gap < liveness_.first_gap.back(); ++gap) {
    for (; event != events.end() && event->gap == gap; ++event)
      if (event->begins ? parts[event->reg]++ == 0 : --parts[event->reg] == 0) {
        if (event->begins)
          alive.push_back(event->reg);
        else
          std::erase(alive, event->reg);
      }
    while (plan_.pressure[gap] > plan_.target) {
      const std::uint32_t reg = cheapest(alive, gap);
      if (reg == none) break;
      relieve(reg);
    }
  }
  return std::move(plan_);
}

}  // namespace

double cost_of(const Program& program) {
  double cost = 0;
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code)
      cost += weight_of(block.depth) * (i.code.mnemonic() == "LDL"   ? load_cost
                                        : i.code.mnemonic() == "STL" ? store_cost
                                                                     : remake_cost);
  return cost;
}

SpillPlan plan_spills(const Program& program, const Liveness& liveness, File file, std::uint32_t target) {
  return Planner(program, liveness, file, target).run();
}

}  // namespace simtlab::assembler
