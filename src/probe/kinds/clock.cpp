// The clock: what reading it costs, and how fast it runs.
#include <fmt/format.h>

#include <cmath>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

// Readings one after another, each needed by the sum that is stored.
void cost(Bench& bench) {
  Timed t;
  t.setup = "mov.u64 %l1, 0;";
  t.body = [](unsigned) { return std::string("mov.u64 %l0, %clock64; add.u64 %l1, %l1, %l0;"); };
  t.finish = "mov.u64 %l15, %l1;";
  const Estimate e = estimate(sample([&] { return slope_of_timed(bench, t, {}); }));
  bench.found.measured("clock.cost", e, "cycles", "slope of readings, each added to a sum");
  bench.found.correct("clock.cost", "slope");
}

constexpr const char* spin = R"(
.visible .entry spin(.param .u64 out, .param .u64 cycles)
{
  .reg .pred %q; .reg .b64 %o, %n, %t0, %t1, %g0, %g1;
  ld.param.u64 %o, [out]; ld.param.u64 %n, [cycles];
  mov.u64 %g0, %globaltimer;
  mov.u64 %t0, %clock64;
  add.u64 %n, %n, %t0;
LOOP:
  mov.u64 %t1, %clock64;
  setp.lt.u64 %q, %t1, %n;
  @%q bra LOOP;
  mov.u64 %g1, %globaltimer;
  st.global.u64 [%o], %t0; st.global.u64 [%o+8], %t1; st.global.u64 [%o+16], %g0; st.global.u64 [%o+24], %g1;
  ret;
}
)";

// The timer of nanoseconds moves in steps of up to a microsecond on boards: two lengths, whose difference is
// long beside that.
void rate(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  if (!facts.simulated && facts.cc_major < 3)
    return bench.found.unknown("clock.rate", "no timer of nanoseconds before compute capability 3.0");
  const Bench::Buffer out(bench, 32);
  const auto function = bench.kernel(spin, "spin");
  const std::uint64_t length = facts.simulated ? 100'000 : 20'000'000;
  const auto once = [&](std::uint64_t cycles) {
    return bench.run(function, 1, 1, gpu::Arguments(out.address(), cycles), out.address(), 4);
  };
  const Estimate e = estimate(sample([&] {
    const auto w = once(length), v = once(2 * length);
    const double cycles = static_cast<double>(v[1] - v[0]) - static_cast<double>(w[1] - w[0]),
                 ns = static_cast<double>(v[3] - v[2]) - static_cast<double>(w[3] - w[2]);
    return ns > 0 ? cycles / ns * 1e9 : 0;
  }));
  bench.found.measured(
      "clock.rate", e, "Hz",
      fmt::format("clock against the timer of nanoseconds over {} and {} cycles", length, 2 * length));
  const auto told = bench.found.value("sm.clock");
  if (told && std::abs(e.value / *told - 1) < 0.005) return;
  bench.found.measured(
      "sm.clock", e, "Hz",
      told ? fmt::format("clock against the timer of nanoseconds; the driver says {:.4g} GHz", *told / 1e9)
           : "clock against the timer of nanoseconds");
}

void probe_clock(Bench& bench) {
  cost(bench);
  rate(bench);
}

}  // namespace

extern constinit const Kind kind_clock{
    "clock", "What reading the clock costs, and the clock's rate under load", probe_clock, "device", 20};

}  // namespace simtlab::probe
