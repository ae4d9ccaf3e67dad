#include "hosts/cuda/modules.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/files.h"
#include "compile/frontend.h"

namespace simtlab::hosts::cuda {
namespace {

// Callers give no size: an ELF file ends where the last of its sections, segments and tables does.
std::string elf_at(const void* bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  const auto* const begin = static_cast<const char*>(bytes);
  std::uint64_t end = sizeof header;
  const auto reach = [&](std::uint64_t offset, std::uint64_t size) { end = std::max(end, offset + size); };
  if (header.e_shentsize == sizeof(Elf64_Shdr)) {
    reach(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, begin + header.e_shoff + i * sizeof section, sizeof section);
      if (section.sh_type != SHT_NOBITS) reach(section.sh_offset, section.sh_size);
    }
  }
  if (header.e_phentsize == sizeof(Elf64_Phdr))
    reach(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  constexpr std::uint64_t most = std::uint64_t{512} << 20;  // as for a cubin in a fat binary
  if (end > most)
    throw Error(ExitCode::bad_input, "fatbin",
                fmt::format("a cubin claims {} bytes, more than the limit of {}", end, most));
  return {begin, end};
}

// A fat binary: the length of its header, and of what follows.
std::string container_at(const void* bytes) {
  std::uint16_t header = 0;
  std::uint64_t payload = 0;
  const auto* const begin = static_cast<const char*>(bytes);
  std::memcpy(&header, begin + 6, sizeof header);
  std::memcpy(&payload, begin + 8, sizeof payload);
  return {begin, header + payload};
}

bool is_elf(const void* bytes) { return std::memcmp(bytes, ELFMAG, SELFMAG) == 0; }

gpu::ModuleId load_cubin(std::string cubin, const std::string& name, gpu::Gpu& gpu) {
  if (gpu.options().code == gpu::Code::ptx)
    throw Error(ExitCode::unsupported, "no-ptx",
                fmt::format("{}: a cubin holds machine code and no PTX", name),
                "--code auto runs machine code");
  return gpu.load_module(name, std::move(cubin));
}

}  // namespace

LoadedModule* Modules::load_as(const void* bytes, std::size_t size, std::string name, gpu::Gpu& gpu) {
  auto module = std::make_unique<LoadedModule>();
  module->image.name = std::move(name);
  module->image.data = bytes;
  module->image.bytes = size;
  if (is_elf(bytes))
    module->image.module =
        load_cubin(size == 0 ? elf_at(bytes) : std::string(static_cast<const char*>(bytes), size),
                   module->image.name, gpu);
  else
    load_image(module->image, gpu);
  if (module->image.ptx_beside)
    module->bytes = size == 0 ? container_at(bytes) : std::string(static_cast<const char*>(bytes), size);
  // The caller's may go.
  module->image.data = module->bytes.empty() ? nullptr : module->bytes.data();
  module->image.bytes = module->bytes.size();
  LoadedModule* const handle = module.get();
  modules_.emplace(handle, std::move(module));
  return handle;
}

LoadedModule* Modules::load(const void* bytes, const std::string& program, gpu::Gpu& gpu) {
  return load_as(unwrapped(bytes), 0, fmt::format("{}:module{}", program, ++loaded_), gpu);
}

LoadedModule* Modules::load_file(const std::string& path, gpu::Gpu& gpu) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const std::string bytes = read_file(path, most, "module");
  if (bytes.size() < sizeof(Elf64_Ehdr))
    throw Error(ExitCode::bad_input, "fatbin", fmt::format("{}: {} bytes are no module", path, bytes.size()),
                "PTX text, a cubin or a fat binary");
  ++loaded_;
  return load_as(bytes.c_str(), bytes.size(), path, gpu);
}

bool Modules::unload(const void* handle, gpu::Gpu& gpu) {
  const auto it = modules_.find(handle);
  if (it == modules_.end()) return false;
  const Image& image = it->second->image;
  gpu.unload_module(*image.module);
  if (image.ptx_module) gpu.unload_module(*image.ptx_module);
  std::erase_if(kernels_, [&](const auto& kernel) { return kernel.second == it->second.get(); });
  modules_.erase(it);
  return true;
}

void Modules::clear() {
  kernels_.clear();
  modules_.clear();
}

LoadedModule* Modules::find(const void* handle) const {
  const auto it = modules_.find(handle);
  return it == modules_.end() ? nullptr : it->second.get();
}

KernelEntry* Modules::find_kernel(const void* handle) const {
  const auto it = kernels_.find(handle);
  return it == kernels_.end() ? nullptr : static_cast<KernelEntry*>(const_cast<void*>(it->first));
}

LoadedModule* Modules::owner(const KernelEntry& kernel) const {
  const auto it = kernels_.find(&kernel);
  return it == kernels_.end() ? nullptr : it->second;
}

KernelEntry* Modules::entry(LoadedModule& module, std::string_view name) {
  if (const auto known = module.kernels.find(name); known != module.kernels.end()) return known->second.get();
  auto made = std::make_unique<KernelEntry>();
  made->image = &module.image;
  made->name = name;
  KernelEntry* const handle = made.get();
  kernels_.emplace(handle, &module);
  module.kernels.emplace(std::string(name), std::move(made));
  return handle;
}

KernelEntry* Modules::kernel(LoadedModule& module, std::string_view name, gpu::Gpu& gpu) {
  KernelEntry looked_for;
  looked_for.image = &module.image;
  looked_for.name = name;
  if (!module.kernels.contains(name) && !cuda::find_kernel(looked_for, gpu)) return nullptr;
  KernelEntry* const out = entry(module, name);
  cuda::find_kernel(*out, gpu);
  return out;
}

std::vector<KernelEntry*> Modules::kernels(LoadedModule& module, const gpu::Gpu& gpu) {
  std::vector<KernelEntry*> out;
  for (const std::string& name : kernel_names(module, gpu)) out.push_back(entry(module, name));
  return out;
}

std::vector<std::string> Modules::kernel_names(const LoadedModule& module, const gpu::Gpu& gpu) {
  std::vector<std::string> out;
  for (const ptx::Function& f : gpu.module(*module.image.module).functions)
    if (f.is_entry) out.push_back(f.name);
  return out;
}

}  // namespace simtlab::hosts::cuda
