// Options that mean the same in every sub-command; they are the uppermost configuration layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "options/configuration.h"
#include "options/given.h"
#include "options/study.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace simtlab::cli {

// What stands on the command line of the options of a run.
using RunOptions = options::Given;

struct OutputOptions {
  std::string output;     // -o
  std::string json, csv;  // file name, "-" for stdout, empty for none
  std::string color = "auto";
  bool all = false, quiet = false;
  unsigned verbose = 0;           // -v 1, -vv 2
  std::string progress = "auto";  // plain: lines in a log, none
  std::string live;               // file that says how far the command is (cli/live_file.h)
  // What a command writes besides: the option, and the name it was given, which outlives this. "-" is stdout.
  struct More {
    const char* option;
    std::string* file;
  };
  std::vector<More> more;
};

// Those of options/rows.h that one of the studies reads.
void add_options(CLI::App& command, options::Studies studies, RunOptions& given);
// Says who reads an option that the command itself declares; those that say nothing are read by all.
CLI::Option* read_by(CLI::Option* option, options::Studies studies);
options::Studies readers_of(const CLI::Option& option);
// All options that are declared while it lives and say nothing.
class ReadBy {
 public:
  ReadBy(CLI::App& command, options::Studies studies);
  ~ReadBy();
  ReadBy(const ReadBy&) = delete;
  ReadBy& operator=(const ReadBy&) = delete;

 private:
  CLI::App& command_;
  options::Studies studies_;
  std::size_t before_;
};
// What is thrown in place of going on while somebody only asks what a command line asks for.
struct Asked {
  options::Study study;
};
class Asking {
 public:
  Asking();
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
};
// Throws Error(usage "option-conflict") for an option that was given and that this study does not read. To be
// called before anything is done.
void refuse_unread(const CLI::App& command, options::Study study);
// The command that was chosen.
const CLI::App& innermost(const CLI::App& app);

void add_output_options(CLI::App& command, OutputOptions& options);
// Of commands that may take long.
void add_progress_option(CLI::App& command, OutputOptions& options);
// Of those that tell others how far they are, too.
void add_live_option(CLI::App& command, OutputOptions& options);

// A check for options that name something: an empty value is a script's variable that was not set.
std::string refuse_empty(std::string& value);

// The layers resolved: what a run uses. The configuration files are those of options/configuration.h. Throws
// Error.
options::Configuration resolve(const RunOptions& given);

// " at warp 3 of ...", " in kernel ...", or nothing, as the simulation names the place.
std::string at_place(const std::string& where);
// What a run that --max-time stopped ends with. where: in a kernel, in words; may be empty.
Error time_limit(const options::Options& options, const std::string& where);

// The configuration and device files that were read: no output may go there.
std::vector<std::filesystem::path> files_of(const options::Configuration& configuration,
                                            const device::LoadedDevice& device);

}  // namespace simtlab::cli
