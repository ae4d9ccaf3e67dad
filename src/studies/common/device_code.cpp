#include "studies/common/device_code.h"

#include <fmt/format.h>

#include <span>

#include "compile/device_objects.h"
#include "compile/frontend.h"
#include "machine/elf.h"

namespace simtlab::studies {
namespace {

void add_container(std::string_view bytes, const std::string& name, std::vector<DeviceCode>& out) {
  for (const compile::FatbinEntry& entry : compile::read_fatbin(bytes.data(), bytes.size(), name)) {
    if (entry.is_ptx) continue;
    const unsigned generation = entry.major * 10 + entry.minor;
    out.push_back({.name = fmt::format("{}:{}:sm_{}", name, out.size() + 1, generation),
                   .generation = generation,
                   .contents = [entry, name] { return compile::machine_code(entry, name); }});
  }
}

// Sections in which nvcc puts fat binaries; the second holds those of code that was to be linked.
bool holds_containers(std::string_view section) {
  return section == ".nv_fatbin" || section == "__nv_relfatbin";
}

}  // namespace

std::vector<DeviceCode> find_device_code(const std::string& bytes, const std::string& name) {
  std::vector<DeviceCode> out;
  const machine::Bytes all = std::as_bytes(std::span(bytes));
  if (machine::is_device_elf(all)) {
    out.push_back(
        {.name = name, .generation = machine::generation_of(all), .contents = [&bytes] { return bytes; }});
    return out;
  }
  if (compile::begins_container(bytes)) {
    add_container(bytes, name, out);
    return out;
  }
  if (!machine::is_elf(all)) return out;
  for (const machine::ElfSection& section : machine::read_host_elf(all, name).sections)
    if (holds_containers(section.name)) {
      const std::string_view data(reinterpret_cast<const char*>(section.data.data()), section.data.size());
      if (compile::begins_container(data)) add_container(data, name, out);
    }
  return out;
}

}  // namespace simtlab::studies
