#include "result/study.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simtlab::result {

double StudyFigure::spread() const {
  if (!differs()) return 0 * median;
  return median != 0 ? deviation / std::abs(median) : no_value;
}

StudyFigure figure_of(std::vector<double> repeats) {
  std::erase_if(repeats, [](double v) { return !std::isfinite(v); });
  StudyFigure out;
  if (repeats.empty()) return out;
  std::ranges::sort(repeats);
  const std::size_t n = repeats.size(), middle = n / 2;
  out.low = repeats.front(), out.high = repeats.back();
  out.median = n % 2 == 1 ? repeats[middle] : std::midpoint(repeats[middle - 1], repeats[middle]);
  out.mean = std::accumulate(repeats.begin(), repeats.end(), 0.0) / static_cast<double>(n);
  double squares = 0;
  for (const double v : repeats) squares += (v - out.mean) * (v - out.mean);
  if (n > 1) out.deviation = std::sqrt(squares / static_cast<double>(n - 1));
  return out;
}

}  // namespace simtlab::result
