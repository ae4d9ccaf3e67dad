// Sizes as people write them in ranges: 16K, 128K.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab {

// "16K" as a whole number of at most 2^53, or nothing. scaled: it has a K, M or G.
std::optional<std::uint64_t> whole_number(std::string_view text, bool& scaled);
// kilo: in units of 1024 where it is a multiple.
std::string short_size(std::uint64_t n, bool kilo);
// "16K" as the data files write it: 16 KiB. All else stays.
std::string with_unit(std::string value);
// 16K, 32K, ... up to `last`. understood: both are numbers above 0.
std::vector<std::string> parse_doublings(const std::string& first, const std::string& last, bool& understood);

}  // namespace simtlab
