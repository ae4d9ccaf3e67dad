// The results that the processes of a program wrote, and what those left that ended without writing one.
#pragma once

#include <filesystem>

#include "studies/run/program.h"

namespace simtlab::studies {

// first: the result of the first process; those of others are first.1, first.2, ...
void collect_results(const std::filesystem::path& first, ProgramResult& out);

// What a program lost that ended before it had said everything, as the failure of its run; nullopt if nothing
// is missing. files: what it was to write besides its result.
std::optional<Error> what_is_lost(const ProgramResult& result, const std::string& program,
                                  const options::Options& options);

}  // namespace simtlab::studies
