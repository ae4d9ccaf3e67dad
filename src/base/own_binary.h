// Where this code is installed: what belongs to simtlab is looked for beside it.
#pragma once

#include <filesystem>

namespace simtlab {

// The folder of the file that holds this code: simtlab's executable, or a shared library of ours in someone
// else's program. Links are followed. Empty if nobody can tell.
std::filesystem::path own_folder();

}  // namespace simtlab
