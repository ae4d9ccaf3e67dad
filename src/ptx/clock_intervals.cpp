#include "ptx/clock_intervals.h"

#include <set>

#include "ptx/clock_values.h"
#include "ptx/special.h"

namespace simtlab::ptx {
namespace {

constexpr std::size_t long_chain =
    4;  // loads of an interval beyond which the last one of a chain matters little

bool is_load(const Inst& inst) {
  switch (inst.op) {
    case Op::ld: return inst.mods.space != Space::param;
    case Op::ldu:
    case Op::tex:
    case Op::tld4:
    case Op::suld:
    case Op::cp_async: return true;
    case Op::atom: return inst.dst_count != 0 && inst.dst[0].kind == OperandKind::reg;
    default: return false;
  }
}

// What comes after it may be taken to wait for all loads before: some does, some is written to.
bool settles(const Inst& inst) {
  return inst.op_class == OpClass::barrier || inst.op_class == OpClass::fence || inst.op == Op::call ||
         inst.op == Op::cp_async_wait;
}

using Rows = std::set<std::uint32_t>;

Rows rows_written(const Inst& inst) {
  Rows out;
  for_each_destination_row(inst, [&](std::uint32_t row) { out.insert(row); });
  return out;
}

// On every device that folds: timing/lowering.h.
bool always_folds(Fold fold) {
  return fold != Fold::none && fold != Fold::sum && fold != Fold::logic && fold != Fold::shift;
}

bool reads(const Inst& inst, std::uint32_t wanted) {
  bool found = false;
  for_each_source_row(inst, [&](std::uint32_t row) { found = found || row == wanted; });
  return found;
}

struct Interval {
  std::uint32_t begin, end;  // pcs of the reads
  auto operator<=>(const Interval&) const = default;
};

// Instructions that can be reached from a pc, without going on behind a stop.
template <class Next>
std::vector<bool> reached(std::uint32_t from, const std::vector<bool>& stops, const Next& next) {
  std::vector<bool> out(stops.size(), false);
  std::vector<std::uint32_t> work{from};
  while (!work.empty()) {
    const std::uint32_t pc = work.back();
    work.pop_back();
    for (const std::uint32_t n : next(pc)) {
      if (out[n]) continue;
      out[n] = true;
      if (!stops[n]) work.push_back(n);
    }
  }
  return out;
}

// The code of a function on the ways from one clock read to another.
class Region {
 public:
  Region(const Function& f, const Flow& flow, bool folding, Interval interval, const std::vector<bool>& stops)
      : f_(f), flow_(flow), folding_(folding), inside_(f.code.size(), false) {
    const std::vector<bool> ahead =
        reached(interval.begin, stops, [&](std::uint32_t pc) { return flow.after(pc); });
    const std::vector<bool> back =
        reached(interval.end, stops, [&](std::uint32_t pc) { return flow.before(pc); });
    for (std::uint32_t pc = 0; pc < f.code.size(); ++pc) {
      inside_[pc] = ahead[pc] && back[pc] && !stops[pc];
      if (inside_[pc] && is_load(f.code[pc])) loads_.push_back(pc);
    }
  }

  // Pcs of loads that nothing in it waits for, those that are taken to be meant left out.
  std::vector<std::uint32_t> unwaited() const {
    std::vector<std::uint32_t> out;
    bool waited_loop = false;
    for (const std::uint32_t load : loads_)
      if (!hangs(load)) waited_loop = waited_loop || loops(load);
    for (const std::uint32_t load : loads_) {
      if (!hangs(load) || (waited_loop && !loops(load))) continue;
      if (loads_.size() >= long_chain && needs_a_load(load)) continue;
      out.push_back(load);
    }
    return out;
  }

 private:
  // Whether what is wanted follows a load in the interval.
  template <class F>
  bool followed_by(std::uint32_t load, const F& wanted) const {
    std::vector<bool> seen(f_.code.size(), false);
    std::vector<std::uint32_t> work{load};
    while (!work.empty()) {
      const std::uint32_t pc = work.back();
      work.pop_back();
      for (const std::uint32_t next : flow_.after(pc)) {
        if (seen[next] || !inside_[next]) continue;
        seen[next] = true;
        if (wanted(next)) return true;
        work.push_back(next);
      }
    }
    return false;
  }

  bool settled(std::uint32_t load) const {
    return followed_by(load, [&](std::uint32_t pc) { return settles(f_.code[pc]); });
  }
  // A row that is written anew no longer has the value. What is folded into others does not wait: they do,
  // for its result.
  bool is_read(std::uint32_t load, std::uint32_t loaded) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // pc, row that has the value before it
    std::vector<std::pair<std::uint32_t, std::uint32_t>> work{{load, loaded}};
    while (!work.empty()) {
      const auto [pc, row] = work.back();
      work.pop_back();
      for (const std::uint32_t next : flow_.after(pc)) {
        if (!inside_[next] || !seen.emplace(next, row).second) continue;
        const Inst& inst = f_.code[next];
        if (reads(inst, row)) {
          if (!folding_ || !always_folds(inst.fold)) return true;
          for_each_destination_row(inst, [&](std::uint32_t copy) { work.emplace_back(next, copy); });
        }
        if (inst.guard.kind != OperandKind::none || !rows_written(inst).contains(row))
          work.emplace_back(next, row);
      }
    }
    return false;
  }
  bool hangs(std::uint32_t load) const {
    return !settled(load) && std::ranges::none_of(rows_written(f_.code[load]),
                                                  [&](std::uint32_t row) { return is_read(load, row); });
  }
  bool loops(std::uint32_t load) const {
    return followed_by(load, [&](std::uint32_t pc) { return pc == load; });
  }

