#include "studies/corun/mix_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/error.h"
#include "base/shown.h"
#include "corun/fast_host.h"
#include "studies/common/output.h"

namespace simtlab::studies {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

}  // namespace

void add_mix_choice(Command& corun, MixChoice& o) {
  corun
      .add_option("--policy", o.policies,
                  "Policies to compare (default mps,shark); mps is always the reference of speed-ups")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->one_at_a_time();
  corun
      .add_option("--limit", o.limits,
                  "Launches on the GPU at a time (default: half of the applications of a mix)")
      ->delimiter(',')
      ->check(in_range(1, 1 << 20))
      ->type_name("N,...")
      ->one_at_a_time();
  corun.add_option("--mix", o.mixes, "A mix: applications of the profiles; may be repeated")
      ->check(not_empty())
      ->type_name("APP,APP,...")
      ->one_at_a_time();
  corun.add_option("--mixes", o.count, "Random mixes of each size (default 30)")
      ->check(in_range(1, 100000))
      ->type_name("N");
  corun.add_option("--size", o.sizes, "Applications of a random mix (default 8)")
      ->delimiter(',')
      ->check(in_range(1, 1024))
      ->type_name("N,...")
      ->one_at_a_time();
  corun.add_option("--seed", o.seed, "Of random mixes (default 1)")->type_name("N");
}

void add_priorities(Command& corun, MixChoice& o) {
  corun.add_option("--priority", o.priorities, "Of an application, for policy priority; may be repeated")
      ->check(not_empty())
      ->type_name("APP=N")
      ->one_at_a_time();
}

void check_mix_choice(const MixChoice& o) {
  if (!o.mixes.empty() && (o.count || !o.sizes.empty() || o.seed))
    throw Error(ExitCode::usage, "option-conflict",
                "--mix names the applications; --mixes, --size and --seed draw them", "one or the other");
}

std::vector<std::pair<std::string, std::int32_t>> priorities_of(
    const MixChoice& o, const std::vector<std::string>& applications) {
  std::vector<std::pair<std::string, std::int32_t>> out;
  for (const std::string& text : o.priorities) {
    const std::size_t equals = text.rfind('=');
    std::int32_t value = 0;
    const char* const end = text.data() + text.size();
    if (equals == std::string::npos || std::from_chars(text.data() + equals + 1, end, value).ptr != end ||
        equals + 1 == text.size())
      throw Error(ExitCode::usage, "option-value",
                  fmt::format("--priority {} is not of the form APPLICATION=NUMBER", shown(text)),
                  "for example --priority HW=1");
    if (std::ranges::find(applications, text.substr(0, equals)) == applications.end())
      throw Error(ExitCode::usage, "option-value",
                  fmt::format("--priority: there is no application {}", shown(text.substr(0, equals))));
    out.emplace_back(text.substr(0, equals), value);
  }
  return out;
}

Groups mixes_of(const MixChoice& o, const std::vector<std::string>& names) {
  Groups out;
  if (!o.mixes.empty()) {
    // Mixes of different sizes are judged on their own.
    for (const std::string& text : o.mixes) {
      const std::vector<std::string> mix = split(text);
      if (std::ranges::find(mix, std::string()) != mix.end())
        throw Error(ExitCode::usage, "option-value", fmt::format("--mix {}: a name is empty", shown(text)),
                    "names of applications with a comma between them: --mix HW,BH");
      const auto same =
          std::ranges::find_if(out, [&](const auto& group) { return group.front().size() == mix.size(); });
      if (same == out.end())
        out.push_back({mix});
      else
        same->push_back(mix);
    }
    return out;
  }
  if (names.empty())
    throw Error(ExitCode::bad_input, "corun-profiles", "the profiles have no applications to draw mixes from",
                "an [[application]] names its sequence of kernels");
  std::vector<std::size_t> sizes = o.sizes;
  if (sizes.empty()) sizes = {8};
  for (const std::size_t size : sizes)
    out.push_back(corun::random_mixes(names, o.count.value_or(30), size, o.seed.value_or(1)));
  return out;
}

std::vector<std::uint32_t> limits_of(const MixChoice& o, std::size_t size) {
  if (o.limits.empty()) return {static_cast<std::uint32_t>((size + 1) / 2)};
  // An application has one launch at a time: a limit above their number is never reached.
  std::vector<std::uint32_t> out;
  std::ranges::copy_if(o.limits, std::back_inserter(out), [&](std::uint32_t limit) { return limit <= size; });
  return out;
}

void check_limits(const MixChoice& o, const Groups& groups, bool quiet) {
  std::string left_out;
  constexpr std::size_t most_shown = 8;
  std::size_t count = 0;
  bool any = false;
  for (const auto& group : groups) {
    const std::size_t size = group.front().size();
    any = any || !limits_of(o, size).empty();
    for (const std::uint32_t limit : o.limits)
      if (limit > size && ++count <= most_shown)
        left_out += fmt::format("{}{} for {}", left_out.empty() ? "" : ", ", limit, size);
  }
  if (!any)
    throw Error(ExitCode::usage, "option-conflict",
                "every --limit is above the number of applications of a mix, which have one launch at a time "
                "each: there is nothing to limit",
                "a limit up to the size of the mix");
  if (count > most_shown) left_out += fmt::format(" and {} more", count - most_shown);
  if (!left_out.empty() && !quiet)
    talk(fmt::format("note: a limit above the number of applications is never reached and was left out: {}\n",
                     left_out));
}

}  // namespace simtlab::studies
