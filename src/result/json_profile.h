// Members of a kernel in the result file that only observed runs have.
#pragma once

#include <string>

#include "result/profile.h"

namespace simtlab::result {

// ",\n      \"profile\": {...}" and the like; empty for what was not observed.
std::string profile_json(const Profile& profile);
std::string series_json(const Series& series);

}  // namespace simtlab::result
