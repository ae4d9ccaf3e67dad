#include "cli/deliver.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "result/json.h"
#include "studies/common/terminal_text.h"

namespace simtlab::cli {
void write_to(const std::string& file, std::string_view content) {
  if (file == "-")
    write_stream(STDOUT_FILENO, content);  // also what is no text
  else
    write_file_atomically(file, content);
}

void print(std::string_view text) { write_stream(STDOUT_FILENO, terminal_text(text)); }

void write_result(const std::string& file, const result::Result& result) {
  if (file == "-")
    print(result::to_json(result));
  else
    result::save_result_file(file, result);
}

namespace {

// Where a text goes whose file failed, so that it is not lost: data has the stream to itself.
int descriptor_of_last_resort(const OutputOptions& options, int usual) {
  return data_on_stdout(options) ? STDERR_FILENO : usual;
}

// Whether a file holds what was found, so that -q can leave out the report.
bool in_a_file(const Outcome& outcome, const Writing& writing) {
  const auto is_file = [](const std::string& name) { return !name.empty() && name != "-"; };
  return !writing.failed() &&
         (outcome.in_a_file || is_file(outcome.output.json) || is_file(outcome.output.csv) ||
          std::ranges::any_of(outcome.more, is_file, &Outcome::More::file));
}

// What has no file: stdout and the terminal.
void show(const Outcome& outcome, bool text_in_file, Writing& writing) {
  const OutputOptions& output = outcome.output;
  for (const Outcome::More& more : outcome.more)
    if (more.file == "-") writing([&] { write_stream(STDOUT_FILENO, more.content()); });
  if (output.json == "-" && (outcome.json || outcome.result))
    writing([&] { write_stream(STDOUT_FILENO, json_of(outcome)); });
  if (output.csv == "-" && (outcome.csv || outcome.result))
    writing([&] { write_stream(STDOUT_FILENO, csv_of(outcome)); });
  if (!has_text(outcome)) return;
  const int usual = outcome.beside_program ? STDERR_FILENO : STDOUT_FILENO;
  const auto text = [&](int descriptor) {
    writing([&] {
      write_stream(descriptor, terminal_text(text_of(outcome, style_for(descriptor, output.color))));
    });
  };
  if (output.output == "-")
    text(STDOUT_FILENO);
  else if (!output.output.empty() && !text_in_file)
    text(descriptor_of_last_resort(output, usual));
  else if (output.output.empty() && !data_on_stdout(output) && outcome.text_on_stdout &&
           !(output.quiet && (usual == STDERR_FILENO || in_a_file(outcome, writing))))
    text(usual);
}

}  // namespace

int deliver(const Outcome& outcome) {
  const OutputOptions& output = outcome.output;
  Writing writing;
  const bool text_in_file = write_files(outcome, writing);
  show(outcome, text_in_file, writing);
  talk(outcome.warning);
  if (!writing.failed()) {  // else what follows would look as if all were well
    const bool data = data_on_stdout(output) ||
                      std::ranges::any_of(outcome.more, [](const auto& more) { return more.file == "-"; });
    const bool as_report = output.output.empty() && !data;
    if (!output.quiet || (as_report && !in_a_file(outcome, writing)))
      as_report ? print(outcome.remark) : talk(outcome.remark);
    if (!outcome.failure && outcome.code == 0) talk(outcome.note);
  }
  try {
    writing.end();
  } catch (const Error& e) {
    if (!outcome.failure && outcome.code == 0) throw;
    talk_error(e.format(), output.color);  // what ended the study is its error
  }
  if (outcome.failure) throw Error(*outcome.failure);
  if (!outcome.verdict.empty()) talk_error(outcome.verdict, output.color);
  return outcome.code;
}

}  // namespace simtlab::cli
