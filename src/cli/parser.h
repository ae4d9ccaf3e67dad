// Words of a command line to what is asked of a command. CLI11 reads them; the options are those that the
// commands declare (studies/common/command.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/common/command.h"

namespace simtlab::cli {

struct Parsed {
  const studies::Command* command = nullptr;  // null: --help and the like, of which `text` is to be printed
  std::vector<std::string> rest;
  std::string text;
  int code = 0;
  bool error = false;  // the text is for stderr
};

// words: without the tool's name and without what follows `--`. Stores the values of the options. Throws
// Error(usage).
Parsed parse(studies::Command& tool, std::vector<std::string> words);

}  // namespace simtlab::cli
