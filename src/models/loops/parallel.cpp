#include "models/loops/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

#include "models/loops/linear.h"

namespace simtlab::models::loops {
namespace {

constexpr unsigned most_steps = 2'000'000;

// An unknown of the equation: the difference of the two iterations of a loop, or one iteration of its own.
struct Unknown {
  int loop = 0;
  int side = 0;  // 0: difference, 1: iteration of a, 2: of b
  std::int64_t factor = 0, low = 0, high = 0;
};

// Sums of offsets would not fit 64 bits.
bool too_far(const std::vector<Unknown>& unknowns) {
  double sum = 0;
  for (const Unknown& u : unknowns)
    sum += std::abs(static_cast<double>(u.factor)) *
           static_cast<double>(std::max(std::abs(u.low), std::abs(u.high)));
  return sum > 2e18;
}

// Looks for iterations of two accesses that overlap and are different in a given loop.
class Search {
 public:
  Search(const Description& nest, const Shape& shape, const Access& a, const Access& b, const Linear& la,
         const Linear& lb) {
    from_ = -static_cast<std::int64_t>(a.bytes) + 1;  // of a's address minus b's
    to_ = static_cast<std::int64_t>(b.bytes) - 1;
    constant_ = la.constant - lb.constant;
    std::vector<int> loops;
    for (int l = 0; l < static_cast<int>(nest.loops.size()); ++l) {
      const bool of_a = nest.inside(a.loop, l), of_b = nest.inside(b.loop, l);
      if (!of_a && !of_b) continue;
      const auto last = static_cast<std::int64_t>(shape.extents[static_cast<std::size_t>(l)]) - 1;
      const std::int64_t fa = la.factors.contains(l) ? la.factors.at(l) : 0,
                         fb = lb.factors.contains(l) ? lb.factors.at(l) : 0;
      if (of_a && of_b && fa == fb) {
        unknowns_.push_back({l, 0, fa, -last, last});
      } else {
        if (of_a) unknowns_.push_back({l, 1, fa, 0, last});
        if (of_b) unknowns_.push_back({l, 2, -fb, 0, last});
      }
    }
    std::ranges::stable_sort(unknowns_, [](const Unknown& x, const Unknown& y) {
      return std::abs(x.factor) > std::abs(y.factor);
    });
    rest_low_.assign(unknowns_.size() + 1, 0);
    rest_high_.assign(unknowns_.size() + 1, 0);
    values_.assign(unknowns_.size(), 0);
    if (too_far(unknowns_)) return;
    for (std::size_t i = unknowns_.size(); i-- > 0;) {
      const Unknown& u = unknowns_[i];
      const std::int64_t x = u.factor * u.low, y = u.factor * u.high;
      rest_low_[i] = rest_low_[i + 1] + std::min(x, y);
      rest_high_[i] = rest_high_[i + 1] + std::max(x, y);
    }
  }

  // nullopt: gave up.
  std::optional<bool> differs_in(int loop) {
    if (too_far(unknowns_)) return std::nullopt;
    wanted_ = loop;
    steps_ = 0;
    const bool found = go(0, constant_);
    if (!found && steps_ >= most_steps) return std::nullopt;
    return found;
  }
  // Of the iterations found, in the loop that was asked for.
  std::pair<std::int64_t, std::int64_t> witness() const {
    std::int64_t difference = 0;
    std::pair<std::int64_t, std::int64_t> out{0, 0};
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      if (unknowns_[i].loop != wanted_) continue;
      if (unknowns_[i].side == 0) difference = values_[i];
      if (unknowns_[i].side == 1) out.first = values_[i];
      if (unknowns_[i].side == 2) out.second = values_[i];
    }
    return difference == 0
               ? out
               : std::pair{std::max<std::int64_t>(difference, 0), std::max<std::int64_t>(-difference, 0)};
  }

