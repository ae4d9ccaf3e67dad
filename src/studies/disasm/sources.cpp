#include "studies/disasm/sources.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/temporary.h"
#include "compile/frontend.h"
#include "compile/nvcc_options.h"
#include "compile/opencl.h"
#include "studies/common/compile.h"
#include "studies/common/output.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;
constexpr const char* default_architecture = "sm_70";  // of builds
constexpr std::uint64_t max_ptx_bytes = std::uint64_t{1} << 30;

std::string architecture_of(unsigned generation) {
  return compile::architecture_for(static_cast<int>(generation / 10), static_cast<int>(generation % 10));
}

std::string ptx_of_cuda(const std::string& file, std::vector<std::string> arguments) {
  const TemporaryFolder folder(fs::temp_directory_path());
  arguments.insert(arguments.end(), {"-ptx", file});
  return read_file(build_sources(std::move(arguments), folder.path() / "device.ptx"), max_ptx_bytes, "PTX");
}

std::string ptx_of_opencl(const compile::OpenClRequest& request) {
  compile::OpenClBuild built = compile::compile_opencl(request);
  for (const std::string& command : built.commands) talk(command + "\n");
  if (!built.log.empty()) talk(built.log);
  if (built.failure) throw Error(*built.failure);
  for (const std::string& note : built.notes) talk("note: " + note + "\n");
  return std::move(built.ptx);
}

// What the words of an OpenCL build say; `simtlab build` has -o, -v and, here, -arch besides the options of
// clBuildProgram.
struct OpenClWords {
  compile::OpenClRequest request;
  std::string output, architecture = default_architecture;
};
OpenClWords opencl_words(const std::vector<std::string>& words) {
  OpenClWords out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool architecture = name == "-arch" || name == "--gpu-architecture";
    if (architecture && name != words[i])
      out.architecture = words[i].substr(name.size() + 1);
    else if (architecture && i + 1 < words.size())
      out.architecture = words[++i];
    else if (words[i] == "-o" && i + 1 < words.size())
      out.output = words[++i];
    else if (words[i] == "-v" || words[i] == "--verbose")
      out.request.verbose = true;
    else
      out.request.options.push_back(words[i]);
  }
  return out;
}

}  // namespace

bool is_device_source(const std::string& file) {
  return file.ends_with(".cu") || compile::is_opencl_source(file);
}

std::vector<AssembledModule> assemble_source(const std::string& file, unsigned generation) {
  if (!compile::is_opencl_source(file))
    return assemble_all(ptx_of_cuda(file, {"-arch=" + architecture_of(generation)}), file, generation);
  compile::OpenClRequest request;
  request.source = file;
  request.architecture = architecture_of(generation);
  return assemble_all(ptx_of_opencl(request), file, generation);
}

BuiltCode assemble_build(const std::string& file, const std::vector<std::string>& arguments) {
  if (compile::is_opencl_source(file)) {
    OpenClWords words = opencl_words(arguments);
    const unsigned generation = assembled_generation(words.architecture, "-arch");
    words.request.source = file;
    words.request.architecture = architecture_of(generation);
    return {assemble_all(ptx_of_opencl(words.request), file, generation), words.output};
  }
  if (!is_device_source(file))
    throw Error(
        ExitCode::usage, "build-option",
        fmt::format("--machine {}: this is no source of CUDA C++ (.cu) or OpenCL C (.cl)", shown(file)),
        "`simtlab disasm FILE --assemble sm_80` shows the machine code of PTX");
  std::vector<std::string> all = arguments;
  all.push_back(file);
  const compile::NvccOptions options = compile::parse_nvcc_options(all, default_architecture);
  if (options.inputs.size() > 1)
    throw Error(ExitCode::usage, "build-option",
                fmt::format("--machine {} and {}: the machine code of one file is printed", shown(file),
                            shown(options.inputs.front().path)));
  std::string architecture = options.architectures.front();
  if (architecture.ends_with('a')) architecture.pop_back();
  const unsigned generation = assembled_generation(architecture, "-arch");
  return {assemble_all(ptx_of_cuda(file, arguments), file, generation), options.output};
}

}  // namespace simtlab::studies
