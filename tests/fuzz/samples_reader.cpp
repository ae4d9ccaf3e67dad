// Files of samples: any bytes give samples whose distribution can be found and parted, or an Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "probe/analysis/samples.h"

using namespace simtlab;

// More values take their time without telling anything new.
constexpr std::size_t most_processed = 256;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::vector<double> samples =
        probe::parse_samples(std::string_view(reinterpret_cast<const char*>(data), size), "times.txt");
    if (samples.empty()) __builtin_trap();
    for (const double v : samples)
      if (!(v >= 0) || !(v <= probe::largest_sample)) __builtin_trap();
    if (samples.size() > most_processed) return 0;
    for (const std::size_t warp : {std::size_t{1}, std::size_t{32}}) {
      const probe::Processed p = probe::process(samples, samples, warp, probe::Correction::difference);
      double share = 0;
      for (const probe::Piece& piece : probe::split_at(p.latency, std::vector<double>{0, 683})) {
        if (piece.first > piece.mode || piece.mode > piece.last || !(piece.deviation >= 0)) __builtin_trap();
        share += piece.share;
      }
      if (!(share > 0.999 && share < 1.001)) __builtin_trap();
      if (probe::boundaries_by(p.latency, std::vector<double>{2, 1, 0}).size() != 2) __builtin_trap();
      static_cast<void>(probe::around_mode(p.latency, 683));
    }
  } catch (const Error& e) { static_cast<void>(e.format()); }
  return 0;
}
