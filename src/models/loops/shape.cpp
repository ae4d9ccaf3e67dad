#include "models/loops/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace simtlab::models::loops {
namespace {

constexpr unsigned samples = 48;
constexpr std::uint64_t most_iterations = std::uint64_t{1} << 40;

// A number below `range` that depends on both others and looks random (an integer hash).
std::uint64_t pick(std::uint64_t sample, std::uint64_t what, std::uint64_t range) {
  std::uint64_t x = sample * 0x9e3779b97f4a7c15ull + what * 0xbf58476d1ce4e5b9ull + 1;
  x = (x ^ (x >> 31)) * 0x94d049bb133111ebull;
  x ^= x >> 29;
  return range == 0 ? 0 : x % range;
}

class ShapeMaker {
 public:
  ShapeMaker(const Description& nest, Shape& shape, const Measured& measured)
      : nest_(nest), shape_(shape), measured_(measured) {}

  void run() {
    const std::size_t n = nest_.loops.size();
    shape_.extents.assign(n, 0);
    shape_.trips.assign(n, 0);
    shape_.point.iterations.assign(n, 0);
    check_inputs();
    if (!measured_.blocks.empty()) use_measured();
    take_samples();
    if (measured_.blocks.empty()) flow();
    shape_.iterations = 1;
    const std::vector<int> prefix = nest_.prefix();
    for (const int l : prefix) shape_.iterations *= shape_.trips[index(l)];
    for (const int l : prefix) refuse_empty(l);
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void check_inputs() {
    std::vector<int> missing;
    for (const Loop& l : nest_.loops) {
      if (l.counted)
        missing_inputs(l.trips, shape_.point, missing);
      else if (l.bounded)
        missing_inputs(l.most_trips, shape_.point, missing);
    }
    std::vector<Diagnostic> all;
    for (const int i : missing) {
      Diagnostic d;
      d.message = fmt::format("how often the nest runs depends on '{}', whose value is not known",
                              nest_.inputs[index(i)].name);
      d.pos = {nest_.file, nest_.line, nest_.column};
      d.hint = fmt::format("--params {}=VALUE, or --run 'ARGUMENTS' to take it from a run of the program",
                           nest_.inputs[index(i)].name);
      all.push_back(std::move(d));
    }
    if (!all.empty()) throw Error(ExitCode::bad_input, "loop-parameters", std::move(all));
  }

  // Blocks that enter a loop from outside it.
  double entries(int loop) const {
    double sum = 0;
    const std::uint32_t header = nest_.loops[index(loop)].block;
    for (std::size_t b = 0; b < nest_.blocks.size(); ++b)
      if (!nest_.inside(nest_.blocks[b].loop, loop) &&
          std::ranges::find(nest_.blocks[b].successors, header) != nest_.blocks[b].successors.end())
        sum += shape_.executions[b];
    return sum;
  }
  // Before an iteration; a loop of one block tests after it.
  bool exits_at_header(int loop) const {
    const std::uint32_t header = nest_.loops[index(loop)].block;
    const std::vector<std::uint32_t>& next = nest_.blocks[header].successors;
    return std::ranges::find(next, header) == next.end() && std::ranges::any_of(next, [&](std::uint32_t s) {
             return !nest_.inside(nest_.blocks[s].loop, loop);
           });
  }

  void use_measured() {
    shape_.measured = true;
    for (const std::uint64_t b : measured_.blocks) shape_.executions.push_back(static_cast<double>(b));
    shape_.guessed.assign(nest_.blocks.size(), false);
    for (std::size_t l = 0; l < nest_.loops.size(); ++l) {
      const double entered = entries(static_cast<int>(l)),
                   at_header = shape_.executions[nest_.loops[l].block];
      shape_.trips[l] =
          entered > 0 ? at_header / entered - (exits_at_header(static_cast<int>(l)) ? 1 : 0) : 0;
    }
  }

  std::uint64_t trips_at(std::size_t l, const Point& p) const {
    const Loop& loop = nest_.loops[l];
    if (const auto t = loop.counted ? evaluate(loop.trips, p) : std::nullopt)
      return static_cast<std::uint64_t>(std::clamp<std::int64_t>(*t, 0, most_iterations));
    if (shape_.measured) return static_cast<std::uint64_t>(shape_.trips[l] + 0.5);
    Diagnostic d;
    d.message = "how often this loop runs depends on data";
    d.pos = nest_.at(loop);
    d.hint = "--run 'ARGUMENTS' runs the program and counts";
    throw Error(ExitCode::bad_input, "loop-trip-count", std::move(d));
  }

  void take_samples() {
    std::vector<double> sums(nest_.loops.size());
    std::vector<unsigned> reached(nest_.loops.size());
    for (unsigned s = 0; s < samples; ++s) {
      Point p = shape_.point;
      std::vector<bool> empty(nest_.loops.size());
      for (std::size_t l = 0; l < nest_.loops.size(); ++l) {  // outer loops come first
        const int parent = nest_.loops[l].parent;
        const std::uint64_t t = parent >= 0 && empty[index(parent)] ? 0 : trips_at(l, p);
        empty[l] = t == 0;
        if (parent < 0 || !empty[index(parent)]) {
          sums[l] += static_cast<double>(t);
          ++reached[l];
        }
        shape_.extents[l] = std::max(shape_.extents[l], t);
        // The first and last iterations are among them: bounds that depend on outer loops are largest there.
        p.iterations[l] = static_cast<std::int64_t>(s == 0 || t == 0 ? 0 : s == 1 ? t - 1 : pick(s, l, t));
      }
      shape_.samples.push_back(std::move(p));
    }
    if (shape_.measured) return;
    for (std::size_t l = 0; l < nest_.loops.size(); ++l)
      shape_.trips[l] = reached[l] ? sums[l] / reached[l] : 0;
  }

  void refuse_empty(int l) const {
    if (shape_.trips[index(l)] > 0) return;
    Diagnostic d;
    d.message = "the loop does not run at all";
    d.pos = nest_.at(nest_.loops[index(l)]);
    d.hint = shape_.measured ? "let the program run with arguments that give it something to do"
                             : "other values for --params";
    throw Error(ExitCode::bad_input, "loop-empty", std::move(d));
  }

  // Share of the samples in which the block's condition holds; nothing if it can't be evaluated.
  std::optional<double> share(const Block& block) const {
    unsigned yes = 0, known = 0;
    for (const Point& p : shape_.samples)
      if (const auto v = evaluate(block.condition, p)) {
        ++known;
        yes += *v ? 1u : 0u;
      }
    return known == 0 ? std::nullopt : std::optional(static_cast<double>(yes) / known);
  }

  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> out;
    std::vector<bool> seen(nest_.blocks.size());
    const std::function<void(std::uint32_t)> visit = [&](std::uint32_t b) {
      seen[b] = true;
      for (const std::uint32_t s : nest_.blocks[b].successors)
        if (!seen[s]) visit(s);
      out.push_back(b);
    };
    visit(0);
    std::ranges::reverse(out);
    return out;
  }

