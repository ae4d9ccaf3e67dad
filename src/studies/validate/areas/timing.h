// simtlab validate timing: the cycle-level model beside published measurements, good or bad.
#pragma once

#include <string>
#include <vector>

#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/validation.h"
#include "studies/validate/curves.h"
#include "studies/validate/kernels.h"

namespace simtlab::studies {

struct ValidationReport {
  std::vector<studies::validate::Comparison> curves;
  std::vector<studies::validate::KernelRow> kernels;
  // `measured` is another simulator's figure: no truth, so no target
  std::vector<studies::validate::KernelRow> peers;
};

// Markdown. all: every point.
std::string text_of(const ValidationReport& report, bool all);
result::Result result_of(const ValidationReport& report);
std::vector<std::string> missed_targets(const ValidationReport& report);
std::vector<studies::validate::Row> rows_of(const ValidationReport& report);

// All that there are measurements of. quick: fewer sizes, no device with a large L2. Throws
// Error(interrupted) once *stop is set.
AreaReport timing_area(bool quick, const volatile bool* stop);
void add_validate_timing(Command& validate);

}  // namespace simtlab::studies
