// What the exit codes of the tool mean.
#pragma once

#include <vector>

namespace simtlab::studies {

struct ExitCodeText {
  int code;
  const char* name;
  const char* meaning;
};
const std::vector<ExitCodeText>& exit_codes();

}  // namespace simtlab::studies
