#include "probe/thesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "probe/analysis/histogram.h"
#include "probe/analysis/samples.h"
#include "probe/analysis/sampling.h"
#include "probe/analysis/timer.h"
#include "probe/chain.h"
#include "probe/operation.h"
#include "probe/thesis_copies.h"
#include "probe/thesis_counters.h"
#include "probe/thesis_kernels.h"

namespace simtlab::probe {
namespace {

constexpr float operand_a = 2.625f, operand_b = 1.375f;
constexpr double unmoved = 1e-3;     // of the mean of the intervals
constexpr double most_error = 1e-5;  // of a result beside the host's (5.5.2: 0.001 %)

// One value a warp, of so many repetitions as it takes until nothing new comes. Throws where a result is not
// what the host computes.
Histogram intervals(Bench& bench, const ThesisKernel& kernel, const ThesisShape& shape, std::uint64_t data,
                    std::uint64_t out, double result, unsigned most) {
  const auto function = bench.kernel(kernel.text, "interval");
  const std::size_t threads = std::size_t{shape.blocks} * shape.threads;
  Histogram all, last;
  double before = 0;
  unsigned still = 0;
  for (unsigned i = 0; i < most; ++i) {
    const auto words =
        bench.run(function, shape.blocks, shape.threads, gpu::Arguments(out, data, operand_a, operand_b, 0u),
                  out, threads * (kernel.intervals + 1));
    const std::vector<double> values(words.begin(),
                                     words.begin() + static_cast<std::ptrdiff_t>(threads * kernel.intervals));
    for (std::size_t t = threads * kernel.intervals; t < words.size(); ++t)
      if (const double is = std::bit_cast<float>(static_cast<std::uint32_t>(words[t]));
          !(std::abs(is - result) <= most_error * std::abs(result)))
        throw Error(
            ExitCode::failure, "probe-failed",
            fmt::format("the results of a timed kernel add up to {:g}, on the host to {:g}", is, result),
            "see whether the board is in order");
    const Histogram once(one_per_warp(values, bench.board.facts().warp_size));
    for (const Histogram::Bin& bin : once.bins()) all.add(bin.value, bin.count);
    // Equal twice, or neither of the last two launches moved the mean
    const double mean = all.mean();
    still = i > 0 && std::abs(mean - before) <= unmoved * mean ? still + 1 : 0;
    if ((i > 0 && once == last) || still == 2) break;
    last = once, before = mean;
  }
  return all;
}

// What a distribution is reduced to; the published tables give means, with one deviation on each side.
struct Spread {
  double mean = 0, square = 0;
  std::uint64_t shapes = 0, samples = 0;
  Histogram raw = {};  // intervals as they were measured
  void add(const Distribution& d, std::uint64_t values, const Histogram& measured = {}) {
    for (const Histogram::Bin& bin : measured.bins()) raw.add(bin.value, bin.count);
    mean += d.mean(), square += d.variance() + d.mean() * d.mean(), ++shapes, samples += values;
  }
  double value() const { return mean / static_cast<double>(shapes); }
  double deviation() const {
    return std::sqrt(std::max(0.0, square / static_cast<double>(shapes) - value() * value()));
  }
};

void report(Bench& bench, const std::string& key, const Spread& s, const std::string& how,
            const std::string& curve = {}) {
  Finding f;
  f.key = key, f.unit = "cycles", f.value = s.value(),
  f.interval = {s.value() - s.deviation(), s.value() + s.deviation()};
  f.confidence = 0.6827;  // as published: a deviation on each side, of the values and not of their mean
  f.samples = s.samples, f.method = how, f.curve = curve, f.raw = s.raw.bins();
  bench.found.add(std::move(f));
}

// What is timed, and how often at most.
struct Subject {
  std::string name;  // "sub.8", "local"
  ThesisKernel kernel;
  double result = 0;  // what a thread's results add up to
  unsigned most = 50;
};
struct Sampled {
  Histogram measured;
  Distribution latency;
};

// Intervals of one launch's shape with the clock's cost, of the same shape, taken out.
class Corrected {
 public:
  Corrected(Bench& bench, std::uint64_t out, std::span<const ThesisShape> shapes)
      : bench_(bench), out_(out), shapes_(shapes) {}

