// What the parameters of a kernel are called in its source, which the PTX of a compiler does not say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::ptx {

// From the text of OpenCL C or CUDA C++: the names in the definition of a kernel, in their order. Empty if
// there is no definition with so many named parameters, or if two differ in them (overloads).
std::vector<std::string> parameter_names(std::string_view source, std::string_view kernel, std::size_t count);

}  // namespace simtlab::ptx
