// Writing what a study found, as the command line asks for it: files, stdout, the terminal.
#pragma once

#include <string>
#include <string_view>

#include "result/metrics.h"
#include "studies/common/outcome.h"
#include "studies/common/output.h"

namespace simtlab::cli {

using namespace studies;  // NOLINT: a command line is words for studies

void print(std::string_view text);                                 // stdout
void write_to(const std::string& file, std::string_view content);  // "-" is stdout
// As JSON; into a file with what is large beside it
void write_result(const std::string& file, const result::Result& result);

// All of it. Returns the exit code or throws what ended the study, or what could not be written.
int deliver(const Outcome& outcome);

}  // namespace simtlab::cli
