// Puts simtlab's CUDA runtime in the place of the one that was linked into a program.
#pragma once

namespace simtlab::hosts::static_runtime {

// Each function of the runtime that our libcudart has, too, begins with a jump to ours from then on. To be
// called before the program's constructors, which register its kernels. Ends the process with a message where
// it cannot be done: the program would use the runtime that is inside, which asks for a real driver.
//
// The program alone, not its libraries: their constructors have run by then.
void replace_runtime();

}  // namespace simtlab::hosts::static_runtime