  // Whether its address comes, through arithmetic, from another load of the interval. Backwards, row by row.
  bool needs_a_load(std::uint32_t load) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // pc, row that is wanted before it
    std::vector<std::pair<std::uint32_t, std::uint32_t>> work;
    const auto want = [&](std::uint32_t pc, const Inst& inst) {
      for_each_source_row(inst, [&](std::uint32_t row) {
        if (seen.emplace(pc, row).second) work.emplace_back(pc, row);
      });
    };
    want(load, f_.code[load]);
    while (!work.empty()) {
      const auto [pc, row] = work.back();
      work.pop_back();
      for (const std::uint32_t earlier : flow_.before(pc)) {
        if (!inside_[earlier]) continue;
        const Inst& inst = f_.code[earlier];
        if (!rows_written(inst).contains(row)) {
          if (seen.emplace(earlier, row).second) work.emplace_back(earlier, row);
        } else if (is_load(inst)) {
          return true;
        } else {
          want(earlier, inst);
        }
      }
    }
    return false;
  }

  const Function& f_;
  const Flow& flow_;
  bool folding_;
  std::vector<bool> inside_;
  std::vector<std::uint32_t> loads_;
};

class Search {
 public:
  Search(const Function& f, bool folding, std::vector<std::uint32_t> clocks)
      : f_(f), flow_(f), folding_(folding), clocks_(std::move(clocks)) {}

  std::vector<UnwaitedLoad> run() {
    std::vector<bool> raw(clocks_.size(), false), paired(clocks_.size(), false);
    for (const ClockSum& sum : stored_clock_sums(f_, flow_, clocks_)) {
      const bool difference = !sum.plus.empty() && !sum.minus.empty();
      for (std::size_t i = 0; i < clocks_.size(); ++i)
        if (sum.plus.has(i) || sum.minus.has(i)) (difference ? paired : raw)[i] = true;
      if (difference) measured(sum);
    }
    std::vector<std::uint32_t> apart;
    for (std::size_t i = 0; i < clocks_.size(); ++i)
      if (raw[i] && !paired[i]) apart.push_back(clocks_[i]);
    const std::size_t step = apart.size() % 2 == 0 ? 2 : 1;
    for (std::size_t i = 0; i + 1 < apart.size(); i += step) look({apart[i], apart[i + 1]}, apart);
    return {found_.begin(), found_.end()};
  }

 private:
  // From each clock that is subtracted to those of the sum that come next.
  void measured(const ClockSum& sum) {
    std::vector<std::uint32_t> of_sum;
    std::vector<bool> stops(f_.code.size(), false);
    for (std::size_t i = 0; i < clocks_.size(); ++i)
      if (sum.plus.has(i) || sum.minus.has(i)) of_sum.push_back(clocks_[i]), stops[clocks_[i]] = true;
    for (std::size_t from = 0; from < clocks_.size(); ++from) {
      if (!sum.minus.has(from)) continue;
      const std::vector<bool> ahead =
          reached(clocks_[from], stops, [&](std::uint32_t pc) { return flow_.after(pc); });
      for (std::size_t to = 0; to < clocks_.size(); ++to)
        if (sum.plus.has(to) && ahead[clocks_[to]]) look({clocks_[from], clocks_[to]}, of_sum);
    }
  }

  void look(Interval interval, const std::vector<std::uint32_t>& stops) {
    if (!looked_.insert(interval).second) return;
    std::vector<bool> stop(f_.code.size(), false);
    for (const std::uint32_t pc : stops) stop[pc] = true;
    for (const std::uint32_t load : Region(f_, flow_, folding_, interval, stop).unwaited())
      found_.insert({load, interval.begin, interval.end});
  }

  const Function& f_;
  Flow flow_;
  bool folding_;
  std::vector<std::uint32_t> clocks_;
  std::set<Interval> looked_;
  std::set<UnwaitedLoad> found_;
};

}  // namespace

std::vector<UnwaitedLoad> unwaited_loads(const Function& function, bool folding) {
  std::vector<std::uint32_t> clocks;
  for (std::uint32_t pc = 0; pc < function.code.size(); ++pc)
    if (reads_clock(function.code[pc])) clocks.push_back(pc);
  if (clocks.empty()) return {};
  return Search(function, folding, std::move(clocks)).run();
}

}  // namespace simtlab::ptx
