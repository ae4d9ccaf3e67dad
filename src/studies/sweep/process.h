// Processes that run points.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::studies::sweep {

// One process in a group of its own, which ends with its parent. Standard input is empty, standard error goes
// to a file; so does standard output where one is named.
class Process {
 public:
  struct Start {
    std::vector<std::string> argv;  // argv[0]: a path
    std::string folder;
    std::filesystem::path errors;
    int kept_open = -1;  // a descriptor that it inherits; -1: none
    // Empty: what it prints is thrown away; `errors` again: both in one file
    std::filesystem::path output = {};
    std::vector<std::string> environment = {};  // NAME=value; none: ours
    std::uint64_t most_file_bytes = 0;          // of each file that it writes; 0: no limit
  };
  // Throws Error(failure, "process").
  explicit Process(const Start& start);
  ~Process();  // kills the group
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int descriptor() const { return descriptor_; }  // for poll(): readable when it has ended
  void signal(int number) const;
  void signal_group(int number) const;  // and what it has started
  // Whether it has ended; then status() is its exit status, or 128 + the signal that ended it.
  bool ended();
  int status() const { return status_; }

 private:
  pid_t pid_ = -1;
  int descriptor_ = -1;
  int status_ = 0;
};

struct Finished {
  int status = 0;
  std::string output;  // at most 1 MiB
};
// Runs a program of PATH and waits for it; its standard error is thrown away unless `with_errors`. Throws
// Error(unavailable, "sweep-slurm") if it is not there.
Finished run_program(const std::vector<std::string>& argv, bool with_errors);

// The last bytes of a file; empty if it can't be read.
std::string end_of_file(const std::filesystem::path& file, std::size_t most);

double unix_time();
std::string host_name();

}  // namespace simtlab::studies::sweep
