// What the kernel that is made of a nest executes: its PTX is followed with the values of the nest's
// parameters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "models/loops/counts.h"

namespace simtlab::studies {

struct FollowedCode {
  std::optional<models::loops::KernelCode> code;
  std::string why;  // not: a sentence without a full stop
};

// ptx: of the nest under the mapping. values: of its inputs, as far as they are known.
FollowedCode follow_code(const models::loops::Description& nest, const models::loops::Shape& shape,
                         const models::loops::Mapping& mapping, const std::string& ptx,
                         const std::string& kernel, const device::Device& device, gpu::Ptx ptx_as);

// PTX of a mapping that gives the loops other thread dimensions: `from` and `to` are levels of the same
// loops, x first.
std::string with_dimensions(const std::string& ptx, const std::vector<unsigned>& from,
                            const std::vector<unsigned>& to);

}  // namespace simtlab::studies
