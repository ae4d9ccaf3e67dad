#include "probe/timed.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/analysis/timer.h"
#include "probe/operation.h"
#include "probe/window.h"

namespace simtlab::probe {

namespace {

constexpr const char* prologue =
    ".reg .b32 %r<16>, %lane, %thread, %warp, %pass, %u, %t, %w; .reg .b64 %l<16>, %a, %b, %c, %t0, %t1, %o, "
    "%v, %n; .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .pred %p<8>, %q;\n"
    "ld.param.u64 %a, [pa];\nld.param.u64 %b, [pb];\nld.param.u64 %c, [pc];\nmov.u32 %thread, "
    "%tid.x;\nand.b32 %lane, %thread, 31;\nshr.u32 %warp, %thread, 5;\nmov.u64 %l15, 0;\n";

// What each warp leaves: its two readings, %l15, the multiprocessor.
constexpr const char* epilogue =
    "\nsetp.ne.u32 %q, %lane, 0;\n@%q bra DONE;\nmov.u32 %u, %ctaid.x;\nmov.u32 %pass, %ntid.x;\nadd.u32 "
    "%pass, %pass, 31;\nshr.u32 %pass, %pass, 5;\nmad.lo.u32 %u, %u, %pass, %warp;\n"
    "mul.wide.u32 %v, %u, 32;\nld.param.u64 %o, [out];\nadd.u64 %o, %o, %v;\nst.global.u64 [%o], "
    "%t0;\nst.global.u64 [%o+8], %t1;\nst.global.u64 [%o+16], %l15;\n"
    "mov.u32 %u, %smid;\ncvt.u64.u32 %v, %u;\nst.global.u64 [%o+24], %v;\nDONE:\nret;\n}\n";

constexpr std::uint32_t single_passes = 34, first_passes = 2;  // the first ones fetch instructions and data
constexpr std::uint64_t never = 0x5555555555555555;            // no result

// singles_N: N repetitions in each interval. Each reading of the clock is waited for before what follows
// begins, and the result before the second one; intervals are kept in shared memory, whose stores nothing
// waits for.
std::string singles_text(const Timed& t, std::uint32_t warps) {
  // What the operation begins with is ready, and no pipeline is busy.
  const std::string tie = t.tie.empty() ? "setp.eq.u64 %q, %v, 1;\n@%q bra DONE;" : t.tie;
  std::string out = t.declarations + fmt::format(".shared .align 4 .b32 kept[{}];\n", warps * single_passes);
  for (const unsigned n : {0u, 1u}) {
    out += fmt::format(
               ".visible .entry singles_{}(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc, "
               ".param .u64 zero)\n{{\n.reg .b32 %at, %took; .reg .b64 %zero;\n",
               n) +
           prologue;
    out += fmt::format(
        "ld.param.u64 %zero, [zero];\nmov.u32 %at, kept;\nmul.lo.u32 %took, %warp, {};\nadd.u32 %at, %at, "
        "%took;\n",
        4 * single_passes);
    out += t.setup +
           fmt::format("\nmov.u32 %pass, {};\nmov.u64 %t0, %clock64;\nmov.u64 %t1, %t0;\nPASS:\n",
                       single_passes) +
           rest_text + (t.barrier ? "bar.sync 0;\n" : "");
    out += "mov.u64 %t0, %clock64;\nsetp.eq.u64 %q, %t0, 1;\n@%q bra DONE;\nand.b64 %v, %t0, %zero;\n" + tie +
           "\n" + (n == 0 ? "" : t.body(0) + "\n") + t.finish +
           fmt::format(
               "\nsetp.eq.u64 %q, %l15, {};\n@%q bra DONE;\nmov.u64 %t1, %clock64;\nsub.u64 %n, %t1, "
               "%t0;\ncvt.u32.u64 %took, %n;\nst.volatile.shared.u32 [%at], %took;\nadd.u32 %at, %at, 4;\n",
               never);
    out += "sub.u32 %pass, %pass, 1;\nsetp.ne.u32 %q, %pass, 0;\n@%q bra PASS;\nbar.sync 0;\n";
    // The first thread writes them out.
    out += fmt::format(
        "setp.ne.u32 %q, %thread, 0;\n@%q bra DONE;\nmov.u32 %at, kept;\nmov.u32 %pass, {};\nld.param.u64 "
        "%o, [out];\nOUT:\nld.volatile.shared.u32 %took, [%at];\ncvt.u64.u32 %v, %took;\n"
        "st.global.u64 [%o], %v;\nadd.u32 %at, %at, 4;\nadd.u64 %o, %o, 8;\nsub.u32 %pass, %pass, "
        "1;\nsetp.ne.u32 %q, %pass, 0;\n@%q bra OUT;\nDONE:\nret;\n}}\n",
        warps * single_passes);
  }
  return out;
}

}  // namespace

std::string timed_text(const Timed& t) {
  std::string out = t.declarations;
  for (const unsigned factor : {1u, 2u, 4u}) {
    out +=
        fmt::format(
            ".visible .entry timed_{}(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{{\n",
            factor) +
        prologue;
    out += t.setup + "\nmov.u32 %pass, 2;\nPASS:\n" + (t.barrier ? "bar.sync 0;\n" : "") +
           "mov.u64 %t0, %clock64;\n";
    for (unsigned n = 0; n < t.repetitions * factor; ++n) out += t.body(n) + "\n";
    out += "mov.u64 %t1, %clock64;\nsub.u32 %pass, %pass, 1;\nsetp.ne.u32 %q, %pass, 0;\n@%q bra PASS;\n" +
           t.finish + epilogue;
  }
  return out;
}

double rate_of_timed(Bench& bench, const Timed& t, const TimedRun& run, std::uint64_t cycles) {
  std::string body;
  for (unsigned n = 0; n < t.repetitions; ++n) body += t.body(n) + "\n";
  const std::string text = t.declarations +
                           ".visible .entry window(.param .u64 out, .param .u64 pa, .param .u64 pb, .param "
                           ".u64 pc, .param .u64 cycles)\n{\n" +
                           prologue + t.setup + "\n" + window_text(body, t.finish + "\n", "%l15", run.where);
  Window window;
  window.warps = (run.threads + 31) / 32, window.blocks = run.blocks, window.cycles = cycles,
  window.shared_bytes = run.shared_bytes, window.where = run.where;
  const auto function = bench.kernel(text, "window");
  // Blocks that come when others have ended would count with them.
  if (run.where == Where::everywhere)
    window.blocks =
        std::clamp(bench.board.blocks_per_sm(function, run.threads, run.shared_bytes), 1u, run.blocks);
  return t.repetitions * rate_in_window(bench, function, window, [&](std::uint64_t out) {
           return gpu::Arguments(out, run.a, run.b, run.c);
         });
}

std::vector<TimedWarp> run_timed(Bench& bench, const std::string& text, unsigned factor,
                                 const TimedRun& run) {
  const std::size_t warps = std::size_t{run.blocks} * ((run.threads + 31) / 32);
  const Bench::Buffer out(bench, 32 * warps);
  const auto function = bench.kernel(text, fmt::format("timed_{}", factor));
  const auto words =
      bench.run(function, run.blocks, run.threads, gpu::Arguments(out.address(), run.a, run.b, run.c),
                out.address(), 4 * warps, run.shared_bytes);
  std::vector<TimedWarp> result(warps);
  for (std::size_t i = 0; i < warps; ++i)
    result[i] = {words[4 * i], words[4 * i + 1], words[4 * i + 2],
                 static_cast<std::uint32_t>(words[4 * i + 3])};
  return result;
}

double span_of(const std::vector<TimedWarp>& warps) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (const TimedWarp& w : warps) begin = std::min(begin, w.begin), end = std::max(end, w.end);
  return static_cast<double>(end - begin);
}

