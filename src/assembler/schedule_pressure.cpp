// The order of a block's instructions before registers have numbers: results early enough for who needs them,
// without more registers than the kernel needs anyway.
//
// While registers are left, what most depends on comes first; while they are short, what needs no more of
// them. They are short from an eighth more on than the worst block needs in its own order or in one that
// spares them, whichever is less: the vendor's compiler gives the SGEMM ladder as many.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "assembler/control_effects.h"
#include "assembler/schedule.h"
#include "assembler/schedule_issue.h"
#include "assembler/schedule_live.h"
#include "assembler/schedule_spare.h"

namespace simtlab::assembler {
namespace {

// More of the free registers have to save one cycle of so many.
constexpr std::uint64_t worth_it = 64;
// Where registers do not suffice, another order has to need fewer by so many.
constexpr int worth_moving = 4;
// Six predicates may be alive, for one is needed to move others about.
constexpr int most_live_predicates = 6;
// An instruction of fixed latency is waited for at most so long, and only for what leads to a load: its rank
// is so much above the others' (expected_latency()).
constexpr std::int64_t longest_wait = 8, load_ahead = 20;

// Registers in use: of 32 bits, predicates, and uniform ones, of which there are more than enough.
struct InUse {
  int general = 0, predicates = 0, uniform = 0;
  InUse& operator+=(const InUse& other) {
    general += other.general;
    predicates += other.predicates;
    uniform += other.uniform;
    return *this;
  }
};

InUse size_of(const Register& r) {
  switch (r.file) {
    case File::general: return {.general = r.width};
    case File::predicate: return {.predicates = 1};
    case File::uniform: return {.uniform = r.width};
    default: return {};
  }
}

// The values that a block's instructions touch, and which of them are in use. Each write of a register of 32
// bits makes a value; what a guarded one leaves is the value before.
class BlockRegisters {
 public:
  BlockRegisters(const Program& program, std::uint32_t block, const LiveRegisters& live)
      : program_(program), block_(block), live_(live) {
    const std::vector<Instruction>& code = program.blocks[block].code;
    touched_.resize(code.size());
    for (std::uint32_t n = 0; n < code.size(); ++n) add(n, code[n]);
    for (const auto& [place, value] : values_) stays_[value] = live.out(block, place / registers_a_value);
    live.for_each_in(block, [&](std::uint32_t reg) { at_begin_ += size_of(program.registers[reg]); });
    values_.clear();
  }

  void start() {
    in_use_ = at_begin_;
    alive_ = starts_;
    left_.clear();
    for (const auto& users : users_) left_.push_back(static_cast<std::uint32_t>(users.size()));
  }
  const InUse& in_use() const { return in_use_; }
  const InUse& at_begin() const { return at_begin_; }

  // What placing an instruction does to the registers in use.
  InUse change(std::uint32_t n) const {
    InUse out;
    for (const std::uint32_t r : touched_[n]) {
      const bool goes_on = left_[r] > 1 || stays_[r] != 0;
      const int step = alive_[r] == static_cast<char>(goes_on) ? 0 : goes_on ? 1 : -1;
      if (files_[r] == File::general) out.general += step;
      if (files_[r] == File::predicate) out.predicates += step;
    }
    return out;
  }
  // changed(m): placing the instruction m has another effect than before, perhaps.
  template <class F>
  void place(std::uint32_t n, const F& changed) {
    in_use_ += change(n);
    for (const std::uint32_t r : touched_[n]) {
      const bool begins = alive_[r] == 0;
      --left_[r];
      alive_[r] = left_[r] > 0 || stays_[r] != 0;
      if (begins || left_[r] == 1)
        for (const std::uint32_t m : users_[r]) changed(m);
    }
  }

 private:
  void add(std::uint32_t n, const Instruction& instruction) {
    for_each_ref(instruction, [&](Ref ref, bool writes) {
      for (unsigned k = 0; (!writes || instruction.guarded()) && k < ref.count; ++k)
        touch(n, value_in(ref.reg, ref.part + k));
    });
    for_each_ref(instruction, [&](Ref ref, bool writes) {
      for (unsigned k = 0; writes && !instruction.guarded() && k < ref.count; ++k)
        touch(n, values_[ref.reg * registers_a_value + ref.part + k] = new_value(ref.reg, false));
    });
  }
  std::uint32_t value_in(std::uint32_t reg, unsigned part) {
    const auto [it, fresh] = values_.try_emplace(reg * registers_a_value + part, 0u);
    if (fresh) it->second = new_value(reg, live_.in(block_, reg));
    return it->second;
  }
  std::uint32_t new_value(std::uint32_t reg, bool starts) {
    users_.emplace_back();
    files_.push_back(program_.registers[reg].file);
    starts_.push_back(starts);
    stays_.push_back(0);
    return static_cast<std::uint32_t>(users_.size() - 1);
  }
  void touch(std::uint32_t n, std::uint32_t value) {
    std::vector<std::uint32_t>& mine = touched_[n];
    if (std::ranges::find(mine, value) != mine.end()) return;
    mine.push_back(value);
    users_[value].push_back(n);
  }

