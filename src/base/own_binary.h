// Where this code is installed: what belongs to simtlab is looked for beside it.
#pragma once

#include <filesystem>
#include <string>

namespace simtlab {

// The folder of the file that holds this code: simtlab's executable, or a shared library of ours in someone
// else's program. Links are followed. Empty if nobody can tell.
std::filesystem::path own_folder();
// Which build of a program or library holds the code at an address: its path, its size and when it was
// written. Empty if nobody can tell.
std::string build_of(const void* code);
std::string build_of_file(const std::filesystem::path& file);

}  // namespace simtlab
