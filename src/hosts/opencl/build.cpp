#include "hosts/opencl/build.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/cache_folder.h"
#include "base/files.h"
#include "base/hash.h"
#include "compile/build_cache.h"
#include "compile/frontend.h"
#include "compile/opencl.h"
#include "compile/toolchain.h"

namespace simtlab::hosts::opencl {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& options, cl_int code) {
  try {
    return compile::split_opencl_options(options);
  } catch (const Error& error) {
    State::get().warn("simtlab: " + error.format());
    throw Failure{code};
  }
}

// False: the log says why.
bool to_ptx(State& state, Program& program, const std::vector<std::string>& words, bool offset,
            std::string& ptx, cl_int bad_options) {
  const device::Device& device = state.device();
  compile::OpenClRequest request;
  request.source = "program.cl";
  request.text = program.source;
  request.options = words;
  request.architecture = compile::architecture_for(device.cc_major, device.cc_minor);
  request.global_offset = offset;
  try {
    compile::OpenClBuild result = compile::compile_opencl(request);
    program.log = std::move(result.log);
    for (const std::string& note : result.notes) program.log += "note: " + note + "\n";
    if (result.failure) program.log += result.failure->format();
    ptx = std::move(result.ptx);
    return result.failure == nullptr;
  } catch (const Error& error) {
    program.log = error.format();
    if (error.id() == "opencl-option") throw Failure{bad_options};
    if (error.code() == ExitCode::unavailable) throw;
    return false;
  }
}

void take_kernels(State& state, Program& program) {
  program.kernel_names.clear();
  for (const ptx::Function& f : state.gpu().module(*program.module).functions)
    if (f.is_entry) program.kernel_names.push_back(f.name);
}

cl_int load(State& state, Program& program, cl_int failure) {
  try {
    program.module = state.gpu().load_module("program.cl", program.ptx);
  } catch (const Error& error) {
    program.log += error.format();
    program.status = CL_BUILD_ERROR;
    if (error.code() != ExitCode::bad_input && error.code() != ExitCode::unsupported) throw;
    state.warn("simtlab: " + error.format());
    return failure;
  }
  take_kernels(state, program);
  program.status = CL_BUILD_SUCCESS;
  program.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  return CL_SUCCESS;
}

void unload(State& state, Program& program) {
  if (program.module) state.gpu().unload_module(*program.module);
  if (program.offset_module) state.gpu().unload_module(*program.offset_module);
  program.module.reset();
  program.offset_module.reset();
  program.kernel_names.clear();
  program.log.clear();
  program.status = CL_BUILD_ERROR;  // until it is built
  program.binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
}

// The folder of the headers, named by what they hold.
std::string write_headers(const std::vector<Header>& headers) {
  std::string all;
  for (const Header& h : headers)
    all += fmt::format("{}:{}{}:{}", h.name.size(), h.name, h.text.size(), h.text);
  const fs::path folder = compile::cache_folder(default_cache()) / ("opencl-headers-" + hash_bytes(all));
  for (const Header& h : headers) {
    const fs::path name = fs::path(h.name).lexically_normal();
    require(name.is_relative() && !h.name.empty() && *name.begin() != "..", CL_INVALID_VALUE);
    std::error_code code;
    // What is wrong shows when the file is written
    fs::create_directories((folder / name).parent_path(), code);
    write_file_atomically(folder / name, h.text);
  }
  return folder.string();
}

}  // namespace

cl_int build(State& state, Program& program, const std::string& options) {
  const std::vector<std::string> words = words_of(options, CL_INVALID_BUILD_OPTIONS);
  unload(state, program);
  program.options = options;
  program.build_options = words;
  if (program.has_source && !to_ptx(state, program, words, false, program.ptx, CL_INVALID_BUILD_OPTIONS))
    return CL_BUILD_PROGRAM_FAILURE;
  return load(state, program, program.has_source ? CL_BUILD_PROGRAM_FAILURE : CL_INVALID_BINARY);
}

cl_int compile(State& state, Program& program, const std::string& options,
               const std::vector<Header>& headers) {
  std::vector<std::string> words = words_of(options, CL_INVALID_COMPILER_OPTIONS);
  unload(state, program);
  program.options = options;
  if (!headers.empty()) words.insert(words.end(), {"-I", write_headers(headers)});
  program.build_options = words;
  if (!to_ptx(state, program, words, false, program.ptx, CL_INVALID_COMPILER_OPTIONS))
    return CL_COMPILE_PROGRAM_FAILURE;
  program.status = CL_BUILD_SUCCESS;
  program.binary_type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  return CL_SUCCESS;
}

cl_int link(State& state, Program& program, const std::vector<std::shared_ptr<Program>>& inputs,
            const std::string& options) {
  // Options of the linker only choose between libraries and executables, or repeat the compiler's for
  // mathematics.
  bool library = false;
  for (const std::string& word : words_of(options, CL_INVALID_LINKER_OPTIONS)) {
    require(word.starts_with("-cl-") || word == "-create-library" || word == "-enable-link-options",
            CL_INVALID_LINKER_OPTIONS);
    library |= word == "-create-library";
  }
  std::vector<std::string> words;
  for (const auto& input : inputs) {
    program.source += input->source + "\n";
    for (const std::string& w : input->build_options) words.push_back(w);
  }
  program.has_source = true;
  program.options = options;
  program.build_options = words;
  if (!to_ptx(state, program, words, false, program.ptx, CL_INVALID_LINKER_OPTIONS)) {
    program.status = CL_BUILD_ERROR;
    return CL_LINK_PROGRAM_FAILURE;
  }
  if (!library) return load(state, program, CL_LINK_PROGRAM_FAILURE);
  program.status = CL_BUILD_SUCCESS;
  program.binary_type = CL_PROGRAM_BINARY_TYPE_LIBRARY;
  return CL_SUCCESS;
}

gpu::ModuleId offset_module(State& state, Program& program) {
  if (program.offset_module) return *program.offset_module;
  if (!program.has_source) {
    state.warn(
        "simtlab: a program made from a binary cannot be launched with an offset of the global ids "
        "(D-OPENCL-5)\n");
    throw Failure{CL_INVALID_GLOBAL_OFFSET};
  }
  std::string ptx;
  require(to_ptx(state, program, program.build_options, true, ptx, CL_INVALID_GLOBAL_OFFSET),
          CL_INVALID_GLOBAL_OFFSET);
  program.offset_module = state.gpu().load_module("program.cl", std::move(ptx));
  return *program.offset_module;
}

}  // namespace simtlab::hosts::opencl
