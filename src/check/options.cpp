#include "check/options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::check {
namespace {

struct Named {
  std::string_view name;
  bool Options::*field;
};
constexpr auto checks = std::to_array<Named>({{"memory", &Options::memory},
                                              {"races", &Options::races},
                                              {"init", &Options::init},
                                              {"barriers", &Options::barriers},
                                              {"leaks", &Options::leaks},
                                              {"api", &Options::api},
                                              {"numbers", &Options::numbers},
                                              {"coverage", &Options::coverage}});

[[noreturn]] void unknown(std::string_view word) {
  std::string names;
  for (const Named& n : checks) names += fmt::format("{}{}", names.empty() ? "" : ", ", n.name);
  throw Error(ExitCode::usage, "option-value", fmt::format("{} is no check", shown(std::string(word), 60)),
              "checks are " + names);
}

}  // namespace

std::vector<std::string> Options::names() const {
  std::vector<std::string> out;
  for (const Named& n : checks)
    if (this->*n.field) out.emplace_back(n.name);
  return out;
}

Options parse_options(std::string_view text) {
  Options out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (word.starts_with("explore=")) {
      const std::string_view number = word.substr(8);
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.explore);
      if (error != std::errc{} || end != number.data() + number.size() || out.explore > 100000) unknown(word);
      continue;
    }
    if (word.starts_with("order=")) {
      out.order = word.substr(6);
      if (out.order.empty() || out.order.size() > 18 ||
          out.order.find_first_not_of("0123456789") != std::string::npos)
        unknown(word);
      continue;
    }
    bool known = false;
    for (const Named& n : checks) {
      if (word != n.name) continue;
      out.*n.field = known = true;
    }
    if (!known) unknown(word);
  }
  return out;
}

}  // namespace simtlab::check
