// Schedulers: with independent work for every warp a further warp costs nothing until every scheduler has
// one; the next one shares. Issue width: instructions of one warp in a cycle, of two kinds whose pipelines
// could take more than one together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "probe/chain.h"
#include "probe/kinds.h"
#include "probe/operation.h"

namespace simtlab::probe {
namespace {

constexpr unsigned most_warps = 17;

double cycles_a_step(Bench& bench, const Operation& op, unsigned warps, unsigned chains, unsigned steps,
                     std::uint64_t out) {
  const std::string text = chain_kernels(op, chains, steps, bench.board.facts());
  return (chain_cycles(bench, op, text, 2, warps, chains, out) -
          chain_cycles(bench, op, text, 1, warps, chains, out)) /
         steps;
}

constexpr unsigned readings = 25;

// Readings of the clock by one warp, with a little work of many kinds between them: independent and
// dependent, of several pipelines and of memory.
std::string readings_text() {
  std::string declared = fmt::format(".reg .b32 %c<{}>; .reg .f32 %x<8>; .reg .b32 %i<4>;", readings), begin,
              body, end;
  for (unsigned n = 0; n < 8; ++n)
    begin += fmt::format("add.f32 %x{}, %y, 0f{:08x};\n", n, 0x3f800000 + n * 0x10000),
        end += fmt::format("add.f32 %y, %y, %x{};\n", n);
  for (unsigned n = 0; n < readings; ++n) {
    body += fmt::format("mov.u32 %c{}, %clock;\n", n);
    for (unsigned i = 0; i < n % 6; ++i) body += fmt::format("fma.rn.f32 %x{0}, %x{0}, %y, %z;\n", i);
    for (unsigned i = 0; i < n % 4; ++i) body += "xor.b32 %i0, %i0, %i1;\n";
    if (n % 5 == 1)
      body += "ld.volatile.shared.u32 %r, [%r];\nld.volatile.shared.u32 %r, [%r];\nadd.u32 %i0, %i0, %r;\n";
    if (n % 5 == 2) body += "ex2.approx.f32 %x6, %x6;\nadd.f32 %x7, %x7, %x6;\n";
    if (n % 7 == 3) body += "popc.b32 %i2, %i0;\nadd.u32 %i1, %i1, %i2;\n";
    if (n % 7 == 4) body += "setp.eq.u32 %q, %i0, 12345;\n@%q bra END;\n";
    end += fmt::format("st.global.u32 [%o+{}], %c{};\n", 8 * n, n);
  }
  return fmt::format(R"(
.visible .entry readings(.param .u64 out, .param .f32 one, .param .f32 nothing)
{{
  .reg .pred %q; .reg .b32 %r; .reg .f32 %y, %z; .reg .b64 %o; .shared .align 4 .b32 cell; {}
  ld.param.u64 %o, [out]; ld.param.f32 %y, [one]; ld.param.f32 %z, [nothing]; mov.u32 %r, cell; st.shared.u32 [%r], %r; mov.b32 %i0, %z; mov.b32 %i1, %z;
  {}
  {}
  {}
  add.u32 %i0, %i0, %i1; cvt.rn.f32.u32 %z, %i0; add.f32 %y, %y, %z;
  st.global.f32 [%o+{}], %y;
END:
  ret;
}}
)",
                     declared, begin, body, end, 8 * readings);
}

// A scheduler at a part of the clock issues in every so-many-th cycle: whatever a warp does, it sees the
// clock at multiples of that.
void turns(Bench& bench) {
  const Bench::Buffer out(bench, 8 * (readings + 1));
  const auto function = bench.kernel(readings_text(), "readings");
  const gpu::Arguments arguments(out.address(), 1.0F, 0.0F);
  bench.board.fill(out.address(), std::byte{0}, out.bytes());
  bench.run(function, 1, 32, arguments, out.address(), 0);  // fetches the instructions
  const auto words = bench.run(function, 1, 32, arguments, out.address(), readings);
  std::uint32_t common = 0;
  for (unsigned n = 1; n < readings; ++n)
    common =
        std::gcd(common, static_cast<std::uint32_t>(words[n]) - static_cast<std::uint32_t>(words[n - 1]));
  const std::uint32_t turn = common & (~common + 1);
  if (turn == 0 || turn > 8)
    return bench.found.unknown(
        "sm.issue_turns", fmt::format("{} readings of the clock by one warp are multiples of {} cycles apart",
                                      readings, common));
  bench.found.exact("sm.issue_turns", turn, "",
                    fmt::format("{} readings of the clock by one warp, with different work between them, are "
                                "multiples of {} cycles apart",
                                readings, common),
                    readings);
}

void schedulers(Bench& bench, std::uint64_t out) {
  const Operation& op = *find_operation("fma.rn.f32");
  const unsigned chains = 40;
  const double alone = cycles_a_step(bench, op, 1, chains, 4, out),
               fewer = cycles_a_step(bench, op, 1, chains * 4 / 5, 4, out);
  if (std::abs(alone / fewer * 4 / 5 - 1) > 0.03) {
    bench.found.unknown(
        "sm.schedulers",
        fmt::format("{} independent chains of one warp do not saturate its scheduler", chains));
    return;
  }
  bench.found.once("issue.interval", alone / chains, "cycles",
                   fmt::format("a multiply-add of one warp with {} independent chains", chains), 2);
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
    bench.found.exact("sm.schedulers", result, "",
                      fmt::format("warps of {} independent chains that take no longer than one", chains),
                      curve.points.size());
  if (result != 0)
    curve.knees.push_back({static_cast<double>(result), static_cast<double>(result),
                           static_cast<double>(result) + 1, "schedulers"});
  bench.found.series(std::move(curve));
}

// Kinds of instructions (operation.h) and how many of each the pipelines take from one warp in a cycle.
struct Stage {
  char letter;
  double rate;
};

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
      if (const double behind = stages[i].rate / sum * (n + 1) - out.counts[i]; behind > most)
        most = behind, next = i;
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

// Instructions a cycle of one warp. What decides: above 1.05, a second one was issued in some cycle. At 1
// although the pipelines alone would let more through, and whatever of them are one would give another rate:
// none was.
void width(Bench& bench, std::uint64_t out) {
  const unsigned most_chains =
      bench.board.facts().registers_per_sm >= 65536 && bench.board.facts().cc_major > 2 ? 64 : 48;
  const double turn = bench.found.value_or("sm.issue_turns", 1);
  const auto rate_of = [&](const std::string& pattern, unsigned chains) {
    Operation op;
    op.name = "mix", op.kind = Register::b32, op.pattern = pattern;
    op.x = op.y = 0x3f800000, op.z = 0, op.identity = false;  // 1 and 0 as bits
    return turn * chains / cycles_a_step(bench, op, 1, chains, 4, out);
  };
  // What one warp gets of each by itself, in a turn of its scheduler.
  std::vector<Stage> stages;
  for (const char letter : {'f', 'l', 'i', 'p', 's'})
    stages.push_back({letter, rate_of(std::string(1, letter), most_chains)});
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
    bench.found.exact("sm.issue_width", std::ceil(best - 0.05), "",
                      fmt::format("one warp issued {:.3g} instructions a cycle", best));
  else if (limited)
    bench.found.exact(
        "sm.issue_width", 1, "",
        fmt::format("one warp issued one instruction a cycle where its pipelines would take more: {}", told));
  else
    bench.found.unknown(
        "sm.issue_width",
        tried == 0 ? "the pipelines of one scheduler take no more than one instruction a cycle together"
                   : fmt::format("{} mixtures reached {:.3g} instructions a cycle of one warp, which "
                                 "pipelines in common would explain as well",
                                 tried, best));
}

void probe_issue(Bench& bench) {
  const Bench::Buffer out(bench, 32 * 32);
  turns(bench);
  schedulers(bench, out.address());
  width(bench, out.address());
}

}  // namespace

extern constinit const Kind kind_issue{
    "issue", "Schedulers of an SM and instructions that one issues in a cycle", probe_issue, "device", 40};

}  // namespace simtlab::probe