  const Program& program_;
  const std::uint32_t block_;
  const LiveRegisters& live_;
  std::unordered_map<std::uint32_t, std::uint32_t> values_;  // the last one of each register
  std::vector<std::vector<std::uint32_t>> touched_;          // values, by instruction
  std::vector<std::vector<std::uint32_t>> users_;            // instructions, by value
  std::vector<File> files_;                                  // by value
  std::vector<char> starts_, stays_, alive_;                 // by value
  std::vector<std::uint32_t> left_;                          // users that are not placed yet
  InUse at_begin_, in_use_;
};

// The most registers in use in the order of the code.
InUse peak_in_order(BlockRegisters& registers, std::size_t size) {
  registers.start();
  InUse peak = registers.in_use();
  for (std::uint32_t n = 0; n < size; ++n) {
    registers.place(n, [](std::uint32_t) {});
    peak.general = std::max(peak.general, registers.in_use().general);
    peak.predicates = std::max(peak.predicates, registers.in_use().predicates);
  }
  return peak;
}

int peak_of(const Program& program, std::uint32_t block, const LiveRegisters& live) {
  BlockRegisters registers(program, block, live);
  return peak_in_order(registers, program.blocks[block].code.size()).general;
}

// Who waits for it waits for memory.
bool loads_late(const Instruction& i) {
  constexpr std::array<std::string_view, 7> names = {"LD", "LDG", "LDS", "LDL", "ATOM", "ATOMG", "ATOMS"};
  return is_one_of_names(base_mnemonic(i.code), names);
}

class PressureScheduler {
 public:
  PressureScheduler(const std::vector<Instruction>& code, const std::vector<Effects>& effects,
                    const ScheduleGraph& graph, BlockRegisters& registers)
      : graph_(graph),
        registers_(registers),
        times_(code, effects, graph, false),
        ranks_(graph.cycles_to_end()),
        left_(code.size()),
        states_(code.size()),
        last_(code.size(), 0),
        easy_(code.size(), 0),
        carry_(code.size(), Carry::none),
        steps_(code.size(), 0) {
    set_last(code);
    find_carries(code);
    find_steps(code);
    for (std::uint32_t n = 0; n < code.size(); ++n)
      easy_[n] = code[n].remakes && last_[n] == 0 && graph.predecessors(n) == 0 && !graph.after(n).empty();
  }

  // The order; the most registers in use.
  int run(int limit) {
    registers_.start();
    limit_ = limit;
    int peak = registers_.in_use().general;
    wanted_.assign(left_.size(), {});
    not_open_.assign(left_.size(), 0);
    for (std::uint32_t n = 0; n < left_.size(); ++n) {
      left_[n] = graph_.predecessors(n);
      for (const ScheduleGraph::Edge& e : graph_.after(n))
        if (easy_[n] != 0)
          wanted_[e.to].push_back(n);
        else
          ++not_open_[e.to];
    }
    for (std::uint32_t n = 0; n < left_.size(); ++n)
      if (not_open_[n] == 0) open_easy_for(n);
    for (std::uint32_t n = 0; n < left_.size(); ++n)
      if (left_[n] == 0 && easy_[n] == 0) open(n);
    order_.reserve(left_.size());
    while (order_.size() < left_.size()) {
      const std::uint32_t n = choose();
      close(n);
      place(n);
      peak = std::max(peak, registers_.in_use().general);
    }
    return peak;
  }
  const std::vector<std::uint32_t>& order() const { return order_; }
  std::uint32_t cycles() const { return times_.now(); }

 private:
  // Of those that may be placed: the higher rank first, then the order of the code.
  using ByRank = std::pair<std::int64_t, std::uint32_t>;
  struct State {
    bool is_open = false, waits = false;
    InUse change;
    bool begins_sum = false;
    std::uint8_t group() const {
      return static_cast<std::uint8_t>((change.general > 0 ? 1 : 0) + (change.predicates > 0 ? 2 : 0) +
                                       (begins_sum ? 4 : 0));
    }
  };

