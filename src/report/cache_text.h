// The text report of a cache study.
#pragma once

#include <string>

#include "report/report.h"

namespace simtlab::report {

std::string cache_text(const result::Result& result, const TextOptions& options);

}  // namespace simtlab::report
