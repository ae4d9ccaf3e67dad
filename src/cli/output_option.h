// Options that name what a command writes. Their value is tried while the command line is read: before
// anything is simulated.
#pragma once

#include <CLI/CLI.hpp>

namespace simtlab::cli {

// Checks of an option: a file, or a folder that is made if it is not there. "-" is stdout. An empty value is
// a wrong command line; a place that can't be written to ends the command with Error(failure, "file-write").
// An option that names a file and has neither is an input.
CLI::Validator output_file();
CLI::Validator output_folder();
CLI::Validator output_file_or_folder();  // what is there already decides, else whether it has an extension
bool is_output(CLI::Option& option);
// An option that says how something is shown, or what is done with the result: a repeated run leaves it out.
CLI::Option* only_shown(CLI::Option* option);
bool is_shown(CLI::Option& option);

// While it lives, this thread only looks whether command lines can be understood: nothing is tried.
class WithoutTrying {
 public:
  WithoutTrying();
  ~WithoutTrying();
  WithoutTrying(const WithoutTrying&) = delete;
  WithoutTrying& operator=(const WithoutTrying&) = delete;

 private:
  bool before_;
};

}  // namespace simtlab::cli
