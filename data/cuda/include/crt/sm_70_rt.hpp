// clang's intrinsics header includes this file; what it would hold is in simtlab/device_intrinsics.h.
#pragma once
