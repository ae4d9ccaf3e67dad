// simtlab corun profile --device: a program on a board, one kernel at a time.
#pragma once

#include <string>
#include <vector>

#include "corun/profiles.h"
#include "studies/common/outcome.h"
#include "studies/common/output.h"

namespace simtlab::studies {

struct BoardProfile {
  std::string device, database, application;  // device: as of `simtlab probe --device`
  OutputOptions output;                       // checked
  std::vector<std::string> command;
};

// Throws Error(unavailable) without such a board, Error(program_failed) if the program fails: then nothing is
// kept.
Outcome profile_on_board(const BoardProfile& o);
// What a file has stays, but for kernels and applications of the same names. (command_corun_profile.cpp)
void save_profiles_beside(corun::Profiles profiles, const std::string& database);

}  // namespace simtlab::studies
