#pragma once

#include <vector>

#include "report/glossary.h"

namespace simtlab::cli {

struct ExitCodeText {
  int code;
  const char* name;
  const char* meaning;
};
const std::vector<ExitCodeText>& exit_codes();

}  // namespace simtlab::cli
