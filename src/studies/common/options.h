// The options of a run as a study is given them: the uppermost configuration layer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "options/configuration.h"
#include "options/given.h"

namespace simtlab::studies {

// What stands on the command line of the options of a run.
using RunOptions = options::Given;

// The layers resolved: what a run uses. The configuration files are those of options/configuration.h. Throws
// Error.
options::Configuration resolve(const RunOptions& given);

// " at warp 3 of ...", " in kernel ...", or nothing, as the simulation names the place.
std::string at_place(const std::string& where);
// What a run that --max-time stopped ends with. where: in a kernel, in words; may be empty.
Error time_limit(const options::Options& options, const std::string& where);

// The configuration and device files that were read: no output may go there.
std::vector<std::filesystem::path> files_of(const options::Configuration& configuration,
                                            const device::LoadedDevice& device);

}  // namespace simtlab::studies
