#pragma once
#error "simtlab has no Thrust: write the algorithm as a kernel, or run it on the host after cudaMemcpy; or build it with nvcc -cudart shared and run that: simtlab run -- ./app"
