// What `simtlab check` looks for, as text in the options of a run: "memory,races,explore=8".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::check {

struct Options {
  bool memory = false, races = false, init = false, barriers = false, leaks = false, api = false,
       numbers = false, coverage = false;
  std::uint64_t explore = 0;  // other orders to be tried, a launch
  std::string order;          // the seed of one; empty: the usual order
  bool any() const { return memory || races || init || barriers || leaks || api || numbers || coverage; }
  std::vector<std::string> names() const;
};

// Throws Error(usage "option-value") for a word that names no check.
Options parse_options(std::string_view text);

}  // namespace simtlab::check
