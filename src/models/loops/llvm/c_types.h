// Types as C writes them, from debug information.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>

#include <string>

namespace simtlab::models::loops {

// Declaration of a variable of the type, with @ where its name goes: "const float *@", "float (*@)[64]".
// Empty if it can't be written down (anonymous structures, arrays whose extent is a variable, functions).
std::string c_type(const llvm::DIType* type);
// Of a pointer to an object of the type; of an array to its first element.
std::string c_pointer_to(const llvm::DIType* type);

}  // namespace simtlab::models::loops
