#include "studies/run/kernel_source.h"

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "compile/frontend.h"
#include "compile/opencl.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_source_bytes = std::uint64_t{256} << 20;

}  // namespace

KernelSource read_kernel_source(const std::string& file, const std::vector<std::string>& options,
                                const compile::LaunchSpec& launch, const device::Device& device,
                                const OutputOptions& output) {
  KernelSource out;
  if (!compile::is_opencl_source(file)) {
    if (!options.empty() || !launch.options.empty())
      throw Error(ExitCode::usage, "opencl-option",
                  shown(file) + " is not compiled: build options are for OpenCL C (.cl)", "leave them out");
    out.text = out.ptx = read_file(file, max_source_bytes, "PTX file");
    return out;
  }
  out.text = read_file(file, max_source_bytes, "OpenCL source");
  compile::OpenClRequest request;
  request.source = file;
  request.options = launch.options;
  request.options.insert(request.options.end(), options.begin(), options.end());
  request.architecture = compile::architecture_for(device.cc_major, device.cc_minor);
  request.global_offset = launch.offset.has_value();
  request.verbose = output.verbose;
  compile::OpenClBuild build = [&] {
    const Progress progress("compiling", output, Progress::Stopped::loses);
    return compile::compile_opencl(request);
  }();
  for (const std::string& command : build.commands) talk(command + "\n");
  if (!output.quiet)
    for (const std::string& note : build.notes) talk("note: " + note + "\n");
  talk(build.log);
  if (build.failure) throw *build.failure;
  out.ptx = std::move(build.ptx);
  return out;
}

}  // namespace simtlab::studies
