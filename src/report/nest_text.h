// The part of a prediction's text report that is about a sequential loop nest.
#pragma once

#include <string>

#include "report/report.h"

namespace simtlab::report {

// Empty if the kernel is no nest. With options.all: every mapping and every block.
std::string nest_text(const result::KernelResult& kernel, const TextOptions& options);

}  // namespace simtlab::report
