#include "corun/live/results.h"

#include <cmath>

namespace simtlab::corun::live {

void Results::add(ApplicationRow& row, const Work& work) const {
  ++row.clients;
  row.grants += work.grants;
  row.done += work.done;
  row.lost += work.lost;
  row.waited_ns += work.waited_ns;
  row.gpu_ns += work.gpu_ns;
  double together = 0, alone = 0;
  for (const auto& [kernel, ran] : work.kernels) {
    const std::optional<double> one = kernels_.alone_ns(kernel);
    if (!one) continue;
    together += static_cast<double>(ran.gpu_ns);
    alone += *one * static_cast<double>(ran.launches);
  }
  if (together <= 0 || alone <= 0) return;
  row.judged_ns += static_cast<std::uint64_t>(std::llround(together));
  row.alone_ns += static_cast<std::uint64_t>(std::llround(alone));
  ++row.judged;
  row.slowdowns += together / alone;
  row.progress += alone / together;
  row.speedup_logs += std::log(alone / together);
}

void Results::complete(Rows& rows) const {
  for (auto& [program, row] : rows) {
    row.program = kernels_.label(program);
    const Kernels::Lack lack = kernels_.lack(program);
    row.kernels = lack.kernels;
    row.unknown = lack.unknown;
    row.unknown_kernel = lack.first;
  }
}

}  // namespace simtlab::corun::live
