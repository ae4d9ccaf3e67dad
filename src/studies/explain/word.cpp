// A word can be a metric, a stall reason, an error, a rule of `check`, a deviation, an exit code, a key of a
// data file or one of its values, a policy, a model, a limit to lift, a probe, a device, a command, an
// option, or what another tool calls one of these. Each kind has a function below that prints what it knows
// of the word; `kinds` lists the functions in the order of printing.
#include "studies/explain/word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "device/op_class.h"
#include "device/parameters.h"
#include "report/glossary.h"
#include "result/findings.h"
#include "result/metrics.h"
#include "studies/explain/exit_codes.h"
#include "studies/explain/kinds.h"

namespace simtlab::studies::wordbook {

std::string field(std::string_view label, std::string_view text) {
  constexpr std::size_t width = 100;
  return text.empty() ? "" : fmt::format("  {:<10} {}\n", label, report::wrapped(text, width, 13));
}

std::string title(std::string_view word, std::string_view kind) {
  return fmt::format("{}: {}\n", word, kind);
}

std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && std::string_view(".!?`").find(out.back()) == std::string_view::npos) out += '.';
  return out;
}

namespace {

// ---- metrics

std::string unit_in_words(const result::MetricDeclaration& m) {
  static const std::map<std::string_view, std::string_view> words = {
      {"ns", "ns (nanoseconds)"},
      {"s", "s (seconds)"},
      {"cycles", "cycles (of the clock that the meaning names; else of the SMs)"},
      {"bytes/s", "bytes/s (bytes per second)"},
      {"1/s", "1/s (per second)"},
      {"1/cycle", "1/cycle (per clock cycle)"},
      {"1/byte", "1/byte (per byte)"},
      {"nJ", "nJ (nanojoules)"},
      {"W", "W (watts)"},
  };
  const auto found = words.find(m.unit);
  if (found != words.end()) return std::string(found->second);
  if (m.unit != "1") return std::string(m.unit);
  if (m.doc.starts_with("Share of")) return "1 (a share, from 0 to 1)";
  if (m.combine == result::Combine::sum) return "1 (a count)";
  if (m.combine == result::Combine::weighted) return "1 (a ratio, or a mean of counts)";
  return "1 (a number without a unit)";
}

std::string_view scope_in_words(std::string_view scope) {
  if (scope == "kernel") return "kernel (a value of each launch; of all launches under `total` of the JSON)";
  if (scope == "total") return "total (one value of the whole run)";
  return "host (the simulator itself; differs between equal runs)";
}

// What is in the class of instructions.CLASS; empty for other metrics.
std::string_view operations_of(std::string_view metric) {
  constexpr std::string_view family = "instructions.";
  if (!metric.starts_with(family)) return {};
  const auto found = std::ranges::find(device::op_class_names, metric.substr(family.size()));
  if (found == device::op_class_names.end()) return {};
  return device::op_class_traits[static_cast<std::size_t>(found - device::op_class_names.begin())].operations;
}

std::string metric_text(const std::string& name, const result::MetricDeclaration& m) {
  std::string out = title(name, "metric");
  out += field("meaning", m.doc);
  out += field("operations", operations_of(name));
  out += field("unit", unit_in_words(m));
  out += field("scope", scope_in_words(m.scope));
  out += field("formula", m.formula);
  if (m.name != name) out += field("family", m.name);
  out += field("elsewhere", m.aliases);
  if (m.combine == result::Combine::weighted)
    out += field("in totals", fmt::format("mean of the launches, weighted by {}", m.weight));
  else if (m.combine == result::Combine::sum)
    out += field("in totals", "sum of the launches");
  else if (m.combine == result::Combine::max)
    out += field("in totals", "maximum of the launches");
  return out;
}

std::string metric(const std::string& word) {
  const result::MetricDeclaration* const m = result::find_metric(word);
  if (m == nullptr) return {};
  const bool known_reason = report::find_term(report::stall_reasons(),
                                              word.substr(std::min<std::size_t>(6, word.size()))) != nullptr;
  if (word.starts_with("stall.") && m->name != word && !known_reason) return {};
  return metric_text(word, *m);
}

// Whether `name` is one of the names in "nvprof: a; ncu: 1 - b / 100". Words without an underscore have to be
// all that stands behind the colon.
bool is_alias(std::string_view aliases, std::string_view name) {
  constexpr std::string_view separators = " ,;";
  for (std::size_t at = aliases.find(name); at != std::string_view::npos && !name.empty();
       at = aliases.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at < 2 || aliases[at - 1] != ' ') continue;
    if (end < aliases.size() && separators.find(aliases[end]) == std::string_view::npos) continue;
    const bool whole = aliases[at - 2] == ':' && (end == aliases.size() || aliases[end] == ';');
    if (name.find('_') != std::string_view::npos || whole) return true;
  }
  return false;
}

