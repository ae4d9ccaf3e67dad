#pragma once
#error "simtlab has no cuBLAS: write the operation as a kernel"
