#include "studies/sweep/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/shown.h"
#include "base/sizes.h"

namespace simtlab::studies::sweep {
namespace {

// Raised when the same text would mean other points. It means them since values may have a `--`.
constexpr int definition_number = 1, definition_with_dashes = 2;

void replace_all(std::string& word, const std::string& mark, const std::string& value) {
  for (std::size_t at = word.find(mark); at != std::string::npos; at = word.find(mark, at + value.size()))
    word.replace(at, mark.size(), value);
}

bool has_dashes(const Study& study) {
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    if (study.bindings[a] == Binding::words)
      for (const std::string& value : study.axes[a].values) {
        const std::vector<std::string> words = value_words(value);
        if (own_words(words).size() != words.size()) return true;
      }
  return false;
}

// A command that is put together word by word, in two parts.
class Words {
 public:
  // A word of the study's command: the first `--` parts it.
  void add(const std::string& word) {
    if (!behind_ && word == "--")
      behind_ = has_program_ = true;
    else
      (behind_ ? program_ : own_).push_back(word);
  }
  // Words of a value have a `--` of their own, which says nothing of what follows them in the command.
  void add_value(const std::vector<std::string>& words) {
    const bool before = behind_;
    for (const std::string& word : words) add(word);
    behind_ = before;
  }
  void add_option(std::string word) { own_.push_back(std::move(word)); }

  std::vector<std::string> take() {
    if (has_program_) own_.emplace_back("--");
    std::ranges::move(program_, std::back_inserter(own_));
    return std::move(own_);
  }

 private:
  std::vector<std::string> own_, program_;
  bool behind_ = false, has_program_ = false;
};

// A word of the command with the values in the place of their marks.
std::string filled(const Study& study, std::string word, const std::vector<std::string>& values) {
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    if (study.bindings[a] == Binding::placeholder || study.bindings[a] == Binding::words)
      replace_all(word, "{" + study.axes[a].name + "}", values[a]);
  return word;
}

}  // namespace

std::vector<std::string> value_words(const std::string& value) {
  std::vector<std::string> out;
  bool inside = false;
  for (const char c : value) {
    if (c == ' ')
      inside = false;
    else if (inside)
      out.back() += c;
    else
      out.emplace_back(1, c), inside = true;
  }
  return out;
}

std::span<const std::string> own_words(const std::vector<std::string>& words) {
  return std::span(words).first(static_cast<std::size_t>(std::ranges::find(words, "--") - words.begin()));
}

const std::vector<std::string>& design_names() {
  static const std::vector<std::string> names = {"cartesian", "zip", "random", "latin-hypercube"};
  return names;
}

std::string_view name_of(Design design) { return design_names()[static_cast<std::size_t>(design)]; }

Design parse_design(const std::string& text) {
  const auto found = std::ranges::find(design_names(), text);
  if (found != design_names().end()) return static_cast<Design>(found - design_names().begin());
  const std::string near = nearest_name(text.substr(0, 100), design_names());
  throw Error(
      ExitCode::bad_input, "sweep-design", fmt::format("there is no design '{}'", shown(text, 60)),
      near.empty() ? "cartesian, zip, random or latin-hypercube" : fmt::format("did you mean '{}'?", near));
}

std::string definition(const Study& study) {
  nlohmann::ordered_json out = {
      {"definition", has_dashes(study) ? definition_with_dashes : definition_number},
      {"command", study.command},
      {"folder", study.folder},
      {"design", name_of(study.design)}};
  if (study.points != 0) out["points"] = study.points;
  out["axes"] = nlohmann::ordered_json::array();
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    const Axis& axis = study.axes[a];
    nlohmann::ordered_json one = {{"name", axis.name}, {"binding", static_cast<int>(study.bindings[a])}};
    if (axis.range)
      one["range"] = {axis.range->from, axis.range->to, axis.range->whole, axis.range->log, axis.range->unit};
    else
      one["values"] = axis.values;
    out["axes"].push_back(std::move(one));
  }
  out["constraints"] = nlohmann::ordered_json::array();
  for (const Constraint& c : study.constraints) out["constraints"].push_back(c.text());
  out["repeats"] = study.repeats;
  out["seed"] = study.seed;
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<std::string> point_command(const Study& study, const std::vector<std::string>& values,
                                       std::uint64_t seed) {
  Words words;
  for (const std::string& word : study.command) {
    std::size_t whole = 0;  // the axis whose mark the word is
    while (whole < study.axes.size() &&
           !(study.bindings[whole] == Binding::words && word == "{" + study.axes[whole].name + "}"))
      ++whole;
    if (whole < study.axes.size())
      words.add_value(value_words(values[whole]));
    else
      words.add(filled(study, word, values));
  }
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    const std::string& name = study.axes[a].name;
    if (study.bindings[a] == Binding::option) words.add_option(fmt::format("--{}={}", name, values[a]));
    if (study.bindings[a] == Binding::setting)
      words.add_option("--set"), words.add_option(fmt::format("{}={}", name, with_unit(values[a])));
    if (study.bindings[a] == Binding::flag && values[a] == "true") words.add_option("--" + name);
  }
  Words seeded = words;
  std::vector<std::string> out = words.take();
  if (!study.takes_seed || !study.takes_seed(values, out)) return out;
  seeded.add_option(fmt::format("--seed={}", seed));
  return seeded.take();
}

}  // namespace simtlab::studies::sweep
