// What two studies differ in, in words.
#pragma once

#include <string>
#include <vector>

namespace simtlab::studies::sweep {

// there, here: definitions (study.h). Sentences as "axis 'gpu' has v100, a100 there and v100, h100 here";
// none: the same points. Values that differ in blanks alone ("8 MiB", "8MiB") are the same.
std::vector<std::string> differences(const std::string& there, const std::string& here);

}  // namespace simtlab::studies::sweep
