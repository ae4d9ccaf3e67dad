#include "probe/thesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "probe/analysis/histogram.h"
#include "probe/analysis/sampling.h"
#include "probe/analysis/timer.h"
#include "probe/chain.h"
#include "probe/operation.h"

namespace simtlab::probe {
namespace {

std::string with(std::string text, char letter, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(letter, at)) != std::string::npos; at += by.size())
    text.replace(at, 1, by);
  return text;
}

// Every thread leaves the interval between two readings of the clock, of the second pass: the first fetches
// the instructions. What is timed begins behind the first reading by its place alone. Each result is stored
// before the second reading, as code does that is compiled without optimisation: the reading waits for it,
// and for nothing else.
std::string interval_kernel(const std::string& setup, const std::string& timed) {
  return ".visible .entry interval(.param .u64 out, .param .u64 data, .param .u32 pa, .param .u32 "
         "pb)\n{\n.local .align 8 .b8 kept[64];\n"
         ".reg .pred %q; .reg .b32 %a<8>, %x<8>, %b, %t, %n, %pass; .reg .b64 %o, %p, %v, %t0, %t1;\n"
         "ld.param.u64 %o, [out]; ld.param.u64 %p, [data]; ld.param.u32 %t, [pa]; ld.param.u32 %b, [pb];\n" +
         [] {
           std::string text;
           for (unsigned i = 0; i < thesis_most; ++i) text += fmt::format("add.s32 %a{}, %t, {};\n", i, i);
           return text;
         }() +
         "mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %pass, %ctaid.x; mad.lo.u32 %t, %pass, %n, %t; "
         "mul.wide.u32 %v, %t, 8; add.u64 %o, %o, %v;\n" +
         setup + "mov.u32 %pass, 2;\nPASS:\nbar.sync 0;\nmov.u64 %t0, %clock64;\n" + timed +
         "mov.u64 %t1, %clock64;\nsub.u32 %pass, %pass, 1;\nsetp.ne.u32 %q, %pass, 0;\n@%q bra "
         "PASS;\nsub.u64 %v, %t1, %t0;\nst.global.u64 [%o], %v;\nret;\n}\n";
}

std::string operations_kernel(const ThesisOperation& operation, unsigned n) {
  std::string timed;
  for (unsigned i = 0; i < n; ++i)
    timed += with(with(with(std::string(operation.step), 'X', fmt::format("%x{}", i)), 'A',
                       fmt::format("%a{}", i)),
                  'B', "%b") +
             "\n";
  for (unsigned i = 0; i < n; ++i) timed += fmt::format("st.local.u32 [kept+{}], %x{};\n", 4 * i, i);
  return interval_kernel("", timed);
}

struct Shape {
  std::uint32_t blocks, threads;
};

