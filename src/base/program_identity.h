// Which program a process runs: what profiles of kernels are kept under, and asked for by. Whoever writes a
// profile and whoever looks for one uses these functions and no others.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace simtlab {

struct ProgramIdentity {
  std::string name;     // of its file, without folders
  std::string content;  // hash of what the file holds; empty: not known
  bool operator==(const ProgramIdentity&) const = default;
};

// "dir/app" is app and "app.v2" is app.v2. A source or a trace stands for the program that is made of it:
// "dir/app.cu" is app.
std::string program_name(const std::filesystem::path& file);
// Of a process of this machine, as the system tells it. A script is a program of its own, whatever
// interpreter runs it. No name: the system tells nothing.
ProgramIdentity identity_of_process(pid_t pid);

}  // namespace simtlab
