// What a study found. Whoever asked for it writes it: the command line to files and the terminal
// (cli/deliver.h); a program takes it as it is (api/).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "report/format.h"
#include "result/metrics.h"
#include "studies/common/output.h"

namespace simtlab::studies {

struct Outcome {
  Outcome() = default;
  Outcome(int code) : code(code) {}  // NOLINT: there is nothing to write
  Outcome(result::Result&& result, OutputOptions output)
      : result(std::move(result)), output(std::move(output)) {}

  std::optional<result::Result> result;
  // In place of what the result would give, or where there is none; empty: that of the result.
  std::function<std::string(const report::Style&)> text;
  std::function<std::string()> json, csv;
  // What else it makes: a page, a log. Where to; empty: nowhere.
  struct More {
    std::string file;
    std::function<std::string()> content;
  };
  std::vector<More> more;
  // The text where the report is not on the terminal: with data on stdout, or in a file.
  std::string remark;
  std::string warning;           // about what it found, behind the text
  std::string note;              // on stderr, behind all the rest; not where something failed
  bool beside_program = false;   // a program printed to stdout: the report goes to stderr
  bool text_on_stdout = true;    // where nothing says where the text goes
  bool in_a_file = false;        // the study itself wrote what it found, as a device file
  std::vector<Error> unwritten;  // files of the study itself (a trace, a timeline)
  std::optional<Error> failure;  // ended it early; the rest covers what ran until then
  std::string verdict;           // in its place: an error that a process of its own has put into words
  int code = 0;                  // where there is no failure
  OutputOptions output;          // how it is to be shown
};

// As JSON and CSV: the study's own, else of the result.
std::string json_of(const Outcome& outcome);
std::string csv_of(const Outcome& outcome);
bool has_text(const Outcome& outcome);
std::string text_of(const Outcome& outcome, const report::Style& style);

// Writes all that the user gave a file for; stdout ("-") is left to the command line. Errors are kept in
// `writing`. False: the text has a file that could not be written.
bool write_files(const Outcome& outcome, Writing& writing);

}  // namespace simtlab::studies