  Sampled operator()(const Subject& timed, const ThesisShape& shape, std::uint64_t data) {
    const Histogram& cost = clock(shape, timed.kernel.intervals, timed.most);
    Sampled out;
    out.measured = intervals(bench_, timed.kernel, shape, data, out_, timed.result, most(timed.most));
    out.latency = corrected(Correction::difference, Distribution(out.measured), Distribution(cost));
    return out;
  }
  const Histogram& clock(const ThesisShape& shape, unsigned count, unsigned most_times) {
    const auto key = std::pair{shape, count};
    const auto known = clocks_.find(key);
    if (known != clocks_.end()) return known->second;
    return clocks_[key] = intervals(bench_, clock_kernel(count), shape, 0, out_, 0, most(most_times));
  }
  // Measured, cost and latency of the launches whose histograms are wanted, `of` this kernel.
  void histograms(const Subject& timed, std::string_view of, std::uint64_t data) {
    std::vector<ThesisShape> wanted(shapes_.begin(), shapes_.end());
    for (const ThesisFigure& f : thesis_figures)
      if (f.of == of && f.shape.threads <= bench_.board.facts().max_threads_per_block)
        wanted.push_back(f.shape);
    std::ranges::sort(wanted);
    const auto same = std::ranges::unique(wanted);
    wanted.erase(same.begin(), same.end());
    for (const ThesisShape& shape : wanted) {
      const Sampled i = (*this)(timed, shape, data);
      const std::string name = fmt::format("histogram.{}.{}x{}", timed.name, shape.blocks, shape.threads);
      histogram(name + ".measured", Distribution(i.measured));
      histogram(name + ".clock", Distribution(clock(shape, timed.kernel.intervals, timed.most)));
      histogram(name + ".latency", i.latency);
      if (of == "local" || of == "global")
        thesis_counts(bench_, {.name = timed.name,
                               .timed = timed.kernel,
                               .shape = shape,
                               .data = data,
                               .out = out_,
                               .local = of == "local",
                               .most = most(timed.most)});
    }
  }

