// The line of a text report that names the deviations from hardware which concern a kernel.
#pragma once

#include <string>
#include <vector>

namespace simtlab::report {

// "D-TIMING-1, D-TIMING-4 (`simtlab explain D-TIMING-1` says what the first is)". Of many the numbers are
// joined: "22 deviations from hardware: D-PREDICT-1 to 16, D-TIMING-4, 7 (...)".
std::string not_modelled_text(const std::vector<std::string>& ids);

}  // namespace simtlab::report