  // Copies to registers that are wanted behind the block stay at its end: before it they would take
  // registers, and perhaps could no longer be one with what they copy.
  void set_last(const std::vector<Instruction>& code) {
    const std::uint32_t end = code.empty() ? 0 : static_cast<std::uint32_t>(code.size()) - 1;
    for (std::uint32_t n = end; n-- > 0;)
      last_[n] = code[n].copy && std::ranges::all_of(graph_.after(n), [&](const ScheduleGraph::Edge& e) {
                   return e.to == end || last_[e.to] != 0;
                 });
  }

  // What leads to nothing but the branch at the end.
  void find_steps(const std::vector<Instruction>& code) {
    const auto end = static_cast<std::uint32_t>(code.size()) - 1;
    if (code.empty() || code.back().target == none) return;
    for (std::uint32_t n = end; n-- > 0;) {
      const std::string_view base = base_mnemonic(code[n].code);
      const bool simple = base == "IADD3" || base == "ISETP" || base == "IMAD";
      steps_[n] = simple && !graph_.after(n).empty() &&
                  std::ranges::all_of(graph_.after(n), [&](const ScheduleGraph::Edge& e) {
                    return e.to == end || steps_[e.to] != 0;
                  });
    }
  }

  // Sums of two words, which lead to no load.
  void find_carries(const std::vector<Instruction>& code) {
    std::vector<char> leads(code.size(), 0);
    for (std::uint32_t n = static_cast<std::uint32_t>(code.size()); n-- > 0;) {
      leads[n] = loads_late(code[n]) ||
                 std::ranges::any_of(graph_.after(n),
                                     [&](const ScheduleGraph::Edge& e) { return leads[e.to] != 0; });
      if (leads[n] != 0) continue;
      for (std::size_t k = 0; k < code[n].code.operand_count(); ++k) {
        const std::string& name = code[n].code.form->operands[k].name;
        if (!code[n].refs[k]) continue;
        if (name == "Pcarry0" || (name == "Pd" && base_mnemonic(code[n].code) == "LEA"))
          carry_[n] = Carry::goes_out;
        if (name == "Pcin0" || name == "Pcin") carry_[n] = Carry::comes_in;
      }
      states_[n].begins_sum = carry_[n] == Carry::goes_out;
    }
  }

  // Numbers and parameters come when all else that their reader waits for has been or may be placed: until
  // then they would only take registers.
  void open_easy_for(std::uint32_t reader) {
    for (const std::uint32_t n : wanted_[reader])
      if (easy_[n] == 1) {
        easy_[n] = 2;
        open(n);
      }
  }

  void open(std::uint32_t n) {
    if (easy_[n] == 0)
      for (const ScheduleGraph::Edge& e : graph_.after(n))
        if (--not_open_[e.to] == 0) open_easy_for(e.to);
    if (last_[n] != 0) {
      final_.insert(n);
      return;
    }
    State& state = states_[n];
    state.is_open = true;
    state.waits = times_.ready(n) > times_.now();
    state.change = registers_.change(n);
    insert(n);
  }
  ByRank rank(std::uint32_t n) const {
    return {steps_[n] != 0 ? 1 : -static_cast<std::int64_t>(ranks_[n]), n};
  }
  ByRank time(std::uint32_t n) const { return {static_cast<std::int64_t>(times_.ready(n)), n}; }
  ByRank growth(std::uint32_t n) const {
    const InUse& c = states_[n].change;
    return {c.general + 4 * c.predicates, n};
  }
  void insert(std::uint32_t n) {
    const State& state = states_[n];
    if (state.waits)
      waiting_[state.group()].insert(time(n));
    else
      ready_[state.group()].insert(rank(n));
    growing_.insert(growth(n));
  }
  void erase(std::uint32_t n) {
    const State& state = states_[n];
    if (state.waits)
      waiting_[state.group()].erase(time(n));
    else
      ready_[state.group()].erase(rank(n));
    growing_.erase(growth(n));
  }
  void close(std::uint32_t n) {
    final_.erase(n);
    if (!states_[n].is_open) return;
    erase(n);
    states_[n].is_open = false;
  }

