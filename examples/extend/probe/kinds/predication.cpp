// What an instruction costs that no lane executes: a run of multiply-adds under a predicate that is false,
// beside the same under one that is true. They depend on each other, so with the predicate true each takes
// its latency; switched off, some devices only spend the issue slot.
#include <fmt/format.h>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

constexpr unsigned length = 8;  // instructions of a repetition

Estimate cycles(Bench& bench, bool on) {
  Timed t;
  // %a is a parameter: no compiler knows the predicate
  t.setup = "cvt.rn.f32.u64 %f0, %a; setp.eq.u64 %p0, %a, 1;\n";
  t.body = [](unsigned) {
    std::string out;
    for (unsigned i = 0; i < length; ++i) out += "@%p0 fma.rn.f32 %f0, %f0, %f0, %f0;\n";
    return out;
  };
  t.finish = "cvt.rzi.u64.f32 %l15, %f0;";
  TimedRun run;
  run.a = on ? 1 : 0;
  return estimate(sample([&] { return slope_of_timed(bench, t, run) / length; }));
}

void probe_predication(Bench& bench) {
  for (const bool on : {true, false}) {
    const Estimate e = cycles(bench, on);
    bench.found.measured(on ? "predication.on" : "predication.off", e.value, "cycles", e.interval,
                         "slope of dependent multiply-adds under a predicate", e.samples);
  }
}

}  // namespace

extern constinit const Kind kind_predication{"predication", "Cost of instructions whose predicate is false",
                                             probe_predication, "device"};

}  // namespace simtlab::probe