  // From the first block on: what flows into a block flows out of it, times the iterations of the loop that
  // it heads.
  void flow() {
    shape_.executions.assign(nest_.blocks.size(), 0);
    shape_.guessed.assign(nest_.blocks.size(), false);
    shape_.executions[0] = 1;
    std::vector<double> entered(nest_.loops.size());
    for (const std::uint32_t b : order()) {
      const Block& block = nest_.blocks[b];
      double& here = shape_.executions[b];
      const bool heads = block.loop >= 0 && nest_.loops[index(block.loop)].block == b;
      if (heads) {
        entered[index(block.loop)] = here;
        here *= shape_.trips[index(block.loop)] + (exits_at_header(block.loop) ? 1 : 0);
      } else if (block.loop >= 0) {
        // Both sides of an unknown condition meet again
        here = std::min(here, entered[index(block.loop)] * shape_.trips[index(block.loop)]);
      } else {
        here = std::min(here, 1.0);
      }
      send(b, block, here, entered);
    }
  }

  void send(std::uint32_t b, const Block& block, double here, const std::vector<double>& entered) {
    std::vector<std::uint32_t> stay;
    for (const std::uint32_t s : block.successors) {
      if (block.loop >= 0 && s == nest_.loops[index(block.loop)].block) continue;  // the way back
      if (block.loop >= 0 && !nest_.inside(nest_.blocks[s].loop, block.loop))
        shape_.executions[s] += entered[index(block.loop)] / exits(block.loop);
      else
        stay.push_back(s);
    }
    const bool heads = block.loop >= 0 && nest_.loops[index(block.loop)].block == b;
    if (heads && stay.size() == 1 && exits_at_header(block.loop))
      here = entered[index(block.loop)] * shape_.trips[index(block.loop)];
    const std::optional<double> yes =
        stay.size() == 2 && block.successors.size() == 2 ? share(block) : std::optional(1.0);
    for (std::size_t i = 0; i < stay.size(); ++i) {
      const bool unknown = stay.size() > 2 || !yes;
      shape_.executions[stay[i]] += unknown                      ? here
                                    : i == 0 || stay.size() == 1 ? here * *yes
                                                                 : here * (1 - *yes);
      if (unknown || shape_.guessed[b]) shape_.guessed[stay[i]] = unknown;
    }
  }

  double exits(int loop) const {
    double n = 0;
    for (const Block& b : nest_.blocks)
      for (const std::uint32_t s : b.successors)
        if (nest_.inside(b.loop, loop) && !nest_.inside(nest_.blocks[s].loop, loop)) ++n;
    return std::max(n, 1.0);
  }

  const Description& nest_;
  Shape& shape_;
  const Measured& measured_;
};

}  // namespace

Shape shape_of(const Description& nest, const std::vector<std::optional<std::int64_t>>& inputs,
               const Measured& measured) {
  Shape shape;
  shape.point.inputs = inputs;
  ShapeMaker(nest, shape, measured).run();
  return shape;
}

}  // namespace simtlab::models::loops
