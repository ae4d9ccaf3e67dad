// What was found so far: each place, or pair of places, once.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "check/places.h"
#include "check/races.h"
#include "result/findings.h"

namespace simtlab::check {

struct CheckedFunction;

struct InstructionAt {
  const CheckedFunction* function = nullptr;
  std::uint32_t pc = 0;
  auto operator<=>(const InstructionAt&) const = default;
};

// Two instructions that race, for those who try to mend it.
struct Conflict {
  InstructionAt later, earlier;
  Race::Why why = Race::Why::unordered;
  bool same_block = false, same_warp = false, same_instruction = false;
};

class Findings {
 public:
  // An instruction of a kernel, and another one it is in conflict with.
  using Where = InstructionAt;
  // Null: there is one for these lines of the source, which has been counted once more. Else a finding to be
  // filled in.
  result::Finding* add(const char* rule, Where place, Where other = {});
  // The same of what has no place in the code.
  result::Finding* add(const char* rule, const std::string& what);
  // Of the finding that was added last.
  void set_conflict(const Conflict& conflict) { conflicts_[all_.size() - 1] = conflict; }
  const std::map<std::size_t, Conflict>& conflicts() const { return conflicts_; }  // by finding
  result::Finding* first_number(std::string_view rule) {
    for (result::Finding& f : all_)
      if (f.rule == rule) return &f;
    return nullptr;
  }
  const std::vector<result::Finding>& all() const { return all_; }
  std::vector<result::Finding>& all() { return all_; }
  void gap(const std::string& sentence);
  const std::vector<std::string>& gaps() const { return gaps_; }
  Sources& sources() { return sources_; }

 private:
  std::map<std::tuple<const char*, Where, Where>, std::size_t> known_;  // by instruction: quickly found
  std::map<std::string, std::size_t> by_line_;
  std::vector<result::Finding> all_;
  std::map<std::size_t, Conflict> conflicts_;
  std::vector<std::string> gaps_;
  Sources sources_;
};

}  // namespace simtlab::check
