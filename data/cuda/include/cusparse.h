#pragma once
#error "simtlab has no cuSPARSE: write the operation as a kernel"
