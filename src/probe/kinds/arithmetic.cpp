// Latency: one warp, one dependent chain of n, 2n, 4n steps; the slope. Throughput: one block on one SM,
// warps x independent chains; the slope again, so that neither the clock nor what surrounds the chains
// counts.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "probe/analysis/sampling.h"
#include "probe/analysis/timer.h"
#include "probe/chain.h"
#include "probe/interval.h"
#include "probe/kinds.h"
#include "probe/operation.h"
#include "probe/window.h"

namespace simtlab::probe {
namespace {

constexpr unsigned short_round = 640;

// What takes longer than this is a sub-routine: so few of them that their instructions stay in the first
// cache.
constexpr double sub_routine_cycles = 100;
unsigned steps_of_chain(double latency) { return latency > sub_routine_cycles ? 6 : 32; }
unsigned operations_of_round(double latency) { return latency > sub_routine_cycles ? 16 : 64; }
double latency_of(const Bench& bench, const Operation& op) {
  return bench.found.by_slope(fmt::format("op.{}.latency", op.name)).value_or(100);
}

struct Latency {
  double cycles = 0, residual = 0;
};

Latency chain_latency(Bench& bench, const Operation& op, unsigned steps, std::uint64_t out) {
  const std::string text = chain_kernels(op, 1, steps, bench.board.facts());
  std::vector<Chain> chains;
  for (const unsigned factor : {1u, 2u, 4u})
    chains.push_back({static_cast<double>(steps * factor * op.per_step),
                      chain_cycles(bench, op, text, factor, 1, 1, out)});
  const Slope slope = slope_of(chains);
  return {slope.latency, slope.residual};
}

// Intervals around one step, and around none, each after a rest.
Singles single_intervals(Bench& bench, const Operation& op) {
  const std::string text = single_kernels(op, bench.board.facts());
  const Bench::Buffer out(bench, 8 * (1 + single_steps));
  Singles s;
  s.operations = op.per_step;
  for (const unsigned n : {0u, 1u}) {
    const auto words = bench.run(bench.kernel(text, fmt::format("singles_{}", n)), 1, 32,
                                 chain_arguments(op, out.address()), out.address(), 1 + single_steps);
    if (!plausible(op, 1, std::bit_cast<double>(words[0])))
      throw Error(
          ExitCode::program_failed, "probe-result",
          fmt::format("{} in single intervals came out as {}", op.name, std::bit_cast<double>(words[0])),
          "the device (or simtlab) computes wrongly: please report it");
    // The first two fetch the instructions
    for (unsigned i = 2; i < single_steps; ++i)
      (n == 0 ? s.empty : s.timed).add(static_cast<double>(words[1 + i]));
  }
  bench.forget(text);
  return s;
}

void probe_latency(Bench& bench, const Operation& op, std::uint64_t out) {
  double residual = 0;
  const Singles single = single_intervals(bench, op);
  const double rested = (single.timed.median() - single.empty.median()) / op.per_step;
  const unsigned latency_steps = steps_of_chain(rested);
  const Histogram samples = sample([&] {
    const Latency l = chain_latency(bench, op, latency_steps, out);
    residual = std::max(residual, l.residual);
    return l.cycles;
  });
  Estimate e = estimate(samples);
  std::string method = fmt::format(
      "slope of dependent chains of {0} to {1} operations, one warp; chains are at most {2:.3g} cycles off "
      "the line",
      latency_steps * op.per_step, 4 * latency_steps * op.per_step, residual);
  bench.found.measured(fmt::format("op.{}.chain", op.name), e, "cycles", method);
  bench.found.correct(fmt::format("op.{}.chain", op.name), "slope");
  // A pipeline that takes a new instruction less often than its latency would let a chain give it one hides
  // the latency. A single one after a rest shows it: the line through intervals with one step and with none.
  if (rested > 0 && rested < e.value - 0.5) {
    method = fmt::format(
        "slope of intervals with one step and with none, each after a rest; in a chain one takes {:.4g} "
        "cycles, the interval of its pipeline",
        e.value);
    e.value = rested, e.interval = {rested, rested}, e.samples = single.timed.count(), e.histogram = {};
  }
  TimedLatency found{{fmt::format("op.{}.latency", op.name)},
                     e,
                     method,
                     fmt::format("{} operation{} of one warp", op.per_step == 1 ? "one" : "two dependent",
                                 op.per_step == 1 ? "" : "s")};
  if (op.op_class != device::OpClass::count_)
    found.keys.push_back(fmt::format("latency.{}", device::name_of(op.op_class))),
        found.method = fmt::format("{}: {}", op.name, method);
  report_latency(bench, found, [&] { return single; });
}

// Thread results per cycle of one SM, of chains that all end: what counts is when the last one does.
double throughput_of(Bench& bench, const Operation& op, unsigned warps, unsigned chains, std::uint64_t out) {
  const unsigned steps = std::max(1u, operations_of_round(latency_of(bench, op)) / (chains * op.per_step));
  const std::string text = chain_kernels(op, chains, steps, bench.board.facts());
  const double once = chain_cycles(bench, op, text, 1, warps, chains, out),
               twice = chain_cycles(bench, op, text, 2, warps, chains, out);
  const double operations = 32.0 * warps * chains * steps * op.per_step;
  return twice > once ? operations / (twice - once) : 0;
}

// The same of chains that go on until the time is over: schedulers that prefer some warps leave the others
// behind, and at the end of all of them these would be alone. Two windows: what begins and ends is the same
// in both. Fast operations come in so many chains that one warp has enough for its scheduler; slow ones,
// which are sub-routines that a warp does one after the other, from as many warps as a block has.
struct Load {
  unsigned warps, chains, steps, blocks;  // warps of a block
  std::uint64_t window;
};

// Steps of all chains a cycle, of all warps of one SM.
double window_rate(Bench& bench, const Operation& op, const Load& load) {
  const std::string text = window_kernel(op, load.chains, load.steps, bench.board.facts());
  const auto function = bench.kernel(text, "window");
  const double rate =
      rate_in_window(bench, function, {.warps = load.warps, .blocks = load.blocks, .cycles = load.window},
                     [&](std::uint64_t out) { return chain_arguments(op, out); });
  bench.forget(text);
  return rate * load.steps;
}

// Fewer warps, then fewer chains, until an SM holds the block with the registers that it takes. Steps grow as
// chains shrink.
void fit_registers(Bench& bench, const Operation& op, Load& load) {
  while (load.warps > 2 || load.chains > 4) {
    const std::string text = window_kernel(op, load.chains, load.steps, bench.board.facts());
    const bool fits = bench.board.blocks_per_sm(bench.kernel(text, "window"), 32 * load.warps, 0) != 0,
               alone = fits || bench.board.blocks_per_sm(bench.kernel(text, "window"), 32, 0) != 0;
    if (fits) return;
    bench.forget(text);
    if (alone && load.warps > 2)
      load.warps /= 2;
    else
      load.chains = std::max(1u, load.chains / 2), load.steps *= 2;
  }
}

double steady_throughput(Bench& bench, const Operation& op, const Load& load) {
  return 32.0 * load.chains * op.per_step * window_rate(bench, op, load);
}

struct Steady {
  Estimate rate;
  std::string method;
  bool saturated = true, settled = true;
};

// One of two ways: few warps with much independent work, or as many warps as an SM holds with a chain each.
// Whoever is limited by the latency alone has not reached the peak. The loop's own instructions are a
// hundredth of a round; a window is long beside a round.
Steady steady(Bench& bench, const Operation& op, double latency, std::uint64_t out) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const unsigned most = std::min(facts.max_threads_per_block, 1024u) / 32;
  const double rate_alone = throughput_of(bench, op, 1, 16, out);
  if (rate_alone <= 0) return {};
  // Cycles of an operation of a warp that has its scheduler to itself
  const double alone = 32.0 / rate_alone;
  const bool wide = op.kind == Register::b64 || op.kind == Register::f64;  // two registers each
  const unsigned chains = wide || latency > sub_routine_cycles ? 16 : 32;
  Load much{std::min(most, 16u), chains,
            std::max(1u, (alone < 4                      ? 2048
                          : alone < 16                   ? 512
                          : latency > sub_routine_cycles ? 16
                                                         : 128) /
                             (chains * op.per_step)),
            1, 0};
  fit_registers(bench, op, much);
  much.window =
      static_cast<std::uint64_t>(std::min(250'000.0, (alone < 4    ? 32
                                                      : alone < 16 ? 64
                                                                   : 256) *
                                                         alone * much.chains * much.steps * op.per_step));
  Load many{std::min(most, 8u), 1, std::max(1u, (latency > sub_routine_cycles ? 32 : 48) / op.per_step), 1,
            0};
  const std::string text = window_kernel(op, many.chains, many.steps, facts);
  many.blocks = std::max(1u, bench.board.blocks_per_sm(bench.kernel(text, "window"), 32 * many.warps, 0));
  const unsigned operations = latency < 200 ? 48 : 32;  // a window is long beside a round of so many
  const double round = alone * operations * many.warps * many.blocks / 4;
  many.window =
      static_cast<std::uint64_t>(std::max(std::min(latency < 200 ? 150'000.0 : 400'000.0, 8 * round),
                                          (bench.options.quick ? 14 : 24) * latency * operations));
  // Chains of one warp that go side by side, or whose pipeline is slower than they are, need no further
  // warps; those that do not are helped by warps alone. In between both are tried.
  const bool parallel = alone < 0.4 * latency || latency < 0.9 * alone,
             serial = !parallel && (latency > 100 || alone > 0.9 * latency);
  double first = serial ? 0 : steady_throughput(bench, op, much);
  // Of fast operations a long round makes little of what a loop costs, and a short one of what fetching costs
  // an instruction cache that the long one does not fit.
  if (Load fit = much; first > 0 && much.chains * much.steps * op.per_step > short_round) {
    fit.steps = std::max(1u, short_round / (fit.chains * op.per_step));
    if (const double more = steady_throughput(bench, op, fit); more > first) first = more, much = fit;
  }
  // A scheduler of two levels takes turns with whole groups of warps, and loses some: half of them may do
  // more.
  if (Load half = much; first > 0 && half.warps > 8) {
    half.warps /= 2;
    if (const double less = steady_throughput(bench, op, half); less > first) first = less, much = half;
  }
  double second = parallel ? 0 : steady_throughput(bench, op, many);
  // Long rounds again make little of the loop, and short ones of what fetching sub-routines takes.
  if (Load fit = many; second > 0 && latency > sub_routine_cycles) {
    fit.steps = std::max(1u, 12 / op.per_step);
    if (const double more = steady_throughput(bench, op, fit); more > second) second = more, many = fit;
  }
  const Load& best = first >= second ? much : many;
  Steady result;
  // In a window of twice the length it has to be the same, or in one of four times, and so on: where a
  // scheduler prefers one warp, the others have done an unknown part of their body.
  double rate = std::max(first, second);
  Load longer = best;
  for (unsigned again = 0; again < 4; ++again) {
    longer.window *= 2;
    const double next = steady_throughput(bench, op, longer);
    result.settled = std::abs(next - rate) <= 0.015 * next;
    rate = next;
    if (result.settled) break;
  }
  Histogram samples;
  samples.add(rate);
  result.rate = estimate(samples);
  const double bound = 32.0 * many.warps * many.blocks / latency;
  result.saturated = parallel || result.rate.value < 0.93 * bound;
  result.method = fmt::format(
      "operations of {} warps with {} chains each between {} and {} cycles after they began, on one SM",
      best.warps * best.blocks, best.chains, longer.window, 2 * longer.window);
  return result;
}

