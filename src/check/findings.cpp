#include "check/findings.h"

#include <algorithm>

namespace simtlab::check {

result::Finding* Findings::add(const std::string& rule, const void* place, const void* other,
                               const std::string& more) {
  const auto [at, fresh] = known_.try_emplace({rule, place, other, more}, all_.size());
  if (!fresh) {
    ++all_[at->second].count;
    return nullptr;
  }
  result::Finding& out = all_.emplace_back();
  out.rule = rule;
  return &out;
}

void Findings::gap(const std::string& sentence) {
  if (std::ranges::find(gaps_, sentence) == gaps_.end()) gaps_.push_back(sentence);
}

}  // namespace simtlab::check
