// What was found so far: each place, or pair of places, once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "check/places.h"
#include "result/findings.h"

namespace simtlab::check {

class Findings {
 public:
  // What makes a finding another one: its rule, and what it happened at.
  using Key = std::tuple<std::string, const void*, const void*, std::string>;

  // Null: it is known, and has been counted once more. Else a finding to be filled in.
  result::Finding* add(const std::string& rule, const void* place, const void* other = nullptr,
                       const std::string& more = {});
  const std::vector<result::Finding>& all() const { return all_; }
  std::vector<result::Finding>& all() { return all_; }
  void gap(const std::string& sentence);
  const std::vector<std::string>& gaps() const { return gaps_; }
  Sources& sources() { return sources_; }

 private:
  std::map<Key, std::size_t> known_;
  std::vector<result::Finding> all_;
  std::vector<std::string> gaps_;
  Sources sources_;
};

}  // namespace simtlab::check
