#include "ptx/clock_values.h"

#include <set>

#include "ptx/special.h"

namespace simtlab::ptx {
namespace {

// A forward analysis over register rows. Only rows that hold a clock's value are kept, so a state is small.
class Analysis {
 public:
  Analysis(const Function& f, const Flow& flow, const std::vector<std::uint32_t>& clocks)
      : f_(f), flow_(flow), clocks_(clocks), before_(f.code.size()) {}

  std::vector<ClockSum> run() {
    std::vector<std::uint32_t> work = clocks_;
    std::vector<bool> listed(f_.code.size(), false);
    while (!work.empty()) {
      const std::uint32_t pc = work.back();
      work.pop_back();
      listed[pc] = false;
      State state = before_[pc];
      execute(pc, state);
      for (const std::uint32_t next : flow_.after(pc))
        if (merge(before_[next], state) && !listed[next]) listed[next] = true, work.push_back(next);
    }
    return {stored_.begin(), stored_.end()};
  }

 private:
  struct Held {
    std::uint32_t row;
    ClockSum sum;
  };
  using State = std::vector<Held>;  // by row

  static State::iterator place(State& state, std::uint32_t row) {
    return std::ranges::lower_bound(state, row, {}, &Held::row);
  }

  static bool merge(State& into, const State& from) {
    bool changed = false;
    for (const Held& held : from) {
      const auto at = place(into, held.row);
      if (at == into.end() || at->row != held.row) {
        into.insert(at, held);
        changed = true;
        continue;
      }
      const ClockSum was = at->sum;
      at->sum.add(held.sum);
      changed = changed || at->sum != was;
    }
    return changed;
  }

  ClockSum none() const { return {ClockSet(clocks_.size()), ClockSet(clocks_.size())}; }

  ClockSum value(State& state, const Operand& operand) const {
    ClockSum out = none();
    for_each_row(operand, [&](std::uint32_t row) {
      const auto at = place(state, row);
      if (at != state.end() && at->row == row) out.add(at->sum);
    });
    return out;
  }

  ClockSum result(std::uint32_t pc, State& state) const {
    const Inst& inst = f_.code[pc];
    ClockSum out = none();
    if (reads_clock(inst)) {
      out.plus.add(static_cast<std::size_t>(std::ranges::lower_bound(clocks_, pc) - clocks_.begin()));
      return out;
    }
    if (accesses_memory(inst.op_class) || inst.op == Op::call) return out;  // an address is no value
    for (unsigned i = 0; i < inst.src_count; ++i) {
      const ClockSum source = value(state, inst.src[i]);
      const bool negative = inst.op == Op::neg || inst.op == Op::not_ ||
                            (i == 1 && (inst.op == Op::sub || inst.op == Op::subc));
      negative ? out.subtract(source) : out.add(source);
    }
    return out;
  }

  void store(const ClockSum& sum) {
    if (!sum.empty()) stored_.insert(sum);
  }

  // Values that leave the registers: to memory, to a called function, to print.
  void look_for_stores(const Inst& inst, State& state) {
    if (inst.op == Op::call) {
      for (const CallArg& arg : f_.call_sites[inst.target].args) store(value(state, arg.reg));
      return;
    }
    const bool writes = inst.op == Op::st || inst.op == Op::sust || inst.op == Op::atom || inst.op == Op::red;
    for (unsigned i = 1; writes && i < inst.src_count; ++i) store(value(state, inst.src[i]));
  }

  void execute(std::uint32_t pc, State& state) {
    const Inst& inst = f_.code[pc];
    look_for_stores(inst, state);
    const ClockSum sum = result(pc, state);
    for_each_destination_row(inst, [&](std::uint32_t row) {
      const auto at = place(state, row);
      const bool there = at != state.end() && at->row == row;
      if (inst.guard.kind != OperandKind::none && there) return at->sum.add(sum);
      if (there && sum.empty()) return static_cast<void>(state.erase(at));
      if (there)
        at->sum = sum;
      else if (!sum.empty())
        state.insert(at, {row, sum});
    });
  }

  const Function& f_;
  const Flow& flow_;
  const std::vector<std::uint32_t>& clocks_;
  std::vector<State> before_;
  std::set<ClockSum> stored_;
};

}  // namespace

std::vector<ClockSum> stored_clock_sums(const Function& function, const Flow& flow,
                                        const std::vector<std::uint32_t>& clocks) {
  return Analysis(function, flow, clocks).run();
}

}  // namespace simtlab::ptx
