// simtlab corun profile --device: a program on a board, one kernel at a time.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "corun/profiles.h"

namespace simtlab::cli {

struct BoardProfile {
  std::string device, database, application;  // device: as of `simtlab probe --device`
  OutputOptions output;
  std::vector<std::string> command;
};

// The exit status: the program's own if it isn't 0, and then nothing is kept. Throws Error(unavailable)
// without such a board.
int profile_on_board(const BoardProfile& o);
// What a file has stays, but for kernels and applications of the same names. (command_corun_profile.cpp)
void save_profiles_beside(corun::Profiles profiles, const std::string& database);

}  // namespace simtlab::cli
