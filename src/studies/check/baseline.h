// Findings that were there when somebody began to check: only new ones fail.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/check.h"

namespace simtlab::studies {

// The fingerprints. Throws Error(bad_input): "check-baseline", "toml-syntax", and as read_file.
std::set<std::string> read_baseline(const std::string& file);
std::set<std::string> baseline_from(std::string_view text, const std::string& file);

// All findings that are not suppressed, as such a file: sorted, so that versions of it compare well.
std::string baseline_of(const report::CheckReport& report);

}  // namespace simtlab::studies