// What other tools call a metric (docs/guide/migration.md).
std::string foreign_metric(const std::string& word) {
  std::string out;
  for (const result::MetricDeclaration& m : result::registry())
    if (is_alias(m.aliases, word)) out += metric_text(std::string(m.name), m);
  return out;
}

// "l1", "occupancy": the metrics and keys whose names begin so.
std::string group(const std::string& word) {
  const std::string prefix = word + ".";
  std::vector<std::string> metrics, keys;
  for (const result::MetricDeclaration& m : result::registry())
    if (m.name.starts_with(prefix)) metrics.emplace_back(m.name);
  for (const device::Parameter& p : device::parameters())
    if (p.key.starts_with(prefix)) keys.push_back(p.key);
  if (metrics.empty() && keys.empty()) return {};
  return title(word, "group of names") + field("metrics", fmt::format("{}", fmt::join(metrics, ", "))) +
         field("parameters", fmt::format("{}", fmt::join(keys, ", "))) +
         field("what to do", "Ask for one of these names: `simtlab explain " +
                                 (metrics.empty() ? keys : metrics).front() + "`.");
}

// ---- terms of the reports

std::string term_text(std::string_view kind, const report::Term& t) {
  return title(t.name, kind) + field("meaning", t.meaning) + field("what to do", t.remedy);
}

std::string stall_reason(const std::string& word) {
  const report::Term* const t =
      report::find_term(report::stall_reasons(), word.starts_with("stall.") ? word.substr(6) : word);
  return t == nullptr ? "" : term_text("stall reason", *t);
}

std::string error(const std::string& word) {
  const report::Term* const t = report::find_term(report::error_ids(), word);
  return t == nullptr ? "" : term_text("error", *t);
}

std::string check_rule(const std::string& word) {
  const result::FindingRule* const rule = result::find_finding_rule(word);
  if (rule == nullptr) return {};
  return title(rule->id, "finding of simtlab check") + field("meaning", sentence(rule->title)) +
         field("level", rule->level == result::Level::error ? "error" : "warning") +
         field("what to do", rule->help) + field("check", fmt::format("--checks {}", rule->check));
}

std::string deviation(const std::string& word) {
  const report::Term* const t = report::find_term(report::deviations(), word);
  return t == nullptr ? "" : term_text("deviation from real hardware", *t);
}

std::string exit_code(const std::string& word) {
  std::string out;
  for (const ExitCodeText& e : exit_codes())
    if (word == fmt::format("{}", e.code) || word == e.name)
      out += title(fmt::format("exit code {} ({})", e.code, e.name), "how a command ended") +
             field("meaning", sentence(e.meaning));
  return out;
}

// ---- the command line

