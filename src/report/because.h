// Why lifting a limit is worth a try: the figures of a result on which the estimate of its gain rests.
#pragma once

#include <string>
#include <string_view>

#include "result/metrics.h"

namespace simtlab::report {

// A clause behind "tried because". Every name of --what-if has its own; empty: no such name.
std::string because(const result::Metrics& metrics, std::string_view what_if);

}  // namespace simtlab::report
