#pragma once
#error "simtlab has no CUB: write the algorithm as a kernel; cooperative_groups/reduce.h and scan.h work on warps; or build it with nvcc -cudart shared and run that: simtlab run -- ./app"
