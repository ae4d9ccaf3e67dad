// Measured curves: any bytes give a curve that can be analysed, or an Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "probe/analysis/curve.h"
#include "probe/analysis/levels.h"

using namespace simtlab;

// Analysing thousands of points takes its time without telling anything new.
constexpr std::size_t most_analysed = 64;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const probe::Curve curve =
        probe::parse_curve(std::string_view(reinterpret_cast<const char*>(data), size), "input.csv");
    double last = 0;
    for (const probe::CurvePoint& p : curve) {
      if (!(p.bytes > last) || !(p.cycles > 0) || !(p.weight > 0)) __builtin_trap();
      last = p.bytes;
    }
    if (curve.size() > most_analysed) return 0;
    const probe::Levels levels =
        probe::find_levels(curve, {.change = {.permutations = 19}, .replicates = 20});
    if (levels.boundaries.size() + 1 != levels.plateaus.size() && !levels.plateaus.empty()) __builtin_trap();
    for (const probe::Boundary& b : levels.boundaries)
      if (!(b.before < b.behind) || !(b.interval.low <= b.interval.high)) __builtin_trap();
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
