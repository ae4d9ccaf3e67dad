// OpenGL interoperability does not exist on a simulated GPU: programs that only include this header compile.
#pragma once

#include "cuda_runtime_api.h"
