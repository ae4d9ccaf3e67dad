// Relocatable device code (`nvcc -rdc=true`) in a file, for linking.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "machine/join.h"

namespace simtlab::compile {

// Whether the bytes begin as a fat binary does.
bool begins_container(std::string_view bytes);

// The objects that run on compute capability cc: `bytes` itself if it is a cubin, else what a fat binary, an
// object or executable of nvcc, or a library (.a) of such objects holds. Throws Error(bad_input,
// "machine-link") if there is none.
std::vector<machine::Object> device_objects(const std::string& bytes, const std::string& name,
                                            unsigned cc_major, unsigned cc_minor);

}  // namespace simtlab::compile
