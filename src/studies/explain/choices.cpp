// Words that configure a run: keys of data files and their values, policies, models, limits to lift, probes,
// devices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/named.h"
#include "cache/order.h"
#include "corun/policy.h"
#include "device/catalogue.h"
#include "device/memory_controller.h"
#include "device/memory_controller_keys.h"
#include "device/parameters.h"
#include "device/technology.h"
#include "device/technology_keys.h"
#include "device/what_if.h"
#include "memory/replacement.h"
#include "memory/set_index.h"
#include "models/model.h"
#include "probe/kinds.h"
#include "result/metrics.h"
#include "studies/explain/kinds.h"
#include "timing/scheduler.h"

namespace simtlab::studies::wordbook {
namespace {

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

template <class Entry>
std::string policy_text(std::span<const Named<Entry>> all, const std::string& word, std::string_view kind,
                        std::string_view use) {
  const Entry* const found = find_named(all, word);
  return found == nullptr ? ""
                          : title(word, kind) + field("meaning", sentence(found->doc)) +
                                field("use it", fmt::format(fmt::runtime(use), word));
}

}  // namespace

// A device that models its memory shows the keys of technology and controller behind these words.
std::string key(const std::string& text) {
  std::string word = text;
  for (const std::string_view prefix : {"technology.", "controller."})
    if (text.starts_with(prefix)) word = text.substr(prefix.size());
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

void add_choices(std::set<std::string>& names) {
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
}

}  // namespace simtlab::studies::wordbook