void probe_throughput(Bench& bench, const Operation& op, std::uint64_t out) {
  const unsigned most = std::min(bench.board.facts().max_threads_per_block, 1024u) / 32;
  Series curve;
  curve.name = fmt::format("op.{}.throughput", op.name), curve.x = "warps", curve.y = "/cycle";
  double peak = 0, alone = 0;
  std::vector<unsigned> warps;
  for (unsigned w = 1; w < most; w *= 2) warps.push_back(w);
  warps.push_back(most);
  for (const unsigned chains : {1u, 4u})
    for (const unsigned w : warps) {
      if (bench.options.quick) continue;
      const double rate = throughput_of(bench, op, w, chains, out);
      if (chains == 1) curve.points.push_back({static_cast<double>(w), rate});
      peak = std::max(peak, rate);
      if (chains == 1) alone = std::max(alone, rate);
    }
  const Steady best = steady(bench, op, latency_of(bench, op), out);
  const Estimate& e = best.rate;
  const std::string& method = best.method;
  if (!best.saturated || !best.settled || e.value <= 0) {
    const std::string why = !best.settled ? "it depends on how long one looks"
                                          : "all warps that an SM holds do not saturate it: each does one "
                                            "after the other, and that takes its latency";
    bench.found.unknown(fmt::format("op.{}.throughput", op.name), why);
    if (op.op_class != device::OpClass::count_)
      bench.found.unknown(fmt::format("throughput.{}", device::name_of(op.op_class)), why);
    return;
  }
  peak = std::max(peak, e.value);
  bench.found.measured(fmt::format("op.{}.throughput", op.name), e, "/cycle", method,
                       curve.points.empty() ? "" : curve.name);
  if (op.op_class != device::OpClass::count_)
    bench.found.measured(fmt::format("throughput.{}", device::name_of(op.op_class)), e, "/cycle",
                         fmt::format("{}: {}", op.name, method));
  if (!bench.options.quick) {
    // The fewest warps that reach the peak with one chain each: what a kernel without independent
    // instructions needs.
    if (alone >= 0.97 * peak)
      for (const Series::Point& p : curve.points)
        if (p.y >= 0.97 * peak) {
          bench.found.measured(
              fmt::format("op.{}.warps", op.name), p.x, "", {p.x / 2, p.x},
              "fewest warps, of powers of two, that reach 97 % of the peak with one chain each",
              curve.points.size(), curve.name);
          break;
        }
    bench.found.series(std::move(curve));
  }
}

}  // namespace

