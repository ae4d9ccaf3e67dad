// OpenCL C to PTX: clang 19 with the built-in functions of libclc.
//
// One translation unit a program, as OpenCL has it. data/opencl/prelude.h is read before the source and tells
// what it adds; the PTX is kept in the build cache. `simtlab run kernel.cl`, launch files and the OpenCL
// library for programs all come through here.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace simtlab::compile {

struct OpenClRequest {
  std::filesystem::path source;      // the file; with `text` only the name that messages give it
  std::optional<std::string> text;   // instead of a file
  std::vector<std::string> options;  // as clBuildProgram takes them: docs/guide/opencl.md
  std::string architecture = "sm_70";
  bool global_offset = false;        // get_global_id adds the offset of the launch
  std::filesystem::path cache = {};  // empty: as in frontend.h
  bool verbose = false;
  unsigned unroll_seconds = 60;  // as in frontend.h
};

struct OpenClBuild {
  std::string ptx;                       // empty if it was refused
  std::string log;                       // what the compiler said, with the name of the source
  std::shared_ptr<const Error> failure;  // compile-failed, opencl-image
  std::vector<std::string> notes;        // options without effect
  std::vector<std::string> commands;     // if verbose
  bool from_cache = false;
};

// Throws Error: usage "opencl-option" for options, unavailable (exit 7) with the package to install if clang
// 19 or libclc is missing, bad_input for a file that can't be read. A program that does not compile is no
// exception: see `failure`.
OpenClBuild compile_opencl(const OpenClRequest& request);

// The compiler's part of the options.
struct OpenClOptions {
  std::vector<std::string> clang;
  std::vector<std::string> notes;
  int level = 3;               // -O0 to -O3, -cl-opt-disable, -cl-nv-opt-level
  bool unrolls = false;        // -unroll=N instead of what the compiler would do
  int max_registers = 0;       // -cl-nv-maxrregcount
  bool argument_info = false;  // -cl-kernel-arg-info
};
OpenClOptions parse_opencl_options(const std::vector<std::string>& options);
// Words of an option text; ' and " keep blanks, \ the next character.
std::vector<std::string> split_opencl_options(std::string_view text);

// Is this a source of OpenCL C, by its name?
bool is_opencl_source(const std::string& name);

}  // namespace simtlab::compile