// One value a warp, of so many repetitions as it takes until nothing new comes.
Histogram intervals(Bench& bench, const std::string& text, const Shape& shape, std::uint64_t data,
                    std::uint64_t out) {
  const auto function = bench.kernel(text, "interval");
  Histogram all, last;
  const unsigned most = bench.options.quick ? 2 : 50;
  for (unsigned i = 0; i < most; ++i) {
    const auto words = bench.run(function, shape.blocks, shape.threads, gpu::Arguments(out, data, 7u, 3u),
                                 out, std::size_t{shape.blocks} * shape.threads);
    const std::vector<double> values(words.begin(), words.end());
    const Histogram once(one_per_warp(values, bench.board.facts().warp_size));
    for (const Histogram::Bin& bin : once.bins()) all.add(bin.value, bin.count);
    if (i == 1 && once == last) break;
    last = once;
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

// Intervals of one launch's shape with the clock's cost, of the same shape, taken out.
class Corrected {
 public:
  Corrected(Bench& bench, std::uint64_t out) : bench_(bench), out_(out), empty_(interval_kernel("", "")) {}

  Distribution operator()(const std::string& text, const Shape& shape, std::uint64_t data,
                          std::uint64_t& samples) {
    last_ = intervals(bench_, text, shape, data, out_);
    samples = last_.count();
    return corrected(Correction::difference, Distribution(last_), clock(shape));
  }
  const Histogram& last() const { return last_; }  // as measured
  const Distribution& clock(const Shape& shape) {
    const auto known = clocks_.find({shape.blocks, shape.threads});
    if (known != clocks_.end()) return known->second;
    return clocks_[{shape.blocks, shape.threads}] = Distribution(intervals(bench_, empty_, shape, 0, out_));
  }

 private:
  Bench& bench_;
  std::uint64_t out_;
  std::string empty_;
  Histogram last_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Distribution> clocks_;
};

std::uint32_t most_threads(const Bench& bench) {
  return std::min(bench.board.facts().max_threads_per_block, 1024u);
}

// Block sizes of 32 to 1024 in steps of 32, of 1, as many as SMs, and twice as many blocks; quick: every
// eighth size.
std::vector<Shape> arithmetic_shapes(const Bench& bench) {
  std::vector<Shape> out;
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

void arithmetic(Bench& bench, Corrected& measure, std::uint64_t out) {
  const std::vector<Shape> shapes = arithmetic_shapes(bench);
  Spread clock;
  for (const Shape& shape : shapes) clock.add(measure.clock(shape), 1);
  report(bench, "thesis.clock", clock,
         fmt::format("two readings of the clock, mean of {} shapes of launches", shapes.size()));
  for (const ThesisOperation& op : thesis_operations) {
    Series curve{fmt::format("thesis.{}", op.name), "operations", "cycles", {}, {}};
    for (unsigned n = 1; n <= thesis_most; ++n) {
      const std::string text = operations_kernel(op, n);
      Spread spread;
      std::uint64_t samples = 0;
      for (const Shape& shape : shapes) {
        const Distribution d = measure(text, shape, 0, samples);
        spread.add(d, samples, measure.last());
      }
      bench.forget(text);
      report(bench, fmt::format("thesis.{}.{}", op.name, n), spread,
             fmt::format("one interval around {} independent operations less the clock's cost by difference, "
                         "a value a warp; mean of {} shapes of launches",
                         n, shapes.size()),
             curve.name);
      curve.points.push_back({static_cast<double>(n), spread.value()});
    }
    bench.found.series(std::move(curve));
    // Beside it: the slope of dependent chains, one warp. A step may be of two operations.
    const Operation& chain = *find_operation(op.chain);
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

// A load of the thread's own word of local memory, which L1 holds.
void l1(Bench& bench, Corrected& measure) {
  const std::string text = interval_kernel("st.local.u32 [kept], %b;\n",
                                           "ld.local.u32 %x0, [kept];\nst.local.u32 [kept+32], %x0;\n");
  const std::uint32_t sms = bench.board.facts().sms;
  for (const std::uint32_t per_sm : {1u, 2u}) {
    Spread spread;
    Series curve{per_sm == 1 ? "thesis.l1" : "thesis.l1.loaded", "threads", "cycles", {}, {}};
    std::uint64_t samples = 0;
    for (std::uint32_t threads = 128; threads <= most_threads(bench);
         threads += bench.options.quick ? 256 : 128) {
      const Distribution d = measure(text, {per_sm * sms, threads}, 0, samples);
      spread.add(d, samples, measure.last());
      curve.points.push_back({static_cast<double>(threads), d.mean()});
    }
    report(bench, curve.name, spread,
           fmt::format("one interval around a load of local memory that was read before, {} block{} on each "
                       "SM; mean over block sizes",
                       per_sm, per_sm == 1 ? "" : "s"),
           curve.name);
    bench.found.series(std::move(curve));
  }
}

// Loads that reach DRAM in the last launch, where counters say; else whether the threads' lines are more than
// L2.
bool reaches_memory(Bench& bench, std::uint64_t bytes) {
  if (const auto misses = bench.board.counters().get("l2.read.misses")) return *misses >= 20;
  return bytes > bench.board.facts().l2_bytes.value_or(0);
}

// Every thread reads its own line of 128 bytes twice. As long as the lines of all fit L2 the second time
// finds them there; beyond, memory. What lies below the boundary is L2's latency; a line through what lies
// above it, over the number of threads, is what the thesis gives as that of memory.
void l2_and_memory(Bench& bench, Corrected& measure) {
  const std::uint32_t sms = bench.board.facts().sms, most = most_threads(bench);
  const std::string text = interval_kernel("mul.wide.u32 %v, %t, 128; add.u64 %p, %p, %v;\n",
                                           "ld.global.cg.u32 %x0, [%p];\nst.local.u32 [kept+32], %x0;\n");
  const Bench::Buffer data(bench, std::uint64_t{128} * 2 * sms * most);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());
  Series curve{"thesis.memory", "threads", "cycles", {}, {}};
  std::vector<Series::Point> beyond;
  Spread near;
  double last = 0;
  std::uint64_t samples = 0;
  for (std::uint32_t blocks = 1; blocks <= 2 * sms; blocks += bench.options.quick ? std::max(1u, sms / 4) : 1)
    for (std::uint32_t threads = 128; threads <= most; threads += bench.options.quick ? 256 : 128) {
      // Before: the counters are those of the last launch
      static_cast<void>(measure.clock({blocks, threads}));
      const Distribution d = measure(text, {blocks, threads}, data.address(), samples);
      const Series::Point point{static_cast<double>(blocks) * threads, d.mean()};
      curve.points.push_back(point);
      if (reaches_memory(bench, std::uint64_t{128} * blocks * threads))
        beyond.push_back(point);
      else
        near.add(d, samples, measure.last()), last = std::max(last, point.x);
    }
  std::ranges::sort(curve.points, {}, &Series::Point::x);
  if (near.shapes == 0)
    bench.found.unknown("thesis.l2", "every launch reaches memory");
  else
    report(
        bench, "thesis.l2", near,
        "one interval around a load past L1 of what L2 holds, mean over the launches that don't reach memory",
        curve.name);
  bench.found.exact("thesis.l2.threads", last, "",
                    "most threads of a launch that does not reach memory; a line of 128 bytes each",
                    curve.points.size());
  const bool one_size =
      std::ranges::adjacent_find(beyond, std::ranges::not_equal_to{}, &Series::Point::x) == beyond.end();
  if (beyond.size() < 3 || one_size) {
    bench.found.unknown(
        "thesis.memory.slope",
        fmt::format("{} launches reach memory: L2 holds the lines of {} threads", beyond.size(), last));
  } else {
    const Slope line = slope_of(beyond);
    const std::string how =
        fmt::format("least squares through {} launches that reach memory, over their threads", beyond.size());
    bench.found.once("thesis.memory.slope", line.latency, "cycles/thread", how, beyond.size(), curve.name);
    bench.found.once("thesis.memory.intercept", line.overhead, "cycles", how, beyond.size(), curve.name);
    bench.found.once("thesis.memory.r2", line.r2, "", how, beyond.size(), curve.name);
  }
  bench.found.series(std::move(curve));
}

}  // namespace

Outcome run_thesis(Bench& bench, const Begun& begun) {
  const std::string beside[] = {"memory", "bandwidth"};
  Outcome outcome = run_probes(bench, beside, begun);
  if (outcome.interrupted || outcome.lost) return outcome;
  try {
    const Bench::Buffer out(bench, std::uint64_t{8} * 2 * bench.board.facts().sms * most_threads(bench));
    Corrected measure(bench, out.address());
    arithmetic(bench, measure, out.address());
    l1(bench, measure);
    l2_and_memory(bench, measure);
  } catch (const Error& error) {
    outcome.interrupted = error.code() == ExitCode::interrupted;
    outcome.lost = error.code() == ExitCode::unavailable;
    if (!outcome.interrupted) outcome.failed.push_back(std::string("thesis: ") + error.what());
  }
  return outcome;
}

}  // namespace simtlab::probe