 private:
  unsigned most(unsigned times) const { return bench_.options.quick ? 2 : times; }
  void histogram(std::string name, const Distribution& d) {
    Series series{std::move(name), "cycles", "share", {}, {}};
    for (const auto& [cycles, mass] : d.masses())
      series.points.push_back({static_cast<double>(cycles), mass});
    bench_.found.series(std::move(series));
  }
  Bench& bench_;
  std::uint64_t out_;
  std::span<const ThesisShape> shapes_;
  std::map<std::pair<ThesisShape, unsigned>, Histogram> clocks_;
};

std::uint32_t most_threads(const Bench& bench) {
  return std::min(bench.board.facts().max_threads_per_block, 1024u);
}

// Block sizes of 32 to 1024 in steps of 32, of 1, as many as SMs, and twice as many blocks; quick: every
// eighth size.
std::vector<ThesisShape> arithmetic_shapes(const Bench& bench) {
  std::vector<ThesisShape> out;
  const std::uint32_t sms = bench.board.facts().sms;
  for (const std::uint32_t blocks : {1u, sms, 2 * sms}) {
    if (!out.empty() && blocks == out.back().blocks) continue;
    for (std::uint32_t threads = 32; threads <= most_threads(bench);
         threads += bench.options.quick && threads >= 256 ? 256
                    : bench.options.quick                 ? 224
                                                          : 32)
      out.push_back({blocks, threads});
  }
  return out;
}

Subject timed_operations(const ThesisOperation& op, unsigned n) {
  double result = 0;
  for (unsigned i = 0; i < n; ++i) result += op.value(operand_a + static_cast<float>(i), operand_b);
  return {fmt::format("{}.{}", op.name, n), operations_kernel(op, n), result, 50};
}

// No probe of a device needs it.
const Operation subtraction{"sub.f32", device::OpClass::count_, Register::f32, "sub.f32 X, X, Y;", 1, 0};

void arithmetic(Bench& bench, Corrected& measure, std::uint64_t out) {
  const std::vector<ThesisShape> shapes = arithmetic_shapes(bench);
  Spread clock;
  for (const ThesisShape& shape : shapes) {
    const Histogram& cost = measure.clock(shape, 1, 50);
    clock.add(Distribution(cost), cost.count(), cost);
  }
  report(bench, "thesis.clock", clock,
         fmt::format("two readings of the clock, each copied; mean of {} shapes of launches", shapes.size()));
  for (const ThesisOperation& op : thesis_operations) {
    Series curve{fmt::format("thesis.{}", op.name), "operations", "cycles", {}, {}};
    for (unsigned n = 1; n <= thesis_most; ++n) {
      const Subject timed = timed_operations(op, n);
      Spread spread;
      for (const ThesisShape& shape : shapes) {
        const Sampled i = measure(timed, shape, 0);
        spread.add(i.latency, i.measured.count(), i.measured);
      }
      if (n == thesis_most) measure.histograms(timed, op.name, 0);
      bench.forget(timed.kernel.text);
      report(bench, fmt::format("thesis.{}.{}", op.name, n), spread,
             fmt::format("one interval around {} independent operations less the clock's cost by difference, "
                         "a value a warp; mean of {} shapes of launches",
                         n, shapes.size()),
             curve.name);
      curve.points.push_back({static_cast<double>(n), spread.value()});
    }
    bench.found.series(std::move(curve));
    // Beside it: the slope of dependent chains, one warp.
    const Operation* const known = find_operation(op.chain);
    const Operation& chain = known != nullptr ? *known : subtraction;
    constexpr unsigned steps = 32;
    const std::string text = chain_kernels(chain, 1, steps, bench.board.facts());
    const Estimate e = estimate(sample([&] {
      std::vector<Chain> chains;
      for (const unsigned factor : {1u, 2u, 4u})
        chains.push_back({static_cast<double>(steps * factor * chain.per_step),
                          chain_cycles(bench, chain, text, factor, 1, 1, out)});
      return slope_of(chains).latency;
    }));
    bench.forget(text);
    bench.found.measured(fmt::format("slope.{}", op.name), e, "cycles",
                         fmt::format("slope of dependent chains of {} to {} operations, one warp",
                                     steps * chain.per_step, 4 * steps * chain.per_step));
  }
}

// Loads that reach DRAM in the last launch, where counters say; else whether the threads' lines are more than
// L2.
bool reaches_memory(Bench& bench, std::uint64_t bytes) {
  if (const auto misses = bench.board.counters().get("l2.read.misses")) return *misses >= 20;
  return bytes > bench.board.facts().l2_bytes.value_or(0);
}

Subject timed_loads(const char* name, ThesisKernel kernel) {
  return {name, std::move(kernel), 3 * double{operand_a}, 100};
}

// Three loads past L1, of 1 to twice as many blocks as SMs. The launch with the most threads that does not
// reach memory gives the boundary: its largest value. What is not above it is L2's, of every launch; what is
// above it is memory's, through which goes a line over the number of threads (6.3.1, equation 7.1).
class Global {
 public:
  Global(Bench& bench, Corrected& measure, Subject timed, std::uint64_t data, std::uint64_t bytes_per_thread)
      : bench_(bench), measure_(measure), timed_(std::move(timed)), data_(data), bytes_(bytes_per_thread) {}

  void sweep() {
    const std::uint32_t sms = bench_.board.facts().sms, most = most_threads(bench_);
    for (std::uint32_t blocks = 1; blocks <= 2 * sms;
         blocks += bench_.options.quick ? std::max(1u, sms / 4) : 1)
      for (std::uint32_t threads = 128; threads <= most; threads += bench_.options.quick ? 256 : 128)
        static_cast<void>(at({blocks, threads}));
  }
  const Subject& timed() const { return timed_; }
  std::uint64_t data() const { return data_; }

  // The least that L2 takes in a launch of this shape.
  std::int64_t least(const ThesisShape& shape) { return at(shape).interval.latency.masses().front().first; }

