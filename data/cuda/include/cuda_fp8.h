#pragma once
#error "simtlab has no 8-bit floating-point types: use half or bfloat16"
