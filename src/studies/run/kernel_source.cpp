#include "studies/run/kernel_source.h"

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "compile/device_objects.h"
#include "compile/frontend.h"
#include "compile/opencl.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_source_bytes = std::uint64_t{256} << 20;

void link_objects(KernelSource& source, const std::string& file, const std::vector<std::string>& links,
                  const device::Device& device) {
  std::vector<machine::Object> objects;
  const auto add = [&](const std::string& bytes, const std::string& name) {
    for (machine::Object& object : compile::device_objects(
             bytes, name, static_cast<unsigned>(device.cc_major), static_cast<unsigned>(device.cc_minor)))
      objects.push_back(std::move(object));
  };
  add(source.ptx, file);
  for (const std::string& link : links) add(read_file(link, max_source_bytes, "object"), link);
  source.ptx = join_objects(objects, machine::Missing::fail);
}

}  // namespace

KernelSource read_kernel_source(const std::string& file, const std::vector<std::string>& options,
                                const std::vector<std::string>& links, const compile::LaunchSpec& launch,
                                const device::Device& device, const OutputOptions& output) {
  KernelSource out;
  if (!compile::is_opencl_source(file)) {
    if (!options.empty() || !launch.options.empty())
      throw Error(ExitCode::usage, "opencl-option",
                  shown(file) + " is not compiled: build options are for OpenCL C (.cl)", "leave them out");
    out.text = out.ptx = read_file(file, max_source_bytes, "PTX file");
    if (!links.empty()) link_objects(out, file, links, device);
    return out;
  }
  if (!links.empty())
    throw Error(ExitCode::usage, "machine-link",
                shown(file) + " is OpenCL C: objects of machine code are not linked to it",
                "leave --link out");
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
