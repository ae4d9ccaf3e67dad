// A word can be a metric, a stall reason, an error, a deviation, an exit code, a key of a data file or one of
// its values, a policy, a model, a limit to lift, a probe, a device, a command, an option, or what another
// tool calls one of these. Each kind has a function below that prints what it knows of the word; `kinds`
// lists the functions in the order of printing.
#include "cli/explain_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "cache/order.h"
#include "cli/exit_codes.h"
#include "cli/option_tree.h"
#include "cli/output.h"
#include "corun/policy.h"
#include "device/catalogue.h"
#include "device/memory_controller.h"
#include "device/memory_controller_keys.h"
#include "device/op_class.h"
#include "device/parameters.h"
#include "device/technology.h"
#include "device/technology_keys.h"
#include "device/what_if.h"
#include "memory/replacement.h"
#include "memory/set_index.h"
#include "models/model.h"
#include "probe/kinds.h"
#include "report/glossary.h"
#include "result/metrics.h"
#include "timing/scheduler.h"

namespace simtlab::cli {
namespace {

constexpr std::size_t width = 100;

std::string field(std::string_view label, std::string_view text) {
  return text.empty() ? "" : fmt::format("  {:<10} {}\n", label, report::wrapped(text, width, 13));
}

std::string title(std::string_view word, std::string_view kind) {
  return fmt::format("{}: {}\n", word, kind);
}

// The texts of data tables are sentences; those of keys, options and policies lack the full stop.
std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && std::string_view(".!?`").find(out.back()) == std::string_view::npos) out += '.';
  return out;
}

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

// ---- keys of data files, and their values

struct KeyTable {
  std::string_view kind;    // "parameter of a device"
  std::string_view show;    // the command that prints its value
  std::string_view change;  // the option that sets it, {} is the key
  std::function<void(const std::function<void(const device::Key&, device::Field)>&)> each;
};

template <class Object>
auto each_of(const std::vector<device::KeyOf<Object>>& keys) {
  return [&keys](const std::function<void(const device::Key&, device::Field)>& look) {
    Object scratch{};
    for (const device::KeyOf<Object>& key : keys) look(key, key.field(scratch));
  };
}

const std::vector<KeyTable>& key_tables() {
  static const std::vector<KeyTable> tables = {
      {"parameter of a device", "simtlab config show --gpu NAME --origin", "--set {}=VALUE",
       each_of(device::parameters())},
      {"key of a memory technology", "simtlab config show --dram NAME --origin",
       "--set {}=VALUE with `simtlab dram`", each_of(device::technology_keys())},
      {"key of a memory controller", "simtlab config show --controller NAME --origin",
       "--set {}=VALUE with `simtlab dram`", each_of(device::memory_controller_keys())},
  };
  return tables;
}

std::string key(const std::string& word) {
  std::string out;
  for (const KeyTable& table : key_tables())
    table.each([&](const device::Key& k, device::Field f) {
      if (k.key != word) return;
      out += title(word, table.kind) + field("meaning", sentence(k.doc)) +
             field("allowed", device::allowed_values(k, f));
      out += field("default", k.optional ? "none: absent means unknown" : k.default_value);
      out += field("see it", fmt::format("`{}`", table.show));
      out += field("change it", fmt::format(fmt::runtime(table.change), word));
    });
  return out;
}

// Whether `word` is one of "a or b or c".
bool is_choice(std::string_view allowed, std::string_view word) {
  constexpr std::string_view separator = " or ";
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(allowed.find(separator, at), allowed.size());
    if (allowed.substr(at, end - at) == word) return true;
    if (end == allowed.size()) return false;
    at = end + separator.size();
  }
}

// Keys that take the word as their value: "write_back" of l1.write_policy and l2.write_policy.
std::string value_of_a_key(const std::string& word) {
  if (word == "true" || word == "false") return {};
  std::string out;
  for (const KeyTable& table : key_tables()) {
    std::map<std::string, std::vector<std::string>> keys;  // by what they allow
    std::string decides;
    table.each([&](const device::Key& k, device::Field f) {
      std::string allowed = device::allowed_values(k, f);
      if (!is_choice(allowed, word)) return;
      keys[std::move(allowed)].push_back(k.key);
      decides = k.doc;
    });
    for (const auto& [allowed, names] : keys) {
      out += title(word, fmt::format("value of a {}", table.kind)) +
             field("of", fmt::format("{}", fmt::join(names, ", ")));
      if (keys.size() == 1 && names.size() == 1) out += field("decides", sentence(decides));
      out += field("allowed", allowed);
    }
  }
  return out;
}

