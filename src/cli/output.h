// Where text goes and how the terminal is served.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/options.h"
#include "report/report.h"
#include "result/metrics.h"

namespace simtlab::cli {

// Colour, character set and width for a stream (1 or 2): --color, NO_COLOR, CLICOLOR_FORCE, TTY, locale,
// COLUMNS.
report::Style style_for(int descriptor, const std::string& color);

void print(std::string_view
               text);  // stdout; throws Error(failure) if it can't be written, quietly ends on a closed pipe
// What is being done, on stderr: with -v that of level 1, with -vv of 2, too. Quiet is quiet.
void narrate(const OutputOptions& options, unsigned level, std::string_view text);
bool reader_has_left();            // of stdout: print() writes into nothing
void talk(std::string_view text);  // stderr
// Stderr: what a kernel prints, byte for byte
void pass_on(std::string_view text);
// What Error::format() says, on stderr; in colour where `color` (--color) and the terminal want it.
void talk_error(std::string_view formatted, const std::string& color);
void write_to(const std::string& file, std::string_view content);  // "-" is stdout
// As JSON; into a file with what is large beside it
void write_result(const std::string& file, const result::Result& result);

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

 private:
  std::optional<Error> failed_;
};

// Writes all that was asked for. The text report goes to -o, else to `report_descriptor` (1 or 2) unless JSON
// or CSV already has stdout or quiet silences stderr; where a file of it can't be written, to the terminal
// all the same.
void write_outputs(const result::Result& result, const OutputOptions& options, int report_descriptor);
// The same with a text of the caller's own, on stdout where it has no file.
void write_outputs(const result::Result& result, const OutputOptions& options, std::string_view text);
// The text alone: to -o, else to stdout unless data is there. With `writing`, its errors are kept there, and
// a text whose file fails is printed.
void write_text(const OutputOptions& options, std::string_view text);
void write_text(Writing& writing, const OutputOptions& options, std::string_view text);

}  // namespace simtlab::cli
