// Members of a kernel in the result file that only observed runs have.
#pragma once

#include <string>

#include "result/beside.h"
#include "result/profile.h"

namespace simtlab::result {

// ",\n      \"profile\": {...}" and the like; empty if the run observed none of it.
std::string profile_json(const Profile& profile);
// beside: null, or takes rows that are too many, by the name `prefix`.
std::string series_json(const Series& series, const std::string& prefix, Beside* beside);
// The text that stands in the JSON in place of rows that are beside it.
std::string rows_beside(const std::string& prefix, std::size_t rows);

}  // namespace simtlab::result
