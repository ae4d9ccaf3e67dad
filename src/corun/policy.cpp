#include "corun/policy.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::corun {

const Policy* find_policy(std::string_view name) {
  for (const Policy* p : policies())
    if (p->name == name) return p;
  return nullptr;
}

const Policy& policy(std::string_view name) {
  if (const Policy* found = find_policy(name)) return *found;
  std::vector<std::string> names;
  for (const Policy* p : policies()) names.emplace_back(p->name);
  const std::string near = nearest_name(std::string(name), names);
  throw Error(ExitCode::usage, "corun-policy", fmt::format("there is no policy \"{}\"", shown(name)),
              near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                           : fmt::format("did you mean {}?", near));
}

bool looks_at(const Policy& policy, std::string_view option) {
  return fmt::format(" {} ", policy.options).find(fmt::format(" {} ", option)) != std::string::npos;
}

unsigned known_of(const Profile* profile) {
  if (profile == nullptr) return knows_nothing;
  return (profile->time_ns ? knows_time : 0u) | (profile->l2_bandwidth ? knows_l2 : 0u) |
         (profile->dram_bandwidth ? knows_dram : 0u) | (profile->memory_stall ? knows_stalls : 0u);
}

std::string knowledge_text(unsigned values) {
  std::vector<std::string> out;
  if ((values & knows_time) != 0) out.emplace_back("time");
  if ((values & knows_l2) != 0) out.emplace_back("L2 bandwidth");
  if ((values & knows_dram) != 0) out.emplace_back("DRAM bandwidth");
  if ((values & knows_stalls) != 0) out.emplace_back("memory stalls");
  return fmt::format("{}", fmt::join(out, ", "));
}

void Grants::reset(const View& view) {
  waiting_ = view.waiting;
  limit_ = view.settings->limit;
  free_ = limit_ > view.used ? limit_ - view.used : 0;
  taken_.assign(view.waiting.size(), 0);
  chosen_.clear();
}

bool Grants::take(std::size_t waiting) {
  const std::uint32_t slots = slots_of(waiting_[waiting]);
  if (slots > free_ || taken_[waiting] != 0) return false;
  taken_[waiting] = 1;
  free_ -= slots;
  chosen_.push_back(static_cast<std::uint32_t>(waiting));
  return true;
}

}  // namespace simtlab::corun