// ---- policies, models, limits, probes, devices

template <class Entry>
std::string policy_text(std::span<const Named<Entry>> all, const std::string& word, std::string_view kind,
                        std::string_view use) {
  const Entry* const found = find_named(all, word);
  return found == nullptr ? ""
                          : title(word, kind) + field("meaning", sentence(found->doc)) +
                                field("use it", fmt::format(fmt::runtime(use), word));
}

std::string policy(const std::string& word) {
  std::string out =
      policy_text(timing::scheduler_policies(), word, "warp scheduler", "--set sm.scheduler={}");
  out += policy_text(memory::replacement_rules(), word, "cache replacement policy",
                     "--set l1.replacement={0}, --set l2.replacement={0}");
  out += policy_text(memory::set_index_rules(), word, "cache set index",
                     "--set l1.set_index={0}, --set l2.set_index={0}");
  out += policy_text(cache::order_policies(), word, "order of accesses in a cache study",
                     "simtlab cache --order {}");
  if (const corun::Policy* const p = corun::find_policy(word))
    out += title(word, "co-run policy") + field("meaning", sentence(p->doc)) + field("options", p->options) +
           field("use it", fmt::format("simtlab corun --policy {}", word));
  return out;
}

std::string sharing(const std::string& word) {
  static const std::map<std::string_view, std::string_view> meanings = {
      {"leftover",
       "Launches take SMs in the order of their coming, higher priority first: a later launch gets what "
       "earlier ones leave. GPUs do this."},
      {"spatial", "The SMs are divided evenly among the launches that run (Adriaens et al., HPCA 2012)."},
      {"smk",
       "Each SM is divided evenly: a launch holds at most its part of the blocks that it could hold alone "
       "(Wang et al., HPCA 2016)."},
      {"serial", "Launches run one after the other."},
  };
  const auto found = meanings.find(word);
  if (found == meanings.end()) return {};
  return title(word, "way in which kernels of different streams share the GPU") +
         field("meaning", found->second) + field("use it", fmt::format("--sharing {}", word));
}

std::string model(const std::string& word) {
  for (const models::Model* m : models::models()) {
    if (m->name() != word) continue;
    std::string out = title(word, "analytical model") + field("source", sentence(m->title()));
    if (const result::MetricDeclaration* d = result::find_metric(fmt::format("predict.{}.cycles", word)))
      out += field("gives", d->doc);
    out += field("lacks",
                 fmt::format("{} (`simtlab explain` says what each is)", fmt::join(m->deviations(), ", ")));
    return out + field("use it", fmt::format("simtlab predict app.cu --model {}", word));
  }
  return {};
}

std::string limit(const std::string& word) {
  for (const device::WhatIfName& w : device::what_ifs())
    if (w.name == word)
      return title(word, "limit of the GPU that a run may lift") + field("lifted", sentence(w.meaning)) +
             field("comes near", sentence(w.remedy)) + field("use it", fmt::format("--what-if {}", word));
  return {};
}

std::string probe_kind(const std::string& word) {
  for (const probe::Kind* k : probe::kinds())
    if (k->name == word)
      return title(word, "probe of a GPU") + field("measures", sentence(k->doc)) + field("needs", k->needs) +
             field("use it", fmt::format("simtlab probe --only {}", word));
  return {};
}

