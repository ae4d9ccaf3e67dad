// Shares in sentences: one rounding rule for all of them.
#pragma once

#include <string>

namespace simtlab::result {

// "43.2 %". A share below 1 never reads 100 %, and a share above 0 never reads 0 %: ">99.9 %", "<0.1 %".
std::string share_text(double ratio);

}  // namespace simtlab::result
