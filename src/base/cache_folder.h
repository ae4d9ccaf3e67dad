// Where simtlab keeps what it made once and may need again.
#pragma once

#include <filesystem>

namespace simtlab {

// $SIMTLAB_CACHE, else $XDG_CACHE_HOME/simtlab, else ~/.cache/simtlab, else a folder of this user in the
// system's temporary folder.
std::filesystem::path default_cache();

}  // namespace simtlab