 private:
  bool go(std::size_t i, std::int64_t sum) {
    if (++steps_ >= most_steps) return false;
    if (sum + rest_low_[i] > to_ || sum + rest_high_[i] < from_) return false;
    if (i == unknowns_.size()) return different();
    const Unknown& u = unknowns_[i];
    if (u.factor == 0) return free_choice(i, sum);
    // Only values from which the rest can still reach the interval.
    const double a = static_cast<double>(from_ - sum - rest_high_[i + 1]) / static_cast<double>(u.factor);
    const double b = static_cast<double>(to_ - sum - rest_low_[i + 1]) / static_cast<double>(u.factor);
    const auto first = std::max(u.low, static_cast<std::int64_t>(std::min(a, b)) - 1),
               last = std::min(u.high, static_cast<std::int64_t>(std::max(a, b)) + 1);
    for (std::int64_t v = first; v <= last; ++v) {
      values_[i] = v;
      if (go(i + 1, sum + u.factor * v)) return true;
      if (steps_ >= most_steps) return false;
    }
    return false;
  }

  // Any value will do: one that makes the wanted loop different if it can.
  bool free_choice(std::size_t i, std::int64_t sum) {
    const Unknown& u = unknowns_[i];
    for (const std::int64_t v :
         {u.loop == wanted_ && u.high > 0 ? std::int64_t{1} : std::int64_t{0}, std::int64_t{0}}) {
      values_[i] = v;
      if (go(i + 1, sum)) return true;
      if (u.loop != wanted_) break;
    }
    return false;
  }

  bool different() const {
    std::int64_t a = 0, b = 0;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      if (unknowns_[i].loop != wanted_) continue;
      if (unknowns_[i].side == 0) return values_[i] != 0;
      (unknowns_[i].side == 1 ? a : b) = values_[i];
    }
    return a != b;
  }

  std::vector<Unknown> unknowns_;
  std::vector<std::int64_t> rest_low_, rest_high_, values_;
  std::int64_t from_ = 0, to_ = 0, constant_ = 0;
  int wanted_ = 0;
  unsigned steps_ = 0;
};

// Loops whose bounds depend on the loops around them: a box holds iterations that there are not, and what
// meets only there does not count. Both iterations are gone through from the outermost loop on, each with the
// bounds that it has.
class ExactSearch {
 public:
  ExactSearch(const Description& nest, const Shape& shape, const Access& a, const Access& b, const Linear& la,
              const Linear& lb)
      : nest_(nest),
        from_(-static_cast<std::int64_t>(a.bytes) + 1),
        to_(static_cast<std::int64_t>(b.bytes) - 1),
        constant_(la.constant - lb.constant) {
    for (int l = 0; l < static_cast<int>(nest.loops.size()); ++l) {
      const auto last = static_cast<std::int64_t>(shape.extents[static_cast<std::size_t>(l)]) - 1;
      if (nest.inside(a.loop, l))
        choices_.push_back({l, 0, la.factors.contains(l) ? la.factors.at(l) : 0, 0, last});
      if (nest.inside(b.loop, l))
        choices_.push_back({l, 1, lb.factors.contains(l) ? -lb.factors.at(l) : 0, 0, last});
    }
    rest_low_.assign(choices_.size() + 1, 0);
    rest_high_.assign(choices_.size() + 1, 0);
    points_[0] = points_[1] = shape.point;
    if (too_far(choices_)) return;
    for (std::size_t i = choices_.size(); i-- > 0;) {
      rest_low_[i] = rest_low_[i + 1] + std::min<std::int64_t>(0, choices_[i].factor * choices_[i].high);
      rest_high_[i] = rest_high_[i + 1] + std::max<std::int64_t>(0, choices_[i].factor * choices_[i].high);
    }
  }

  std::optional<bool> differs_in(int loop) {
    if (too_far(choices_)) return std::nullopt;
    wanted_ = loop;
    steps_ = 0;
    const bool found = go(0, constant_);
    return !found && steps_ >= most_steps ? std::nullopt : std::optional(found);
  }
  std::pair<std::int64_t, std::int64_t> witness() const {
    const auto l = static_cast<std::size_t>(wanted_);
    return {points_[0].iterations[l], points_[1].iterations[l]};
  }

