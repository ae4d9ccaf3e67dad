// Options of the models, as a command line names them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/shown.h"
#include "models/model.h"
#include "models/resios_simulation.h"

namespace simtlab::models {
namespace {

using R = ResiosOptions;

struct Number {
  std::string_view name, values, doc;
  double minimum, maximum;
  bool whole;
  double R::*member;
};
constexpr Number numbers[] = {
    {"compute-units", "1 to 1024, default 1",
     "Warps of an SM that compute at once; each has the whole rate of the machine", 1, 1024, true,
     &R::compute_units},
    {"memory-units", "1 to 1024, default 1",
     "Warps of an SM that are at memory at once; each has the whole bandwidth of the SM", 1, 1024, true,
     &R::memory_units},
    {"resident-warps", "0 to 4096, default 0",
     "Warps that an SM holds at most, in whole blocks; 0: as many as the launch allows", 0, 4096, true,
     &R::resident_warps},
    {"resident-blocks", "0 to 1024, default 0",
     "Blocks that an SM holds at most; 0: as many as the launch allows", 0, 1024, true, &R::resident_blocks},
    {"warps", "1 to 100000, default 256",
     "Warps of an SM that are simulated at most, in whole blocks; the others take as long", 1, 1e5, true,
     &R::warps},
    {"max-p", "0.1 to 1024, default 8", "Accesses at once above which memory works at its bandwidth", 0.1,
     1024, false, &R::max_p},
    {"max-i", "0 to 1024, default 0",
     "Operations at once above which a compute unit works at its rate; 0: latency * throughput / warp size",
     0, 1024, false, &R::max_i},
    {"bank-bandwidth", "0.1 to 1024 bytes/cycle, default 4", "Bandwidth of a bank of shared memory", 0.1,
     1024, false, &R::bank_bandwidth},
};

constexpr ResiosParameter words[] = {
    {"queue", "fifo (default), lifo, oldest, shortest, longest",
     "Which of the waiting warps a unit takes next"},
    {"fma", "one (default), two",
     "Instructions of a fused multiply-add; the front end of the thesis sees two"},
    {"copies", "fit (default), device",
     "Time of a copy: the thesis's fit of PCIe 2.0, or bandwidth and latency of the device"},
};

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error(ExitCode::usage, "predict-option", "--resios: " + std::move(message), std::move(hint));
}

void set_number(R& r, const Number& n, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= n.minimum) ||
      !(value <= n.maximum) || (n.whole && value != std::floor(value)))
    refuse(fmt::format("{} is no value of {}", shown(std::string(text)), n.name),
           fmt::format("{}: {}", n.name, n.values));
  r.*n.member = value;
}

void set_word(R& r, std::string_view name, std::string_view text) {
  const auto is = [&](std::string_view word) { return name == word; };
  if (is("queue")) {
    const auto found = std::ranges::find(resios::order_names, text);
    if (found != std::end(resios::order_names)) {
      r.order = static_cast<std::size_t>(found - std::begin(resios::order_names));
      return;
    }
  } else if (is("fma") && (text == "one" || text == "two")) {
    r.split_fma = text == "two";
    return;
  } else if (is("copies") && (text == "fit" || text == "device")) {
    r.fitted_copies = text == "fit";
    return;
  }
  refuse(fmt::format("{} is no value of {}", shown(std::string(text)), name),
         fmt::format("{}: {}", name, std::ranges::find(words, name, &ResiosParameter::name)->values));
}

void set(R& r, std::string_view one) {
  const std::size_t equal = std::min(one.find('='), one.size());
  const std::string_view name = one.substr(0, equal),
                         value = equal < one.size() ? one.substr(equal + 1) : std::string_view();
  std::vector<std::string> names;
  for (const ResiosParameter& p : resios_parameters()) names.emplace_back(p.name);
  if (std::ranges::find(names, name) == names.end()) {
    const std::string near = nearest_name(std::string(name.substr(0, 100)), names);
    refuse(fmt::format("the model has no parameter {}", shown(std::string(name))),
           near.empty() ? fmt::format("NAME=VALUE with commas between, of {}", fmt::join(names, ", "))
                        : fmt::format("did you mean '{}'?", near));
  }
  if (equal == one.size())
    refuse(fmt::format("{} has no value", name), fmt::format("{}=VALUE, for example memory-units=8", name));
  if (const auto n = std::ranges::find(numbers, name, &Number::name); n != std::end(numbers))
    set_number(r, *n, value);
  else
    set_word(r, name, value);
}

}  // namespace

std::vector<ResiosParameter> resios_parameters() {
  std::vector<ResiosParameter> out;
  for (const Number& n : numbers) out.push_back({n.name, n.values, n.doc});
  out.insert(out.begin() + 5, words[0]);  // with the others of the simulation
  out.insert(out.end(), words + 1, std::end(words));
  return out;
}

Options parse_options(std::string_view rule, std::string_view resios) {
  Options out;
  out.rule = rule == "paper" ? Rule::paper : Rule::order;
  while (!resios.empty()) {
    const std::size_t comma = std::min(resios.find(','), resios.size());
    set(out.resios, resios.substr(0, comma));
    resios.remove_prefix(std::min(comma + 1, resios.size()));
  }
  return out;
}

}  // namespace simtlab::models
