// The projects of a tree: what is built and run on its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "result/suite.h"
#include "studies/suite/tree.h"

namespace simtlab::studies {

struct Project {
  enum class Kind : std::uint8_t { make, cmake, cuda, opencl, program, listed } kind = Kind::make;
  std::filesystem::path folder;  // relative to the root of the tree; empty: the root
  std::string file;              // the makefile, the source or the program in it
  std::string name;              // in the table; unique
  // Of a program of a list: command lines for /bin/sh; what the output must contain; its own limit.
  std::string build, run, expect;
  double limit_s = 0;  // 0: the suite's
};
const char* name_of(Project::Kind kind);
bool is_one_file(Project::Kind kind);  // the project is its file alone

struct Projects {
  std::vector<Project> all;  // sorted by name
  std::vector<result::Suite::Skipped> skipped;
};

// A folder with CMakeLists.txt or a makefile that has to do with a GPU is one project with all below it; a
// makefile that only calls others hands on to them. Elsewhere each .cu file with a main() and each .cl file
// is one, and so is each program that is there already.
Projects find_projects(const Tree& tree);

// An x86-64 executable that the system's loader starts, and one that uses CUDA or OpenCL.
bool is_program(const std::filesystem::path& file);
bool uses_gpu(const std::filesystem::path& program);

// The programs that a list names, and nothing else. Throws Error(bad_input, "suite-list").
Projects read_list(const std::filesystem::path& file, const Tree& tree);

// Whether a file belongs to the project.
bool owns(const Project& project, const std::filesystem::path& file);

}  // namespace simtlab::studies
