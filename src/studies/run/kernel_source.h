// The code of a kernel that is given without a host program: a .ptx or .cubin as it is, a .cl compiled for
// the device.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/launch_file.h"
#include "device/device.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::studies {

struct KernelSource {
  std::string text;  // as the user gave it, for the hash of the manifest
  std::string ptx;   // or machine code
};

// options: build options of the command line, after those of the launch file. links: objects whose machine
// code is linked to that of `file`. The compiler's messages go to stderr. Throws Error; options with a .ptx
// are Error(usage, "opencl-option").
KernelSource read_kernel_source(const std::string& file, const std::vector<std::string>& options,
                                const std::vector<std::string>& links, const compile::LaunchSpec& launch,
                                const device::Device& device, const OutputOptions& output);

}  // namespace simtlab::studies
