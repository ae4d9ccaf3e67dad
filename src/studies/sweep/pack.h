#pragma once

#include <string>
#include <string_view>

namespace simtlab::studies::sweep {

// zstd. `file` is for messages; throws Error(bad_input, "sweep-database") if the bytes are broken or longer
// than a result may be.
std::string packed(std::string_view text);
std::string unpacked(std::string_view bytes, const std::string& file);

}  // namespace simtlab::studies::sweep