double chain_cycles(Bench& bench, const Operation& op, const std::string& text, unsigned factor,
                    unsigned warps, unsigned chains, std::uint64_t out) {
  const auto function = bench.kernel(text, fmt::format("chain_{}", factor));
  const std::vector<std::uint64_t> words =
      bench.run(function, 1, 32 * warps, chain_arguments(op, out), out, 4 * std::size_t{warps});
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (unsigned w = 0; w < warps; ++w) {
    begin = std::min(begin, words[4 * w]);
    end = std::max(end, words[4 * w + 1]);
    if (!plausible(op, chains, std::bit_cast<double>(words[4 * w + 2])))
      throw Error(
          ExitCode::program_failed, "probe-result",
          fmt::format("the chain of {} came out as {}", op.name, std::bit_cast<double>(words[4 * w + 2])),
          "the device (or simtlab) computes wrongly: please report it");
    if (words[4 * w + 3] != words[3])
      throw Error(ExitCode::program_failed, "probe-result",
                  "warps of one block report different multiprocessors", "please report it");
  }
  return static_cast<double>(end - begin);
}

namespace {

void probe_arithmetic(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const Bench::Buffer out(bench, 32 * 32);
  for (const Operation& op : operations()) {
    if (facts.cc_major * 10 + facts.cc_minor < op.least_cc) continue;
    if (bench.options.quick && op.op_class == device::OpClass::count_) continue;
    probe_latency(bench, op, out.address());
    probe_throughput(bench, op, out.address());
  }
}

}  // namespace

extern constinit const Kind kind_arithmetic{
    "arithmetic",
    "Latency and throughput of each operation, and the warps that the peak needs",
    probe_arithmetic,
    "device",
    30,
    true};

}  // namespace simtlab::probe
