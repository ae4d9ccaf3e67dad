#include "options/study.h"

#include <array>

namespace simtlab::options {

std::string_view name_of(Study study) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Study::count_)> names = {
      "a program on the cycle-level GPU",
      "a kernel on the cycle-level GPU",
      "a trace on the cycle-level GPU",
      "the programs of a suite",
      "a program in functional mode",
      "a kernel in functional mode",
      "the check of a program",
      "the check of a kernel",
      "results of earlier checks",
      "the cache study of a program",
      "the cache study of a kernel",
      "the cache study of a trace",
      "the prediction of a program",
      "the prediction of a kernel",
      "the prediction of a trace",
      "a prediction with --static",
      "a prediction from counts alone",
      "the prediction of a sequential C program",
      "the prediction of a sequential C program with --simulate",
      "mixes on the fast host without --gpu",
      "mixes on the fast host with --gpu",
      "mixes on the cycle host",
      "applications of the profiles",
      "a kernel that is simulated",
      "a kernel on a real board",
      "profiles on a real board",
      "a simulated GPU",
      "a real board",
      "a curve that was measured elsewhere",
      "two device files that are compared",
      "samples that were measured elsewhere",
      "a memory on its own",
      "the configuration",
  };
  return names[static_cast<std::size_t>(study)];
}

}  // namespace simtlab::options
