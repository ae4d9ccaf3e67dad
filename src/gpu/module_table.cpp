#include "gpu/module_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "assembler/assemble.h"
#include "base/error.h"
#include "machine/image.h"
#include "optimiser/optimiser.h"

namespace simtlab::gpu {
void check_machine_code(const device::Device& device, const std::string& name, std::string_view code) {
  const std::span bytes = std::as_bytes(std::span(code));
  if (!machine::is_device_elf(bytes)) return;
  const unsigned generation = machine::generation_of(bytes);
  if (static_cast<int>(generation / 10) == device.cc_major &&
      static_cast<int>(generation % 10) <= device.cc_minor)
    return;
  throw Error(
      ExitCode::unsupported, "machine-generation",
      fmt::format("{} is machine code for sm_{}; {} runs that for sm_{}0{}", name, generation, device.name,
                  device.cc_major,
                  device.cc_minor == 0 ? std::string()
                                       : fmt::format(" to sm_{}{}", device.cc_major, device.cc_minor)),
      "choose a GPU of its generation (--gpu, `simtlab list gpus`), or run its PTX");
}

ModuleTable::Id ModuleTable::load(std::string name, std::string ptx, exec::GlobalMemory& memory, Code code) {
  Module m;
  ptx::LoadOptions options;
  const std::span bytes = std::as_bytes(std::span(ptx));
  const bool machine_code = machine::is_device_elf(bytes);
  if (code.optimise && !machine_code)
    code.needs_optimiser ? optimiser::need(options) : optimiser::use(options);
  if (code.generation != 0 && !machine_code) assembler::make_code(options, code.generation);
  m.module = machine_code ? machine::open_cubin(std::move(ptx), std::move(name))
                          : ptx::load_module(std::move(name), std::move(ptx), options);
  m.loaded = std::make_unique<exec::LoadedModule>(m.module, memory);
  for (std::size_t i = 0; i < m.module->functions.size(); ++i) {
    const ptx::Function& f = m.module->functions[i];
    if (f.is_entry) m.entries.emplace(f.name, static_cast<std::uint32_t>(i));
  }
  m.uses_heap = m.module->allocates;
  modules_.push_back(std::move(m));
  return static_cast<Id>(modules_.size() - 1);
}

void ModuleTable::unload(Id id) {
  Module& m = at(id);
  m.entries.clear();
  m.loaded.reset();
  m.module.reset();
}

ModuleTable::Module& ModuleTable::at(Id id) {
  SIMTLAB_ASSERT(id < modules_.size() && modules_[id].loaded, "a module that is loaded");
  return modules_[id];
}

std::optional<std::uint32_t> ModuleTable::find_kernel(Id id, std::string_view name) {
  const auto& entries = at(id).entries;
  const auto it = entries.find(name);
  if (it == entries.end()) return std::nullopt;
  at(id).module->complete(it->second);
  return it->second;
}

std::optional<ModuleTable::Place> ModuleTable::find_symbol(Id id, std::string_view name) {
  const Module& m = at(id);
  const ptx::Variable* variable = m.module->find_variable(name);
  if (variable == nullptr || variable->space == ptx::Space::shared) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(variable - m.module->variables.data());
  return Place{m.loaded->variable_address(index), variable->bytes};
}

}  // namespace simtlab::gpu
