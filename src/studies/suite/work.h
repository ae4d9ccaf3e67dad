// Builds one project and runs its programs.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "result/suite.h"
#include "studies/suite/find.h"
#include "studies/suite/suite.h"

namespace simtlab::studies {

struct Place {
  std::filesystem::path base;  // the copy of the whole tree
  std::filesystem::path own;   // the project's folder below the work folder: logs, results and its copy
};

// The programs of the project, or one that says why there are none. finished is called after each. Throws
// Error(failure) where the host is at fault: no room, no process.
std::vector<result::SuiteProgram> work_on(const Project& project, const Place& place,
                                          const SuiteOptions& options,
                                          const std::function<void(const result::SuiteProgram&)>& finished);

}  // namespace simtlab::studies