void collect_options(const Command& at, const std::string& word,
                     std::vector<std::pair<std::string, std::vector<std::string>>>& out) {
  for (const Option& o : at.documented_options()) {
    if (o.positional() || !o.named(word)) continue;
    std::string text = field("value", o.value()) + field("meaning", sentence(o.text));
    const auto same = std::ranges::find(out, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (same == out.end())
      out.push_back({std::move(text), {at.path()}});
    else
      same->second.push_back(at.path());
  }
  for (const Command& below : at.commands()) collect_options(below, word, out);
}

// An option, with one entry for all commands that say it in equal words.
std::string option(const Command& tool, const std::string& word) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  collect_options(tool, word.starts_with("-") ? word : "--" + word, found);
  std::string out;
  for (const auto& [text, commands] : found)
    out += title(word.starts_with("-") ? word : "--" + word, "option") + text +
           field("of", fmt::format("{}", fmt::join(commands, ", ")));
  return out;
}

std::string command(const Command& tool, const std::string& word) {
  const Command* const c = tool.find_command(word);
  if (c == nullptr) return {};
  return title(c->path(), "command") +
         field("meaning", sentence(c->description().substr(0, c->description().find("\n\n")))) +
         field("see it", fmt::format("`{} --help`", c->path()));
}

// Options and names of other tools, from the tables of docs/guide/migration.md.
std::string foreign_name(const std::string& word) {
  std::string out;
  const std::string bare = word.starts_with("-gpgpu") || word.starts_with("-ptx") ? word.substr(1) : word;
  for (const report::Term& t : report::foreign_names())
    if (t.name == bare)
      out +=
          title(bare, "name of another tool") + field("there", t.remedy) +
          field("here", sentence(t.meaning)) +
          field("more", "docs/guide/migration.md has options, files and metrics of other tools beside ours.");
  return out;
}

// An abbreviation that metrics say in brackets: "Average normalised turnaround time (ANTT) by ...".
std::string abbreviation(const std::string& word) {
  std::string upper = word;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out;
  for (const result::MetricDeclaration& m : result::registry())
    if (m.doc.find("(" + upper + ")") != std::string_view::npos) out += metric_text(std::string(m.name), m);
  return out;
}

using Kind = std::string (*)(const std::string&);
constexpr Kind kinds[] = {stall_reason, metric,     key,       policy, sharing,    value_of_a_key, model,
                          limit,        probe_kind, data_file, error,  check_rule, deviation,      exit_code};
// Only for words that mean nothing here.
constexpr Kind foreign_kinds[] = {foreign_name, foreign_metric};

void add_option_names(const Command& at, std::set<std::string>& out) {
  for (const Option& o : at.documented_options())
    for (const std::string& name : o.long_) out.insert("--" + name);
  for (const Command& below : at.commands()) add_option_names(below, out);
}

}  // namespace

}  // namespace simtlab::studies::wordbook

namespace simtlab::studies {

std::string explained(const Command& tool, const std::string& word) {
  std::string out;
  for (const wordbook::Kind kind : wordbook::kinds) out += kind(word);
  out += wordbook::command(tool, word) + wordbook::option(tool, word) + wordbook::group(word);
  if (!out.empty()) return out;
  for (const wordbook::Kind kind : wordbook::foreign_kinds) out += kind(word);
  if (out.empty()) out = wordbook::abbreviation(word);
  if (!out.empty()) return out;
  // Names of ours are small letters: SHARK is shark.
  std::string small = word;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small == word ? out : explained(tool, small);
}

std::vector<std::string> explained_words(const Command& tool) {
  std::set<std::string> names;
  for (const result::MetricDeclaration& m : result::registry()) names.emplace(m.name);
  for (const auto* terms :
       {&report::stall_reasons(), &report::error_ids(), &report::deviations(), &report::foreign_names()})
    for (const report::Term& t : *terms) names.emplace(t.name);
  for (const result::FindingRule& rule : result::finding_rules()) names.emplace(rule.id);
  wordbook::add_choices(names);
  for (const Command& c : tool.commands()) names.insert(c.name());
  wordbook::add_option_names(tool, names);
  return {names.begin(), names.end()};
}

}  // namespace simtlab::studies