  void place(std::uint32_t n) {
    times_.issue(n);
    order_.push_back(n);
    if (carry_[n] == Carry::goes_out) ++open_sums_;
    if (carry_[n] == Carry::comes_in && open_sums_ > 0) --open_sums_;
    registers_.place(n, [&](std::uint32_t m) {
      if (!states_[m].is_open) return;
      erase(m);
      states_[m].change = registers_.change(m);
      insert(m);
    });
    for (const ScheduleGraph::Edge& e : graph_.after(n))
      if (--left_[e.to] == 0) open(e.to);
  }

  // Those whose operands have come in the meantime.
  void wake() {
    for (std::size_t g = 0; g < waiting_.size(); ++g)
      while (!waiting_[g].empty() && waiting_[g].begin()->first <= static_cast<std::int64_t>(times_.now())) {
        const std::uint32_t n = waiting_[g].begin()->second;
        waiting_[g].erase(waiting_[g].begin());
        states_[n].waits = false;
        ready_[g].insert(rank(n));
      }
  }

  bool is_allowed(std::size_t group) const {
    if ((group & 4u) != 0 && open_sums_ > 0) return false;
    if ((group & 1u) != 0 && registers_.in_use().general >= limit_) return false;
    return (group & 2u) == 0 || registers_.in_use().predicates < most_live_predicates;
  }

  // What may issue now, of that what most depends on; else what waits least; of both what registers allow. If
  // they allow nothing, what takes fewest.
  std::uint32_t choose() {
    wake();
    const ByRank* best = nullptr;
    for (const auto* sets : {&ready_, &waiting_}) {
      for (std::size_t g = 0; g < sets->size(); ++g)
        if (is_allowed(g) && !(*sets)[g].empty() && (best == nullptr || *(*sets)[g].begin() < *best))
          best = &*(*sets)[g].begin();
      if (best != nullptr && sets == &ready_) return worth_waiting_for(best->second);
      if (best != nullptr) return best->second;
    }
    if (!growing_.empty()) return growing_.begin()->second;
    return *final_.begin();
  }

  // What a load's address still needs is waited for: what could issue meanwhile is kept for the cycles that
  // the load itself takes. ptxas orders so.
  std::uint32_t worth_waiting_for(std::uint32_t n) const {
    const auto now = static_cast<std::int64_t>(times_.now());
    std::int64_t most = static_cast<std::int64_t>(ranks_[n]) + load_ahead;
    for (std::size_t g = 0; g < waiting_.size(); ++g) {
      if (!is_allowed(g)) continue;
      for (const auto& [time, m] : waiting_[g]) {
        if (time > now + longest_wait) break;
        const std::int64_t rank = static_cast<std::int64_t>(ranks_[m]) - (time - now);
        if (rank <= most) continue;
        most = rank;
        n = m;
      }
    }
    return n;
  }

  const ScheduleGraph& graph_;
  BlockRegisters& registers_;
  IssueTimes times_;
  const std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> left_;
  std::vector<State> states_;
  std::vector<char> last_;
  std::vector<char> easy_;                          // made again anywhere; 2: open
  std::vector<std::vector<std::uint32_t>> wanted_;  // those, by reader
  std::vector<std::uint32_t> not_open_;             // others before it that may not be placed yet
  enum class Carry : std::uint8_t { none, goes_out, comes_in };
  std::vector<Carry> carry_;
  std::vector<char> steps_;
  unsigned open_sums_ = 0;  // whose upper words are still to come
  std::array<std::set<ByRank>, 8> ready_, waiting_;
  std::set<ByRank> growing_;
  std::set<std::uint32_t> final_;
  std::vector<std::uint32_t> order_;
  int limit_ = 0;
};

// One block with what its orders are judged by.
class BlockOrder {
 public:
  BlockOrder(Program& program, std::uint32_t block, const LiveRegisters& live)
      : code_(program.blocks[block].code),
        effects_(effects_in(program, code_)),
        graph_(code_, effects_),
        registers_(program, block, live),
        own_peak_(peak_in_order(registers_, code_.size()).general) {}

  // The fewest registers that the block's own order or one that spares them needs.
  int least_registers() {
    return std::min(own_peak_, PressureScheduler(code_, effects_, graph_, registers_).run(0));
  }

  // Registers of lanes that would be in use where it begins, were there no uniform ones
  int spared() const { return registers_.at_begin().uniform; }

