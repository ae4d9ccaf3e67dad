#include "check/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/checker.h"

namespace simtlab::check {
namespace {

std::string line_of(const Findings::Where& where) {
  if (where.function == nullptr) return {};
  const ptx::Inst& inst = where.function->function->code[where.pc];
  const auto file = where.function->module->files.find(inst.file);
  const bool source = inst.source_line != 0 && file != where.function->module->files.end();
  return source ? fmt::format("{}:{}", file->second, inst.source_line)
                : fmt::format("{}:{}", where.function->module->name, inst.line);
}

}  // namespace

result::Finding* Findings::add(const char* rule, const std::string& what) {
  const auto [at, fresh] = by_line_.try_emplace(fmt::format("{} {}", rule, what), all_.size());
  if (!fresh) {
    ++all_[at->second].count;
    return nullptr;
  }
  result::Finding& out = all_.emplace_back();
  out.rule = rule;
  return &out;
}

result::Finding* Findings::add(const char* rule, Where place, Where other) {
  if (other < place) std::swap(place, other);
  const auto [at, fresh] = known_.try_emplace({rule, place, other}, 0);
  if (!fresh) {
    ++all_[at->second].count;
    return nullptr;
  }
  std::string a = line_of(place), b = line_of(other);
  if (b < a) std::swap(a, b);
  const std::string key = fmt::format("{} {} {}", rule, a, b);
  result::Finding* const out = add(rule, fmt::format("{} {}", a, b));
  at->second = by_line_.at(key);
  return out;
}

void Findings::gap(const std::string& sentence) {
  if (std::ranges::find(gaps_, sentence) == gaps_.end()) gaps_.push_back(sentence);
}

}  // namespace simtlab::check
