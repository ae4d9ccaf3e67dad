#include "sweep/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::sweep {
namespace {

constexpr int definition_number = 1;   // raised when the same text would mean other points

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  bool inside = false;
  for (const char c : text) {
    if (c == ' ') inside = false;
    else if (inside) out.back() += c;
    else out.emplace_back(1, c), inside = true;
  }
  return out;
}

void replace_all(std::string& word, const std::string& mark, const std::string& value) {
  for (std::size_t at = word.find(mark); at != std::string::npos; at = word.find(mark, at + value.size())) word.replace(at, mark.size(), value);
}

}  // namespace

const std::vector<std::string>& design_names() {
  static const std::vector<std::string> names = {"cartesian", "zip", "random", "latin-hypercube"};
  return names;
}

std::string_view name_of(Design design) { return design_names()[static_cast<std::size_t>(design)]; }

Design parse_design(const std::string& text) {
  const auto found = std::ranges::find(design_names(), text);
  if (found != design_names().end()) return static_cast<Design>(found - design_names().begin());
  const std::string near = nearest_name(text.substr(0, 100), design_names());
  throw Error(ExitCode::bad_input, "sweep-design", fmt::format("there is no design '{}'", shown(text, 60)),
              near.empty() ? "cartesian, zip, random or latin-hypercube" : fmt::format("did you mean '{}'?", near));
}

std::string definition(const Study& study) {
  nlohmann::ordered_json out = {{"definition", definition_number}, {"command", study.command}, {"folder", study.folder}, {"design", name_of(study.design)}};
  if (study.points != 0) out["points"] = study.points;
  out["axes"] = nlohmann::ordered_json::array();
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    const Axis& axis = study.axes[a];
    nlohmann::ordered_json one = {{"name", axis.name}, {"binding", static_cast<int>(study.bindings[a])}};
    if (axis.range) one["range"] = {axis.range->from, axis.range->to, axis.range->whole, axis.range->log, axis.range->unit};
    else one["values"] = axis.values;
    out["axes"].push_back(std::move(one));
  }
  out["constraints"] = nlohmann::ordered_json::array();
  for (const Constraint& c : study.constraints) out["constraints"].push_back(c.text());
  out["repeats"] = study.repeats;
  out["seed"] = study.seed;
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<std::string> point_command(const Study& study, const std::vector<std::string>& values, std::uint64_t seed) {
  std::vector<std::string> words, options;
  for (const std::string& word : study.command) {
    bool done = false;
    for (std::size_t a = 0; a < study.axes.size() && !done; ++a)
      if (study.bindings[a] == Binding::words && word == "{" + study.axes[a].name + "}") {
        std::ranges::copy(words_of(values[a]), std::back_inserter(words));
        done = true;
      }
    if (done) continue;
    std::string text = word;
    for (std::size_t a = 0; a < study.axes.size(); ++a)
      if (study.bindings[a] == Binding::placeholder || study.bindings[a] == Binding::words) replace_all(text, "{" + study.axes[a].name + "}", values[a]);
    words.push_back(std::move(text));
  }
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    const std::string& name = study.axes[a].name;
    if (study.bindings[a] == Binding::option) options.push_back(fmt::format("--{}={}", name, values[a]));
    if (study.bindings[a] == Binding::setting) options.insert(options.end(), {"--set", fmt::format("{}={}", name, values[a])});
    if (study.bindings[a] == Binding::flag && values[a] == "true") options.push_back("--" + name);
  }
  if (study.takes_seed) options.push_back(fmt::format("--seed={}", seed));
  words.insert(std::ranges::find(words, "--"), options.begin(), options.end());
  return words;
}

}  // namespace simtlab::sweep
