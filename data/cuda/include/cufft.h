#pragma once
#error "simtlab has no cuFFT: write the transform as a kernel"
