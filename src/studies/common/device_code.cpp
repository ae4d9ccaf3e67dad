#include "studies/common/device_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

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

// Fat binaries and texts one after another, as linkers leave them: zeros are between them.
class Texts {
 public:
  Texts(const std::string& name, unsigned generation) : name_(name), generation_(generation) {}

  void add(std::string_view bytes) {
    while (true) {
      const std::size_t begin = bytes.find_first_not_of('\0');
      if (begin == bytes.npos) return;
      bytes.remove_prefix(begin);
      const std::size_t size = compile::begins_container(bytes) ? container(bytes) : text(bytes);
      bytes.remove_prefix(std::min(size, bytes.size()));
    }
  }
  std::vector<DeviceText> take() { return std::move(out_); }

 private:
  std::size_t container(std::string_view bytes) {
    const std::size_t size = compile::container_bytes(bytes);
    const std::vector<compile::FatbinEntry> entries = compile::read_fatbin(bytes.data(), size, name_);
    if (std::ranges::any_of(entries, &compile::FatbinEntry::is_ptx))
      keep(compile::ptx_text(compile::pick_ptx(entries, generation_ / 10, generation_ % 10, name_), name_));
    return size;
  }

  std::size_t text(std::string_view bytes) {
    const std::size_t size = std::min(bytes.find('\0'), bytes.size());
    const std::string_view found = bytes.substr(0, size);
    if (found.find(".version") != found.npos) keep(std::string(found));
    return size;
  }

  void keep(std::string text) {
    out_.push_back({fmt::format("{}:{}", name_, out_.size() + 1), std::move(text)});
  }

  const std::string& name_;
  unsigned generation_;
  std::vector<DeviceText> out_;
};

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

std::vector<DeviceText> find_ptx(const std::string& bytes, const std::string& name, unsigned generation) {
  const machine::Bytes all = std::as_bytes(std::span(bytes));
  Texts texts(name, generation);
  if (machine::is_device_elf(all)) return {};
  if (!machine::is_elf(all)) {
    texts.add(bytes);
    std::vector<DeviceText> out = texts.take();
    if (out.size() == 1) out.front().name = name;
    return out;
  }
  for (const machine::ElfSection& section : machine::read_host_elf(all, name).sections)
    if (holds_containers(section.name))
      texts.add({reinterpret_cast<const char*>(section.data.data()), section.data.size()});
  return texts.take();
}

}  // namespace simtlab::studies
