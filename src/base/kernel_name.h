// What a kernel is called: as its module has it, as C++ writes it, and without all that a person leaves out.
#pragma once

#include <string>
#include <string_view>

namespace simtlab {

// As C++ writes it; what is no mangled name stays as it is.
std::string demangle(const std::string& name);

// Parts of a demangled name: of "void ns::saxpy<float>(float*, int)"
struct KernelName {
  std::string_view qualified;  // "ns::saxpy<float>": without result and parameters
  std::string_view scoped;     // "ns::saxpy": without the last arguments of a template
  std::string_view bare;       // "saxpy"
};
KernelName parts_of_name(std::string_view demangled);  // views of the text

}  // namespace simtlab
