#pragma once
#error "simtlab has no cuSOLVER: write the operation as a kernel"
