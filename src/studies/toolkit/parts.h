#pragma once

#include "studies/toolkit/toolkit.h"

namespace simtlab::studies {

// What a CUDA toolkit of this installation is made of. Throws Error(failure, "runtime-missing").
ToolkitParts toolkit_parts();

}  // namespace simtlab::studies
