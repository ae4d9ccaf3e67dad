// Surface objects: the types exist so that programs that only name them compile; surface functions are not offered.
#pragma once

#include "driver_types.h"

typedef unsigned long long cudaSurfaceObject_t;