  // What the sweep says: prefix + "l2" and so on; true: some of it is memory's.
  bool report_as(const std::string& prefix, const std::string& what) {
    Series curve{prefix + "loads", "threads", "cycles", {}, {}};
    const Seen* largest = nullptr;
    double last = 0;
    for (const auto& [shape, seen] : seen_) {
      const double threads = static_cast<double>(shape.blocks) * shape.threads;
      curve.points.push_back({threads, seen.interval.latency.mean()});
      if (!seen.memory && (largest == nullptr || threads > last)) largest = &seen, last = threads;
    }
    std::ranges::stable_sort(curve.points, {}, &Series::Point::x);
    bench_.found.exact(prefix + "l2.threads", last, "",
                       "most threads of a launch that does not reach memory; " + what, seen_.size());
    const std::string name = curve.name;
    bench_.found.series(std::move(curve));
    if (largest == nullptr) {
      bench_.found.unknown(prefix + "l2", "every launch reaches memory");
      return false;
    }
    const std::int64_t boundary = largest->interval.latency.masses().back().first;
    Spread near;
    for (const auto& [shape, seen] : seen_) {
      if (const auto part =
              between(seen.interval.latency, std::numeric_limits<std::int64_t>::min(), boundary))
        near.add(*part, seen.interval.measured.count(), seen.memory ? Histogram() : seen.interval.measured);
      double share = 0;
      const auto above =
          between(seen.interval.latency, boundary + 1, std::numeric_limits<std::int64_t>::max(), &share);
      if (above && seen.memory)
        beyond_.push_back({static_cast<double>(shape.blocks) * shape.threads, above->mean()});
    }
    bench_.found.exact(prefix + "l2.boundary", static_cast<double>(boundary), "cycles",
                       fmt::format("largest value of the launch of {:.0f} threads", last), 1);
    report(bench_, prefix + "l2", near,
           fmt::format("what is not above the boundary, of {} launches of three loads past L1; {}",
                       near.shapes, what),
           name);
    return !beyond_.empty();
  }

  void line() {
    const std::string curve = "thesis.memory";
    const bool one_size =
        std::ranges::adjacent_find(beyond_, std::ranges::not_equal_to{}, &Series::Point::x) == beyond_.end();
    if (beyond_.size() < 3 || one_size) {
      bench_.found.unknown("thesis.memory.slope",
                           fmt::format("{} launches have loads above the boundary", beyond_.size()));
      return;
    }
    std::vector<Chain> points;
    for (const Series::Point& p : beyond_) points.push_back({p.x, p.y});
    const Slope fit = slope_of(points);
    const std::string how = fmt::format(
        "least squares through what is above the boundary in {} launches that reach memory, over their "
        "threads",
        beyond_.size());
    bench_.found.once("thesis.memory.slope", fit.latency, "cycles/thread", how, beyond_.size(), curve);
    bench_.found.once("thesis.memory.intercept", fit.overhead, "cycles", how, beyond_.size(), curve);
    bench_.found.once("thesis.memory.r2", fit.r2, "", how, beyond_.size(), curve);
    std::ranges::stable_sort(beyond_, {}, &Series::Point::x);
    bench_.found.series({curve, "threads", "cycles", beyond_, {}});
  }