Singles singles_of_timed(Bench& bench, const Timed& timed, const TimedRun& run) {
  const std::uint32_t warps = (run.threads + 31) / 32;
  const std::string text = singles_text(timed, warps);
  const Bench::Buffer out(bench, std::uint64_t{8} * warps * single_passes);
  Singles result;
  for (const unsigned n : {0u, 1u}) {
    const auto words = bench.run(bench.kernel(text, fmt::format("singles_{}", n)), 1, run.threads,
                                 gpu::Arguments(out.address(), run.a, run.b, run.c, std::uint64_t{0}),
                                 out.address(), std::size_t{warps} * single_passes, run.shared_bytes);
    for (std::size_t pass = first_passes; pass < single_passes; ++pass) {
      std::uint64_t least = words[pass];
      for (std::uint32_t w = 1; w < warps; ++w) least = std::min(least, words[w * single_passes + pass]);
      (n == 0 ? result.empty : result.timed).add(static_cast<double>(least));
    }
  }
  return result;
}

double slope_of_timed(Bench& bench, const Timed& timed, const TimedRun& run) {
  const std::string text = timed_text(timed);
  std::vector<Chain> chains;
  for (const unsigned factor : {1u, 2u, 4u})
    chains.push_back(
        {static_cast<double>(timed.repetitions * factor), span_of(run_timed(bench, text, factor, run))});
  return slope_of(chains).latency;
}

}  // namespace simtlab::probe
