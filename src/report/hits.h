// A hit rate in words: the one text that every printer uses.
#pragma once

#include <string>

#include "result/hit_rate.h"

namespace simtlab::report {

// "75.0 % hits", "50.0 % hits + 37.5 % pending", "no reads".
std::string format_hits(const result::HitRate& rate);
std::string format_hits(const result::Metrics& metrics, const std::string& level);

}  // namespace simtlab::report
