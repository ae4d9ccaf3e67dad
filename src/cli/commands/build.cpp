// simtlab build: CUDA sources to an executable that runs on the simulated GPU.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "compile/nvcc_options.h"
#include "compile/opencl.h"
#include "studies/common/command.h"
#include "studies/common/compile.h"
#include "studies/common/output.h"
#include "studies/disasm/disasm.h"

namespace simtlab::cli {
namespace {

// OpenCL C becomes PTX: `simtlab build kernel.cl -o kernel.ptx`, with the options of clBuildProgram.
int build_opencl(const std::vector<std::string>& words) {
  compile::OpenClRequest request;
  std::filesystem::path output;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-o" && i + 1 < words.size())
      output = words[++i];
    else if (words[i] == "-v" || words[i] == "--verbose")
      request.verbose = true;
    else if (!compile::is_opencl_source(words[i]))
      request.options.push_back(words[i]);
    else if (request.source.empty())
      request.source = words[i];
    else
      throw Error(ExitCode::usage, "build-option",
                  fmt::format("{} and {}: one OpenCL C file is built at a time",
                              shown(request.source.string()), shown(words[i])),
                  "#include the other one");
  }
  if (output.empty()) output = request.source.filename().replace_extension(".ptx");
  check_writable(output);
  const compile::OpenClBuild built = compile::compile_opencl(request);
  for (const std::string& command : built.commands) talk(command + "\n");
  if (!built.log.empty()) talk(built.log);
  if (built.failure) throw Error(*built.failure);
  for (const std::string& note : built.notes) talk("note: " + note + "\n");
  write_file_atomically(output, built.ptx);
  return 0;
}

}  // namespace

void add_build(Command& app) {
  Command* sub = app.add_subcommand(
      "build",
      "Compile CUDA C++ (nvcc-like flags) to an executable, or OpenCL C to PTX: simtlab build app.cu -o app");
  sub->prefix_command();  // everything after the command is the compiler driver's
  sub->footer(
      "Flags as nvcc's: -o FILE, -I, -D, -U, -O, -g, -std=, -arch, -l, -L, -Xcompiler, -x, -c, ...; -v shows "
      "the commands.\n"
      "--machine FILE prints the machine code that simtlab makes of a source, for the -arch (sm_70 unless "
      "given).\n"
      "The executable needs libcudart.so of simtlab: start it with `simtlab run -- ./app`.");
  sub->action([](const Call& call) {
    std::vector<std::string> words = call.rest;
    if (const std::string file = compile::take_machine(words); !file.empty())
      return studies::show_machine_code(file, words);
    if (std::ranges::any_of(words, compile::is_opencl_source)) return Outcome(build_opencl(words));
    build_sources(words, {});
    return Outcome(0);
  });
}

}  // namespace simtlab::cli
