// How kernels that run at the same time share the GPU: `--sharing`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "timing/timing.h"

namespace simtlab::gpu {

// A policy (timing/share_policy.h), or a partition: kernels by name, each bound to SMs of its own. Kernels
// that no part names may run on every SM.
struct Sharing {
  struct Part {
    std::string pattern;  // as in --kernels: * and ?, of the mangled or demangled name
    std::uint32_t first_sm = 0, last_sm = 0;
  };
  timing::SharePolicy policy = timing::SharePolicy::leftover;
  std::vector<Part> parts;
};

// "leftover", "spatial", "smk", "serial" or "NAME=SM-SM,NAME=SM,...". Throws Error(usage "sharing").
Sharing parse_sharing(std::string_view text);
// The SMs of a kernel. Throws Error(bad_input "sharing") if the device has none of them.
timing::CycleGpu::Setup setup_of(const Sharing& sharing, const device::Device& device,
                                 const std::string& name, const std::string& demangled);

}  // namespace simtlab::gpu
