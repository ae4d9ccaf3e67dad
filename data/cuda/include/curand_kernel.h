#pragma once
#error "simtlab has no cuRAND: make the random numbers on the host, or write a generator (a hash of a counter) into the kernel; or build it with nvcc -cudart shared and run that: simtlab run -- ./app"
