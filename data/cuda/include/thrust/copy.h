#pragma once
#error "simtlab has no Thrust: write the algorithm as a kernel, or run it on the host after cudaMemcpy"
