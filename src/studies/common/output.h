// Where what a command says and writes goes, and how the user wants to see it. stdout is data, stderr is
// talk.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/format.h"

namespace simtlab::studies {

class Command;

struct OutputOptions {
  std::string output;     // -o
  std::string json, csv;  // file name, "-" for stdout, empty for none
  std::string color = "auto";
  bool all = false, quiet = false;
  unsigned verbose = 0;           // -v 1, -vv 2
  std::string progress = "auto";  // plain: lines in a log, none
  std::string live;               // file that says how far the command is (live_file.h)
  // What a command writes besides: the option, and the name it was given; "-" is stdout. Names are looked at
  // by check_outputs and check_inputs alone.
  struct More {
    const char* option;
    std::string* file;
  };
  std::vector<More> more;
  bool more_on_stdout = false;  // as check_outputs found
};

void add_output_options(Command& command, OutputOptions& options);
// Of commands that may take long.
void add_progress_option(Command& command, OutputOptions& options);
// Of those that tell others how far they are, too.
void add_live_option(Command& command, OutputOptions& options);

// Colour, character set and width for a stream (1 or 2): --color, NO_COLOR, CLICOLOR_FORCE, TTY, locale,
// COLUMNS.
report::Style style_for(int descriptor, const std::string& color);

// All of it to a stream (1 or 2); throws Error(failure) if stdout can't be written, and quietly ends on a
// closed pipe. In somebody else's program it is collected.
void write_stream(int descriptor, std::string_view text);
// What is being done, on stderr: with -v that of level 1, with -vv of 2, too. Quiet is quiet.
void narrate(const OutputOptions& options, unsigned level, std::string_view text);
bool reader_has_left();            // of stdout: what is written there goes nowhere
void talk(std::string_view text);  // stderr
// Stderr: what a kernel prints, byte for byte
void pass_on(std::string_view text);
// What Error::format() says, on stderr; in colour where `color` (--color) and the terminal want it.
void talk_error(std::string_view formatted, const std::string& color);

// Throws Error(usage) if two outputs would share stdout or a file. "/dev/stdout" becomes "-".
void check_outputs(OutputOptions& options);
// Throws Error(usage) if an output is one of the files that the run reads: writing it would destroy the
// input.
void check_inputs(const OutputOptions& options, const std::vector<std::filesystem::path>& inputs);
bool data_on_stdout(const OutputOptions& options);  // JSON or CSV

// An output that can't be written loses none of the others, nor the report: the errors are thrown when all
// were tried.
class Writing {
 public:
  // False: it failed.
  bool operator()(const std::function<void()>& write);
  void end() const;  // throws Error
  const std::optional<Error>& failed() const { return failed_; }

 private:
  std::optional<Error> failed_;
};

}  // namespace simtlab::studies
