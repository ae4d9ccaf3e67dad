#include "device/memory_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "device/assembly.h"
#include "device/data_files.h"
#include "device/memory_controller_keys.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;

constexpr Subject controllers{"memory controller",
                              "memory controller file",
                              "controllers",
                              "controller",
                              "default",
                              "simtlab list controllers",
                              "simtlab config show --controller NAME"};

// Rules between the values of one controller: what no range of a single value can say.
std::vector<Contradiction> contradictions_of(const MemoryController& c) {
  std::vector<Contradiction> found;
  const auto require = [&](bool holds, std::vector<std::string> keys, std::string message, std::string hint) {
    if (!holds) found.push_back({std::move(keys), std::move(message), std::move(hint)});
  };
  require(c.queues.low < c.queues.high, {"queues.low", "queues.high"},
          fmt::format("is not below queues.high, {}", c.queues.high),
          "writes are drained from above high to below low");
  require(c.queues.style != QueueStyle::per_bank || c.queues.bank > 0, {"queues.bank", "queues.style"},
          "but queues.style = \"per_bank\" needs entries in them",
          "give each bank a few entries, for example 8");
  const MemoryController::Upkeep& u = c.upkeep;
  require(u.self_refresh_after == 0 || u.self_refresh_after > u.power_down_after,
          {"upkeep.self_refresh_after", "upkeep.power_down_after"},
          fmt::format("is not above upkeep.power_down_after, {} cycles", u.power_down_after),
          "a rank goes into power-down first, then into self-refresh; 0: never");
  return found;
}

// A parameter that somebody sets, and that the chosen policy does not read. (A file may give a value to all
// of them.)
void add_idle(std::vector<Contradiction>& found, const Assembly& assembly, const char* section,
              const char* choice, const std::string& chosen, std::span<const DeclaredPolicy> policies) {
  const auto policy = std::ranges::find(policies, chosen, &DeclaredPolicy::name);
  for (const DeclaredPolicy& other : policies)
    for (const PolicyParameter& parameter : other.parameters) {
      const std::string key = fmt::format("{}.{}", section, parameter.name);
      if (!assembly.is_overridden(key)) continue;
      if (std::ranges::count(policy->parameters, parameter.name, &PolicyParameter::name) != 0) continue;
      if (std::ranges::any_of(found, [&](const Contradiction& c) { return c.keys.front() == key; })) continue;
      found.push_back({{key},
                       fmt::format("has no effect: {} = \"{}\" does not read it", choice, chosen),
                       fmt::format("leave it out, or choose {}", policies_with(policies, parameter.name))});
    }
}

std::vector<Contradiction> idle_parameters(const Assembly& assembly, const MemoryController& c) {
  std::vector<Contradiction> found;
  add_idle(found, assembly, "schedule", "schedule.kind", c.schedule.kind, memory_schedulers());
  add_idle(found, assembly, "page", "page.policy", c.page.policy, page_policies());
  return found;
}

}  // namespace

std::vector<std::string> list_memory_controllers() { return list_data_files(controllers); }

LoadedMemoryController load_memory_controller(const std::string& name_or_file,
                                              const std::vector<Setting>& settings) {
  const fs::path path = find_data_file(controllers, name_or_file);
  if (path.empty())
    throw Error(ExitCode::bad_input, "controller-unknown",
                fmt::format("unknown memory controller '{}'", shown(name_or_file, 60)),
                unknown_name_hint(controllers, name_or_file));
  const std::vector<Document> chain = read_chain(controllers, path);
  LoadedMemoryController out;
  MemoryController& controller = out.controller;
  RecordOf record(memory_controller_keys(), controller);
  Assembly assembly(record, controllers);
  for (auto document = chain.rbegin(); document != chain.rend(); ++document) assembly.add(*document);
  for (const Setting& setting : settings) assembly.add(setting);
  assembly.require_all(path.string());
  assembly.refuse(contradictions_of(controller), path.string());
  assembly.refuse(idle_parameters(assembly, controller), path.string());
  controller.name = path.stem().string();
  out.entries = assembly.entries();
  out.pattern_at = assembly.position("mapping.pattern");
  out.hash_at = assembly.position("mapping.hash");
  for (const Document& document : chain) out.files.emplace_back(document.file);
  return out;
}

std::string memory_controller_reference() {
  MemoryController scratch;
  RecordOf record(memory_controller_keys(), scratch);
  return key_reference(record);
}

}  // namespace simtlab::device
