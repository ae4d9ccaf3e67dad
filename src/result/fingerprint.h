// Names of findings that stay while the code around them changes: for baselines and for alerts of others.
#pragma once

#include <string>
#include <vector>

#include "result/findings.h"

namespace simtlab::result {

// One a finding, "0123456789abcdef:1": a hash of rule, kernel, functions and the texts of the source lines,
// without line numbers and addresses, and a running number of equal ones.
std::vector<std::string> fingerprints(const std::vector<Finding>& findings);

}  // namespace simtlab::result