 private:
  bool go(std::size_t i, std::int64_t sum) {
    if (++steps_ >= most_steps || sum + rest_low_[i] > to_ || sum + rest_high_[i] < from_) return false;
    const auto w = static_cast<std::size_t>(wanted_);
    if (i == choices_.size()) return points_[0].iterations[w] != points_[1].iterations[w];
    const Unknown& u = choices_[i];
    Point& p = points_[static_cast<std::size_t>(u.side)];
    const Loop& loop = nest_.loops[static_cast<std::size_t>(u.loop)];
    const std::int64_t trips = loop.counted ? evaluate(loop.trips, p).value_or(u.high + 1) : u.high + 1;
    std::int64_t first = 0, last = std::min(trips - 1, u.high);
    if (u.factor != 0) {
      const double x = static_cast<double>(from_ - sum - rest_high_[i + 1]) / static_cast<double>(u.factor);
      const double y = static_cast<double>(to_ - sum - rest_low_[i + 1]) / static_cast<double>(u.factor);
      first = std::max(first, static_cast<std::int64_t>(std::min(x, y)) - 1);
      last = std::min(last, static_cast<std::int64_t>(std::max(x, y)) + 1);
    }
    auto& n = p.iterations[static_cast<std::size_t>(u.loop)];
    for (n = first; n <= last; ++n) {
      if (go(i + 1, sum + u.factor * n)) return true;
      if (steps_ >= most_steps) return false;
    }
    n = 0;
    return false;
  }

  const Description& nest_;
  std::vector<Unknown> choices_;
  std::vector<std::int64_t> rest_low_, rest_high_;
  std::array<Point, 2> points_;
  std::int64_t from_ = 0, to_ = 0, constant_ = 0;
  int wanted_ = 0;
  unsigned steps_ = 0;
};

// Bounds of a loop around one of the accesses that are not the same for all iterations of the loops around
// it.
bool has_edges(const Description& nest, const Shape& shape, const Access& a, const Access& b) {
  for (std::size_t l = 0; l < nest.loops.size(); ++l) {
    if (!nest.loops[l].counted ||
        (!nest.inside(a.loop, static_cast<int>(l)) && !nest.inside(b.loop, static_cast<int>(l))))
      continue;
    for (const Point& p : shape.samples)
      if (const auto t = evaluate(nest.loops[l].trips, p);
          t && *t != static_cast<std::int64_t>(shape.extents[l]))
        return true;
  }
  return false;
}

class Judge {
 public:
  Judge(const Description& nest, const Shape& shape, const std::vector<Touched>& touched)
      : nest_(nest), shape_(shape), touched_(touched), prefix_(nest.prefix()) {}

  Parallelism run() {
    out_.loops.assign(prefix_.size(), Verdict::parallel);
    for (const Dependence& d : nest_.dependences) pair(d);
    std::ranges::stable_sort(out_.findings,
                             [](const Finding& x, const Finding& y) { return x.verdict > y.verdict; });
    return std::move(out_);
  }

 private:
  const Access& access(int i) const { return nest_.accesses[static_cast<std::size_t>(i)]; }
  const Input& input(const Access& a) const { return nest_.inputs[static_cast<std::size_t>(a.input)]; }

  // One element is read, changed and written back, and which one is up to the data.
  bool is_histogram(const Access& a, const Access& b) const {
    const auto same_place = [&](const Access& x) {
      return x.line == a.line && x.input == a.input && x.loop == a.loop && depends_on_data(x.offset);
    };
    return same_place(b) &&
           std::ranges::any_of(nest_.accesses, [&](const Access& x) { return !x.store && same_place(x); }) &&
           (a.store || b.store);
  }

  std::string shown(const Access& a) const {
    return fmt::format("{} '{}' at line {}", a.store ? "the store to" : "the load from", input(a).name,
                       a.line);
  }

  void found(const Dependence& d, std::size_t level, Verdict verdict, std::string text, std::string hint) {
    out_.loops[level] = std::max(out_.loops[level], verdict);
    for (const Finding& f : out_.findings)
      if (f.text == text && f.loop == prefix_[level]) return;
    out_.findings.push_back({d.a, d.b, prefix_[level], verdict, std::move(text), std::move(hint)});
  }

  // A run saw the two apart.
  bool seen_apart(const Access& a, const Access& b) {
    if (touched_.empty()) return false;
    const Touched &x = touched_[static_cast<std::size_t>(a.input)],
                  &y = touched_[static_cast<std::size_t>(b.input)];
    if (x.high > y.low && y.high > x.low) return false;
    const std::string note = fmt::format("'{}' and '{}' did not overlap in the run that was measured",
                                         input(a).name, input(b).name);
    if (std::ranges::find(out_.notes, note) == out_.notes.end()) out_.notes.push_back(note);
    return true;
  }

