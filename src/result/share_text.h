// Shares in sentences: one rounding rule for all of them.
#pragma once

#include <string>

namespace simtlab::result {

// "43.2 %". What is not all never reads 100 %, what is not nothing never 0 %: ">99.9 %", "<0.1 %".
std::string share_text(double ratio);

}  // namespace simtlab::result
