// Calls in the nest: functions of the program are put in its place, mathematics stays, all else is refused.
#pragma once

#include <string>
#include <vector>

#include "nest.h"
#include "passes.h"

namespace simtlab::models::loops {

// Throws Refused (loop-recursion) for functions that come back to themselves from within the nest.
void refuse_recursion(llvm::Function& parent, const Request& request);
// Names of the functions, each once. Throws Refused (loop-call).
std::vector<std::string> inline_calls(llvm::Function& parent, const Request& request, Analyses& analyses);

// A function of the C library that the device has, too: "expf" -> "__nv_expf". Empty: none.
std::string device_function(llvm::StringRef name);
// The C library's name of an intrinsic ("llvm.exp.f32" -> "expf"); empty if the device computes it by
// instructions of its own, or it is none.
std::string library_name(const llvm::CallBase& call);

}  // namespace simtlab::models::loops
