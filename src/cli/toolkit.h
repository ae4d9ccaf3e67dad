#pragma once

#include "studies/toolkit/toolkit.h"

namespace simtlab::cli {

// What a CUDA toolkit of this installation is made of. Throws Error(failure, "runtime-missing").
studies::ToolkitParts toolkit_parts();

}  // namespace simtlab::cli
