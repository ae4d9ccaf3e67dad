#include "device/policy_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace simtlab::device {
namespace {

template <class Enum>
using Known = std::span<const std::pair<std::string_view, Enum>>;

constexpr std::array<std::pair<std::string_view, Replacement>, 6> replacements = {
    {{"lru", Replacement::lru},
     {"fifo", Replacement::fifo},
     {"random", Replacement::random},
     {"plru", Replacement::plru},
     {"lfu", Replacement::lfu},
     {"mfu", Replacement::mfu}}};
constexpr std::array<std::pair<std::string_view, SetIndex>, 5> set_indexes = {{{"modulo", SetIndex::modulo},
                                                                               {"hash", SetIndex::hash},
                                                                               {"xor", SetIndex::xor_fold},
                                                                               {"fermi", SetIndex::fermi},
                                                                               {"bits", SetIndex::bits}}};
constexpr std::array<std::pair<std::string_view, Scheduler>, 4> schedulers = {
    {{"lrr", Scheduler::lrr},
     {"gto", Scheduler::gto},
     {"oldest", Scheduler::oldest},
     {"two_level", Scheduler::two_level}}};

// The value of a name that the code does not speak of: this, and its place in the list
constexpr std::size_t first_other = 64;

template <class Policy>
PolicyValues<Policy> values(std::span<const std::string_view> names, Known<Policy> known) {
  SIMTLAB_ASSERT(names.size() <= 256 - first_other, "every policy has a value");
  PolicyValues<Policy> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = std::ranges::find(known, names[i], [](const auto& entry) { return entry.first; });
    out.emplace_back(names[i], found != known.end() ? found->second : static_cast<Policy>(first_other + i));
  }
  return out;
}

template <class Policy>
std::string_view name(Policy value) {
  for (const auto& [text, named] : names_of(&value))
    if (named == value) return text;
  assertion_failed("named", __FILE__, __LINE__, "a policy has a name");
}

}  // namespace

PolicyValues<Replacement> names_of(const Replacement*) {
  return values<Replacement>(replacement_names(), replacements);
}
PolicyValues<SetIndex> names_of(const SetIndex*) { return values<SetIndex>(set_index_names(), set_indexes); }
PolicyValues<Scheduler> names_of(const Scheduler*) {
  return values<Scheduler>(scheduler_names(), schedulers);
}

std::string_view name_of(Replacement value) { return name(value); }
std::string_view name_of(SetIndex value) { return name(value); }
std::string_view name_of(Scheduler value) { return name(value); }

}  // namespace simtlab::device
