// The text report of analytical predictions.
#pragma once

#include <string>

#include "report/report.h"

namespace simtlab::report {

// With options.all: the values between counts and prediction, the origin of each count.
std::string predict_text(const result::Result& result, const TextOptions& options);

}  // namespace simtlab::report