 private:
  struct Seen {
    Sampled interval;
    bool memory = false;
  };
  const Seen& at(const ThesisShape& shape) {
    const auto known = seen_.find(shape);
    if (known != seen_.end()) return known->second;
    // Before: the counters are those of the last launch
    static_cast<void>(measure_.clock(shape, timed_.kernel.intervals, timed_.most));
    Seen seen{measure_(timed_, shape, data_), false};
    seen.memory = reaches_memory(bench_, bytes_ * shape.blocks * shape.threads);
    return seen_[shape] = std::move(seen);
  }
  Bench& bench_;
  Corrected& measure_;
  Subject timed_;
  std::uint64_t data_, bytes_;
  std::map<ThesisShape, Seen> seen_;
  std::vector<Series::Point> beyond_;
};

// Loads of local memory; L1's are those around the mode, as far up as the least that L2 takes in a launch of
// the same shape (6.3.2, figure 33).
void l1(Bench& bench, Corrected& measure, Global& global) {
  const Subject timed = timed_loads("local", local_kernel());
  const std::uint32_t sms = bench.board.facts().sms;
  const std::uint32_t step = bench.options.quick ? 256 : 128;
  for (const bool loaded : {false, true}) {
    Spread spread;
    Series curve{loaded ? "thesis.l1.loaded" : "thesis.l1", "threads", "cycles", {}, {}};
    std::size_t shapes = 0;
    const std::uint32_t first = loaded ? 2 * sms : bench.options.quick ? sms : 1;
    for (std::uint32_t blocks = first; blocks <= (loaded ? 2 * sms : sms); ++blocks)
      for (std::uint32_t threads = 128; threads <= most_threads(bench); threads += step, ++shapes) {
        const ThesisShape shape{blocks, threads};
        const Sampled i = measure(timed, shape, 0);
        const std::int64_t bound = global.least(shape) - 1;
        const auto piece = around_mode(i.latency, bound);
        if (!piece) continue;
        const std::int64_t mode = piece->mode;
        spread.add(*between(i.latency, mode - (bound - mode), bound), i.measured.count(), i.measured);
        curve.points.push_back({static_cast<double>(blocks) * threads, piece->mean});
      }
    if (spread.shapes == 0)
      bench.found.unknown(curve.name, "no launch has loads that are faster than L2's");
    else
      report(bench, curve.name, spread,
             fmt::format(
                 "loads of local memory around their mode and below L2's, {} on each SM; mean of {} of {} "
                 "shapes of launches",
                 loaded ? "2 blocks" : "1 block", spread.shapes, shapes),
             curve.name);
    std::ranges::stable_sort(curve.points, {}, &Series::Point::x);
    bench.found.series(std::move(curve));
  }
  measure.histograms(timed, "local", 0);
}

void memory(Bench& bench, Corrected& measure, std::uint64_t threads) {
  const Bench::Buffer data(bench, std::uint64_t{128} * threads);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());
  Global word(bench, measure, timed_loads("global", global_kernel()), data.address(), 0);
  word.sweep();
  l1(bench, measure, word);
  const bool reached = word.report_as("thesis.", "one word for all threads");
  measure.histograms(word.timed(), "global", word.data());
  Global lines(bench, measure, timed_loads("lines", lines_kernel()), data.address(), 128);
  lines.sweep();
  lines.report_as("thesis.lines.", "a line of 128 bytes for each thread");
  measure.histograms(lines.timed(), "global", lines.data());
  (reached ? word : lines).line();
}

}  // namespace

unsigned cores_of(int cc_major, int cc_minor) {
  switch (cc_major) {
    case 2: return cc_minor == 0 ? 32 : 48;
    case 3: return 192;
    case 5: return 128;
    case 6: return cc_minor == 0 ? 64 : 128;
    case 7: return 64;
    case 8: return cc_minor == 0 ? 64 : 128;
    case 9: return 128;
    default: return 0;
  }
}

Outcome run_thesis(Bench& bench, const Begun& begun, std::span<const ThesisShape> shapes) {
  const std::string beside[] = {"memory", "bandwidth"};
  Outcome outcome = run_probes(bench, beside, begun);
  if (outcome.interrupted || outcome.lost) return outcome;
  try {
    const gpu::BoardFacts& facts = bench.board.facts();
    std::uint64_t threads = std::uint64_t{2} * facts.sms * most_threads(bench);
    for (const ThesisShape& shape : shapes)
      threads = std::max(threads, std::uint64_t{shape.blocks} * shape.threads);
    for (const ThesisFigure& f : thesis_figures)
      threads = std::max(threads, std::uint64_t{f.shape.blocks} * f.shape.threads);
    // Three intervals of a thread and a result
    const Bench::Buffer out(bench, std::uint64_t{8} * 4 * threads);
    Corrected measure(bench, out.address(), shapes);
    arithmetic(bench, measure, out.address());
    memory(bench, measure, threads);
    thesis_copies(bench);
  } catch (const Error& error) {
    outcome.interrupted = error.code() == ExitCode::interrupted;
    outcome.lost = error.code() == ExitCode::unavailable;
    if (!outcome.interrupted) outcome.failed.push_back(std::string("thesis: ") + error.what());
  }
  return outcome;
}

}  // namespace simtlab::probe