// Files of the catalogue are read only when their name is asked for.
std::string data_file(const std::string& word) {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, word) != names.end();
  };
  std::string out;
  if (has(device::list_devices()))
    out += title(word, "GPU") + field("product", device::load_device(word).device.product) +
           field("see it", fmt::format("`simtlab config show --gpu {}`", word)) +
           field("use it", fmt::format("--gpu {}", word));
  if (has(device::list_technologies()))
    out += title(word, "memory technology") +
           field("standard", device::load_technology(word).technology.standard) +
           field("see it", fmt::format("`simtlab config show --dram {}`", word)) +
           field("use it", fmt::format("--dram {}", word));
  if (has(device::list_memory_controllers()))
    out += title(word, "memory controller") +
           field("meaning", sentence(device::load_memory_controller(word).controller.description)) +
           field("see it", fmt::format("`simtlab config show --controller {}`", word)) +
           field("use it", fmt::format("--controller {}", word));
  return out;
}

// ---- the command line

void collect_options(const TreeCommand& at, const std::string& word,
                     std::vector<std::pair<std::string, std::vector<std::string>>>& out) {
  for (const TreeOption& o : at.options) {
    if (o.positional || std::ranges::find(o.names, word) == o.names.end()) continue;
    std::string text = field("value", o.value) + field("meaning", sentence(o.description));
    const auto same = std::ranges::find(out, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (same == out.end())
      out.push_back({std::move(text), {at.path}});
    else
      same->second.push_back(at.path);
  }
  for (const TreeCommand& below : at.commands) collect_options(below, word, out);
}

// An option, with one entry for all commands that say it in equal words.
std::string option(const std::string& word) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  collect_options(whole_tree(), word.starts_with("-") ? word : "--" + word, found);
  std::string out;
  for (const auto& [text, commands] : found)
    out += title(word.starts_with("-") ? word : "--" + word, "option") + text +
           field("of", fmt::format("{}", fmt::join(commands, ", ")));
  return out;
}

std::string command(const std::string& word) {
  for (const TreeCommand& c : whole_tree().commands)
    if (c.name == word)
      return title(c.path, "command") +
             field("meaning", sentence(c.description.substr(0, c.description.find("\n\n")))) +
             field("see it", fmt::format("`{} --help`", c.path));
  return {};
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

using Kind = std::string (*)(const std::string&);
constexpr Kind kinds[] = {stall_reason, metric,  key,        policy,    sharing, value_of_a_key,
                          model,        limit,   probe_kind, data_file, error,   deviation,
                          exit_code,    command, option,     group};
// Only for words that mean nothing here.
constexpr Kind foreign_kinds[] = {foreign_name, foreign_metric};

void add_option_names(const TreeCommand& at, std::set<std::string>& out) {
  for (const TreeOption& o : at.options)
    for (const std::string& name : o.names)
      if (name.starts_with("--")) out.insert(name);
  for (const TreeCommand& below : at.commands) add_option_names(below, out);
}

}  // namespace

std::string explained(const std::string& word) {
  std::string out;
  for (const Kind kind : kinds) out += kind(word);
  if (!out.empty()) return out;
  for (const Kind kind : foreign_kinds) out += kind(word);
  return out;
}

std::vector<std::string> explained_words() {
  std::set<std::string> names;
  for (const result::MetricDeclaration& m : result::registry()) names.emplace(m.name);
  for (const auto* terms :
       {&report::stall_reasons(), &report::error_ids(), &report::deviations(), &report::foreign_names()})
    for (const report::Term& t : *terms) names.emplace(t.name);
  for (const KeyTable& table : key_tables())
    table.each([&](const device::Key& k, device::Field) { names.insert(k.key); });
  const auto add_all = [&](const auto& entries) {
    for (const auto& e : entries) names.emplace(e.name);
  };
  add_all(timing::scheduler_policies()), add_all(memory::replacement_rules()),
      add_all(memory::set_index_rules()), add_all(cache::order_policies());
  add_all(device::what_ifs());
  for (const corun::Policy* p : corun::policies()) names.emplace(p->name);
  for (const probe::Kind* k : probe::kinds()) names.emplace(k->name);
  for (const models::Model* m : models::models()) names.emplace(m->name());
  for (const std::string& name : device::list_devices()) names.insert(name);
  for (const std::string& name : device::list_technologies()) names.insert(name);
  for (const std::string& name : device::list_memory_controllers()) names.insert(name);
  const TreeCommand tree = whole_tree();
  for (const TreeCommand& c : tree.commands) names.insert(c.name);
  add_option_names(tree, names);
  return {names.begin(), names.end()};
}

}  // namespace simtlab::cli
