// The steps between a change of the configuration and one of a kernel's time, in sentences.
#pragma once

#include <string>
#include <vector>

#include "report/compare.h"

namespace simtlab::report {

// Only steps at which the kernels differ. `compared` has times and parts already.
std::vector<std::string> why(const result::KernelResult& before, const result::KernelResult& after,
                             const ComparedKernel& compared);

// "+12.3 %", "-4.0 %", "+1.2e+04 %".
std::string change_text(double before, double after);
// Shares are told from counts by their names: both have the unit 1.
bool is_share(double value, std::string_view name, std::string_view unit);
// A value as people read it: times, bytes, shares, counts.
std::string value_text(double value, std::string_view name, std::string_view unit);

}  // namespace simtlab::report