  void pair(const Dependence& d) {
    const Access &a = access(d.a), &b = access(d.b);
    if (a.input != b.input) {
      if (seen_apart(a, b)) return;
      for (std::size_t level = 0; level < prefix_.size(); ++level)
        found(d, level, Verdict::unproven,
              fmt::format("'{}' and '{}' may overlap: {} and {}", input(a).name, input(b).name, shown(a),
                          shown(b)),
              fmt::format("declare them restrict if they never do ('{}' and '{}')", input(a).name,
                          input(b).name));
      return;
    }
    const std::optional<Linear> la = linear(nest_, shape_, a), lb = linear(nest_, shape_, b);
    for (std::size_t level = 0; level < prefix_.size(); ++level) {
      // LLVM: only within an iteration
      if (!d.confused && level < d.directions.size() && d.directions[level] == 2) continue;
      if (!la || !lb) {
        if (is_histogram(a, b)) {
          found(d, level, Verdict::unproven,
                fmt::format("which element of '{}' an iteration adds to at line {} depends on data, and two "
                            "may add to the same one: a histogram",
                            input(a).name, a.line),
                "a kernel needs atomic additions, or counters of each block that are summed up afterwards");
          continue;
        }
        std::vector<int> missing;
        missing_inputs(a.offset, shape_.point, missing);
        missing_inputs(b.offset, shape_.point, missing);
        if (!missing.empty()) {
          const std::string& name = nest_.inputs[static_cast<std::size_t>(missing.front())].name;
          found(d, level, Verdict::unproven,
                fmt::format("whether {} and {} meet in different iterations depends on '{}', whose value is "
                            "not known",
                            shown(a), shown(b), name),
                fmt::format("--params {}=VALUE, or --run 'ARGUMENTS' to take it from a run of the program; "
                            "--assume-parallel if no two iterations meet whatever it is",
                            name));
          continue;
        }
        const bool data = depends_on_data(a.offset) || depends_on_data(b.offset);
        found(
            d, level, Verdict::unproven,
            fmt::format("{} and {} may meet in different iterations: {}", shown(a), shown(b),
                        data ? "where they go depends on data"
                             : "their place is no linear function of the iterations (a remainder, a "
                               "division, an index beyond 32 bits)"),
            "--assume-parallel if no two iterations of the loop write, or write and read, the same element");
        continue;
      }
      exact(d, level, a, b, *la, *lb);
    }
  }

  void exact(const Dependence& d, std::size_t level, const Access& a, const Access& b, const Linear& la,
             const Linear& lb) {
    Search search(nest_, shape_, a, b, la, lb);
    std::optional<bool> differs = search.differs_in(prefix_[level]);
    auto place = search.witness();
    if (differs.value_or(true) && has_edges(nest_, shape_, a, b)) {
      ExactSearch exact(nest_, shape_, a, b, la, lb);
      differs = exact.differs_in(prefix_[level]);
      place = exact.witness();
    }
    const Loop& loop = nest_.loops[static_cast<std::size_t>(prefix_[level])];
    if (!differs) {
      found(d, level, Verdict::unproven,
            fmt::format("{} and {}: too many iterations to rule out that two meet", shown(a), shown(b)),
            "--assume-parallel if no two iterations write, or write and read, the same element; or smaller "
            "--params");
    } else if (*differs) {
      const auto [x, y] = place;
      found(d, level, Verdict::carried,
            fmt::format("{} in iteration {} of '{}' and {} in iteration {} meet", shown(a), x, loop.name,
                        shown(b), y),
            la.factors == lb.factors && la.constant == lb.constant && !la.factors.contains(prefix_[level])
                ? "a sum or a counter over iterations is a reduction: let each iteration store what it "
                  "contributes, and combine afterwards"
                : "write to another array than the one that is read, or take an inner loop with --loop");
    }
  }

  const Description& nest_;
  const Shape& shape_;
  const std::vector<Touched>& touched_;
  const std::vector<int> prefix_;
  Parallelism out_;
};

}  // namespace

Parallelism parallelism(const Description& nest, const Shape& shape, const std::vector<Touched>& touched) {
  return Judge(nest, shape, touched).run();
}

}  // namespace simtlab::models::loops