  struct Order {
    std::vector<std::uint32_t> order;  // empty: the block's own
    std::uint32_t cycles = 0;
  };
  // The best one that needs no more than so many registers, if there is one.
  Order best(int limit) {
    const std::uint32_t own_cycles = cycles_in_order(code_, effects_, graph_, false);
    for (const int less : {0, 4, 10}) {
      PressureScheduler scheduler(code_, effects_, graph_, registers_);
      const int peak = scheduler.run(limit - less);
      const bool fits = peak <= limit, spares = own_peak_ > limit && peak + worth_moving <= own_peak_;
      if ((fits && scheduler.cycles() < own_cycles) || spares) return {scheduler.order(), scheduler.cycles()};
      if (fits) break;
    }
    return {{}, own_cycles};
  }
  void apply(const Order& chosen) {
    if (chosen.order.empty()) return;
    std::vector<Instruction> code;
    code.reserve(code_.size());
    for (const std::uint32_t n : chosen.order) code.push_back(std::move(code_[n]));
    code_ = std::move(code);
  }

 private:
  static std::vector<Effects> effects_in(const Program& program, const std::vector<Instruction>& code) {
    std::vector<Effects> out;
    out.reserve(code.size());
    for (const Instruction& i : code) out.push_back(value_effects_of(program, i));
    return out;
  }
  std::vector<Instruction>& code_;
  const std::vector<Effects> effects_;
  const ScheduleGraph graph_;
  BlockRegisters registers_;
  const int own_peak_;
};

// All blocks with one limit.
struct ProgramOrder {
  std::vector<BlockOrder::Order> blocks;
  std::uint64_t cycles = 0;
};

// Blocks that need many registers start from an order that spares them: of their own, or that of the PTX,
// which its compiler made so.
void spare_registers(Program& program, const LiveRegisters& live) {
  const int many = static_cast<int>(free_registers(program.generation));
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    Block& block = program.blocks[b];
    const int own = peak_of(program, b, live);
    if (own <= many) continue;
    std::vector<Effects> effects;
    effects.reserve(block.code.size());
    for (const Instruction& i : block.code) effects.push_back(value_effects_of(program, i));
    const ScheduleGraph graph(block.code, effects);
    const std::vector<Instruction> code = block.code;
    int least = own;
    std::vector<Instruction> best = code;
    for (const std::vector<std::uint32_t>& order :
         {sparing_order(program, b, live, graph), depth_first_order(code, graph),
          order_of_ptx(code, graph)}) {
      for (std::size_t k = 0; k < order.size(); ++k) block.code[k] = code[order[k]];
      const int peak = peak_of(program, b, live);
      if (peak + worth_moving > own || peak >= least) continue;
      least = peak;
      best = block.code;
    }
    block.code = std::move(best);
  }
}

ProgramOrder order_of(const Program& program, std::deque<BlockOrder>& blocks, int limit) {
  ProgramOrder out;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    out.blocks.push_back(blocks[b].best(limit));
    out.cycles += out.blocks.back().cycles * turns_of(program.blocks[b]);
  }
  return out;
}

}  // namespace

std::uint32_t registers_of_full_sm(unsigned generation) {
  const std::uint32_t file = generation < 30 ? 32768 : 65536;
  const bool few = generation < 30 || (generation > 80 && generation < 90);
  const std::uint32_t threads = generation == 75 ? 1024 : few ? 1536 : 2048;
  // Fermi gives a warp registers in portions of 64, two a thread.
  const std::uint32_t portion = generation < 30 ? 2 : register_portion;
  return file / threads / portion * portion;
}

std::uint32_t free_registers(unsigned generation) {
  constexpr std::uint32_t stack = 1;
  return registers_of_full_sm(generation) - place_registers(generation) - stack;
}

void schedule_before_allocation(Program& program) {
  const LiveRegisters live(program);
  spare_registers(program, live);
  std::deque<BlockOrder> blocks;
  int least = 0, spared = 0;
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    blocks.emplace_back(program, b, live);
    const int own = blocks.back().least_registers();
    if (own > least) spared = blocks.back().spared();
    least = std::max(least, own);
  }
  const int most = static_cast<int>(program.most_registers) - static_cast<int>(lost_registers);
  const int few = std::min(least + least / 8, most),
            free = std::min(static_cast<int>(free_registers(program.generation)), most);
  // Free registers, and those that uniform ones spare, are taken as far as they shorten the kernel.
  ProgramOrder best = order_of(program, blocks, few);
  const int as_before = std::min(few + spared, few > free ? most : free);
  for (const int limit : {as_before, (few + free) / 2, free}) {
    if (limit <= few) continue;
    ProgramOrder other = order_of(program, blocks, limit);
    if (other.cycles + best.cycles / worth_it < best.cycles) best = std::move(other);
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].apply(best.blocks[b]);
}

}  // namespace simtlab::assembler
