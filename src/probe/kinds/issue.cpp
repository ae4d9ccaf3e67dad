// Schedulers: with independent work for every warp a further warp costs nothing until every scheduler has one; the next one shares. Issue width: instructions of one warp
// in a cycle, of two kinds whose pipelines could take more than one together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

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

void schedulers(Bench& bench, std::uint64_t out) {
  const Operation& op = *find_operation("fma.rn.f32");
  const unsigned chains = 40;
  const double alone = cycles_a_step(bench, op, 1, chains, 4, out), fewer = cycles_a_step(bench, op, 1, chains * 4 / 5, 4, out);
  if (std::abs(alone / fewer * 4 / 5 - 1) > 0.03) {
    bench.found.unknown("sm.schedulers", fmt::format("{} independent chains of one warp do not saturate its scheduler", chains));
    return;
  }
  bench.found.once("issue.interval", alone / chains, "cycles", fmt::format("a multiply-add of one warp with {} independent chains", chains), 2);
  bench.found.correct("issue.interval", "slope");
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
}

// Kinds of instructions (operation.h) and how many of each the pipelines take from one warp in a cycle.
struct Stage { char letter; double rate; };

// Instructions in the proportions of what their pipelines take, spread evenly over so many chains.
struct Mixture {
  std::vector<Stage> stages;
  std::vector<unsigned> counts;
  std::string pattern;
};

Mixture mixture_of(const std::vector<Stage>& stages, unsigned chains) {
  Mixture out{stages, std::vector<unsigned>(stages.size()), ""};
  double sum = 0;
  for (const Stage& s : stages) sum += s.rate;
  for (unsigned n = 0; n < chains; ++n) {
    // The one that is furthest behind its share.
    std::size_t next = 0;
    double most = -1e9;
    for (std::size_t i = 0; i < stages.size(); ++i)
      if (const double behind = stages[i].rate / sum * (n + 1) - out.counts[i]; behind > most) most = behind, next = i;
    ++out.counts[next], out.pattern += stages[next].letter;
  }
  return out;
}

// Instructions a cycle if these stages were one pipeline: group[i] is the pipeline of stage i.
double rate_if(const Mixture& m, const std::vector<unsigned>& group) {
  double slowest = 0;
  for (unsigned g = 0; g < m.stages.size(); ++g) {
    double cycles = 0;
    for (std::size_t i = 0; i < m.stages.size(); ++i)
      if (group[i] == g) cycles += m.counts[i] / m.stages[i].rate;
    slowest = std::max(slowest, cycles);
  }
  return static_cast<double>(m.pattern.size()) / slowest;
}

// Whether the stages, shared in whatever way, would give about one instruction a cycle by themselves.
bool sharing_explains_one(const Mixture& m, std::vector<unsigned>& group, std::size_t at, unsigned used) {
  if (at == m.stages.size()) return std::abs(rate_if(m, group) - 1) < 0.05;
  for (unsigned g = 0; g <= used; ++g) {
    group[at] = g;
    if (sharing_explains_one(m, group, at + 1, std::max(used, g + 1))) return true;
  }
  return false;
}

// Instructions a cycle of one warp. What decides: above 1.05, a second one was issued in some cycle. At 1 although the pipelines alone would let more through, and whatever of them
// are one would give another rate: none was.
void width(Bench& bench, std::uint64_t out) {
  const unsigned most_chains = bench.board.facts().registers_per_sm >= 65536 && bench.board.facts().cc_major > 2 ? 64 : 48;
  const auto rate_of = [&](const std::string& pattern, unsigned chains) {
    Operation op;
    op.name = "mix", op.kind = Register::b32, op.pattern = pattern;
    op.x = op.y = 0x3f800000, op.z = 0, op.identity = false;   // 1 and 0 as bits
    return chains / cycles_a_step(bench, op, 1, chains, 4, out);
  };
  // What one warp gets of each by itself.
  std::vector<Stage> stages;
  for (const char letter : {'f', 'l', 'i', 'p', 's'}) stages.push_back({letter, rate_of(std::string(1, letter), most_chains)});
  double best = 0;
  for (const Stage& s : stages) best = std::max(best, s.rate);
  bool limited = false;
  unsigned tried = 0;
  std::string told;
  for (unsigned chosen = 1; chosen < 1u << stages.size() && best <= 1.05 && !limited; ++chosen) {
    std::vector<Stage> some;
    double sum = 0;
    for (std::size_t i = 0; i < stages.size(); ++i)
      if (chosen >> i & 1) some.push_back(stages[i]), sum += stages[i].rate;
    if (sum < 1.08) continue;
    const Mixture m = mixture_of(some, most_chains);
    std::vector<unsigned> group(some.size());
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = static_cast<unsigned>(i);
    const double apart = rate_if(m, group);
    if (apart < 1.06) continue;
    const double rate = rate_of(m.pattern, most_chains);
    ++tried;
    best = std::max(best, rate);
    // Where little more than one would go through, other things can keep it at one.
    told = fmt::format("{:.3g} of {}, which alone would allow {:.3g}", rate, m.pattern.substr(0, 16), apart);
    limited = apart > 1.25 && std::abs(rate - 1) < 0.02 && !sharing_explains_one(m, group, 0, 0);
    // With fewer chains it stays so, or their latency limits.
    limited = limited && std::abs(rate_of(m.pattern, most_chains * 7 / 8) - 1) < 0.02;
  }
  if (best > 1.05)
    bench.found.exact("sm.issue_width", std::ceil(best - 0.05), "", fmt::format("one warp issued {:.3g} instructions a cycle", best));
  else if (limited)
    bench.found.exact("sm.issue_width", 1, "", fmt::format("one warp issued one instruction a cycle where its pipelines would take more: {}", told));
  else
    bench.found.unknown("sm.issue_width", tried == 0 ? "the pipelines of one scheduler take no more than one instruction a cycle together"
                                                     : fmt::format("{} mixtures reached {:.3g} instructions a cycle of one warp, which pipelines in common would explain as well", tried, best));
}

void probe_issue(Bench& bench) {
  const Bench::Buffer out(bench, 32 * 32);
  schedulers(bench, out.address());
  width(bench, out.address());
}

}  // namespace

extern constinit const Kind kind_issue{"issue", "Schedulers of an SM and instructions that one issues in a cycle", probe_issue, "device", 40};

}  // namespace simtlab::probe
