// What must be so before the command of a result file is run again: a file can name any program.
#pragma once

#include <string>
#include <vector>

#include "result/metrics.h"

namespace simtlab::studies {

// Throws Error(unavailable "rerun-refused") if the file is not the user's own, can be written by others, or
// names a program or a source that is not among its hashed inputs. arguments: what would be run, after the
// program's name.
void check_may_run_again(const std::string& file, const result::Manifest& manifest,
                         const std::vector<std::string>& arguments);

// Says on stderr what will be run, how often and how long each time takes, as far as the file says. times: "3
// times".
void announce_run_again(const result::Manifest& manifest, const std::vector<std::string>& arguments,
                        const std::string& times);

// "about 13 s each"; empty if the file does not say how long it took. `each`: it is run several times.
std::string time_of_a_run(const result::Manifest& manifest, bool each);

}  // namespace simtlab::studies
