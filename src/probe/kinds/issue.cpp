// Schedulers: with independent work for every warp a further warp costs nothing until every scheduler has one; the next one shares. Issue width: instructions of one warp
// in a cycle, of two kinds whose pipelines could take more than one together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probe/chain.h"
#include "probe/kinds.h"
#include "probe/operation.h"

namespace simtlab::probe {
namespace {

constexpr unsigned most_warps = 17;

double cycles_a_step(Bench& bench, const Operation& op, unsigned warps, unsigned chains, unsigned steps, std::uint64_t out) {
  const std::string text = chain_kernels(op, chains, steps, bench.board.facts());
  return (chain_cycles(bench, op, text, 2, warps, chains, out) - chain_cycles(bench, op, text, 1, warps, chains, out)) / steps;
}

unsigned schedulers(Bench& bench, std::uint64_t out) {
  const Operation& op = *find_operation("fma.rn.f32");
  const unsigned chains = 40;
  const double alone = cycles_a_step(bench, op, 1, chains, 4, out), fewer = cycles_a_step(bench, op, 1, chains * 4 / 5, 4, out);
  if (std::abs(alone / fewer * 4 / 5 - 1) > 0.03) {
    bench.found.unknown("sm.schedulers", fmt::format("{} independent chains of one warp do not saturate its scheduler", chains));
    return 0;
  }
  Series curve{"issue.warps", "warps", "cycles", {}, {}};
  unsigned result = 0;
  const unsigned most = std::min(most_warps, bench.board.facts().max_threads_per_block / 32);
  for (unsigned warps = 1; warps <= most; ++warps) {
    const double cycles = warps == 1 ? alone : cycles_a_step(bench, op, warps, chains, 4, out);
    curve.points.push_back({static_cast<double>(warps), cycles});
    if (warps > 1 && result == 0 && cycles > 1.2 * alone) result = warps - 1;
    if (result != 0 && warps > 2 * result) break;
  }
  if (result == 0)
    bench.found.unknown("sm.schedulers", fmt::format("{} warps take no longer than one", most));
  else
    bench.found.exact("sm.schedulers", result, "", fmt::format("warps of {} independent chains that take no longer than one", chains), curve.points.size());
  if (result != 0) curve.knees.push_back({static_cast<double>(result), static_cast<double>(result), static_cast<double>(result) + 1, "schedulers"});
  bench.found.series(std::move(curve));
  return result;
}

// fma in all chains but every n-th, which do `partner`. The operands of fma are 1 and 0 as bits.
Operation mixed(std::string_view partner, unsigned every) {
  Operation op;
  op.name = "mix", op.kind = Register::b32;
  op.step = "fma.rn.f32 X, X, Y, Z;", op.other = partner, op.every = every;
  op.x = op.y = 0x3f800000, op.z = 0, op.identity = false;
  return op;
}

// Instructions a cycle of one warp. What decides: above 1.05, a second one was issued in some cycle. At 1 although the pipelines alone would let more
// through, whether they share units or not, and it is neither of the rates that this explains: none was.
void width(Bench& bench, unsigned schedulers, std::uint64_t out) {
  struct Partner { const char* step; const char* rate; };
  constexpr Partner partners[] = {{"max.s32 X, X, Z;", "throughput.int_alu"}, {"rsqrt.approx.ftz.f32 X, X;", "throughput.sfu"}, {"popc.b32 X, X;", "throughput.bit"}};
  const double fma = bench.found.value_or("throughput.fp32", 0) / 32 / schedulers;
  double best = 0;
  bool limited = false;
  const auto rate_of = [&](const Operation& op, unsigned chains) { return chains / cycles_a_step(bench, op, 1, chains, 4, out); };
  if (fma > 0) {
    best = rate_of(*find_operation("fma.rn.f32"), 32);
    limited = fma > 1.25 && std::abs(best - 1) < 0.02;
  }
  for (const Partner& partner : partners) {
    const double other = bench.found.value_or(partner.rate, 0) / 32 / schedulers;
    for (const unsigned every : {2u, 3u, 5u, 9u}) {
      if (best > 1.05 || limited || fma <= 0 || other <= 0) break;
      const double share = 1.0 / every, apart = std::min(fma / (1 - share), other / share), together = 1 / ((1 - share) / fma + share / other);
      if (apart < 1.06) continue;
      const bool telling = apart > 1.25;   // where little more than one would go through, other things can keep it at one
      const double rate = rate_of(mixed(partner.step, every), 4 * every > 32 ? 3 * every : 32 / every * every);
      best = std::max(best, rate);
      limited = limited || (telling && std::abs(rate - 1) < 0.02 && std::abs(together - 1) > 0.05);
    }
  }
  // Three kinds where two are not enough: nine multiply-adds, nine comparisons and two roots of twenty.
  const double integer = bench.found.value_or("throughput.int_alu", 0) / 32 / schedulers, root = bench.found.value_or("throughput.sfu", 0) / 32 / schedulers;
  if (best <= 1.05 && !limited && fma > 0 && integer > 0 && root > 0 && std::min({fma / 0.45, integer / 0.45, root / 0.1}) >= 1.06) {
    Operation op = mixed("", 0);
    op.pattern = "fifififififififififs";
    const double rate = rate_of(op, 40);
    best = std::max(best, rate);
    limited = std::min({fma / 0.45, integer / 0.45, root / 0.1}) > 1.25 && std::abs(rate - 1) < 0.02 && std::abs(1 / (0.45 / fma + 0.45 / integer + 0.1 / root) - 1) > 0.05;
  }
  if (best > 1.05)
    bench.found.exact("sm.issue_width", std::ceil(best - 0.05), "", fmt::format("one warp issued {:.3g} instructions a cycle", best));
  else if (limited)
    bench.found.exact("sm.issue_width", 1, "", "one warp issued one instruction a cycle where its pipelines would take more");
  else
    bench.found.unknown("sm.issue_width", "the pipelines of one scheduler take no more than one instruction a cycle together");
}

void probe_issue(Bench& bench) {
  const Bench::Buffer out(bench, 32 * 32);
  if (const unsigned count = schedulers(bench, out.address()); count != 0)
    width(bench, count, out.address());
  else
    bench.found.unknown("sm.issue_width", "the number of schedulers is not known");
}

}  // namespace

extern constinit const Kind kind_issue{"issue", "Schedulers of an SM and instructions that one issues in a cycle", probe_issue, "arithmetic", 40};

}  // namespace simtlab::probe
