#include "hosts/cuda/images.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "compile/frontend.h"

namespace simtlab::hosts::cuda {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* extra;
};

using Entries = std::vector<compile::FatbinEntry>;

gpu::ModuleId load_ptx(const Entries& entries, const std::string& name, gpu::Gpu& gpu) {
  const device::Device& device = gpu.device();
  return gpu.load_module(name,
                         compile::ptx_text(compile::pick_ptx(entries, static_cast<unsigned>(device.cc_major),
                                                             static_cast<unsigned>(device.cc_minor), name),
                                           name));
}

Error no_machine_code(const Entries& entries, const std::string& name, const device::Device& device) {
  std::string there;
  for (const compile::FatbinEntry& e : entries)
    if (!e.is_ptx) there += fmt::format("{}sm_{}{}", there.empty() ? "" : ", ", e.major, e.minor);
  return {ExitCode::unsupported, "no-machine-code",
          fmt::format("{}: holds no machine code that {} (sm_{}{}) runs{}", name, device.name,
                      device.cc_major, device.cc_minor, there.empty() ? "" : ", but that of " + there),
          "--code auto takes PTX; nvcc -arch=sm_XX makes machine code for XX"};
}

// Variables that kernels share: those of the machine code are others than those of the PTX.
bool has_variables(const ptx::Module& module) {
  return std::ranges::any_of(module.variables, [](const ptx::Variable& v) { return v.within >= 0; });
}

void note_ptx(const std::string& what, const std::string& generation, const Error& error, gpu::Gpu& gpu) {
  if (gpu.options().on_note)
    gpu.options().on_note(fmt::format("{} runs as PTX, not as its machine code for {}: {}", what, generation,
                                      error.diagnostics().front().message));
}

}  // namespace

const void* unwrapped(const void* bytes) {
  Wrapper w{};
  std::memcpy(&w.magic, bytes, sizeof w.magic);
  if (w.magic != wrapper_magic) return bytes;
  std::memcpy(&w, bytes, sizeof w);
  return w.data;
}

// Machine code if it fits the GPU, else PTX, as the options want it.
void load_image(Image& image, gpu::Gpu& gpu) {
  const Entries entries = compile::read_fatbin(image.data, image.bytes, image.name);
  const device::Device& device = gpu.device();
  const gpu::Code wanted = gpu.options().code;
  const compile::FatbinEntry* const code =
      wanted == gpu::Code::ptx ? nullptr
                               : compile::pick_machine_code(entries, static_cast<unsigned>(device.cc_major),
                                                            static_cast<unsigned>(device.cc_minor));
  if (code == nullptr) {
    if (wanted == gpu::Code::machine) throw no_machine_code(entries, image.name, device);
    image.module = load_ptx(entries, image.name, gpu);
    return;
  }
  const bool has_ptx = std::ranges::any_of(entries, [](const auto& e) { return e.is_ptx; });
  std::optional<gpu::ModuleId> module;
  try {
    module = gpu.load_module(image.name, compile::machine_code(*code, image.name));
    image.ptx_beside = wanted == gpu::Code::automatic && has_ptx;
    if (image.ptx_beside && has_variables(gpu.module(*module))) {
      // Kernels of both would not see each other's values: all or none
      gpu.module(*module).check();
      image.ptx_beside = false;
    }
    image.module = module;
  } catch (const Error& error) {
    image.ptx_beside = false;
    if (module) gpu.unload_module(*module);
    if (wanted == gpu::Code::machine || !has_ptx || error.code() != ExitCode::unsupported) throw;
    note_ptx(image.name, fmt::format("sm_{}{}", code->major, code->minor), error, gpu);
    image.module = load_ptx(entries, image.name, gpu);
  }
}

Image* Images::add(const void* wrapper, const std::string& program) {
  auto image = std::make_unique<Image>();
  image->name = fmt::format("{}:image{}", program, images_.size() + 1);
  Wrapper w{};
  std::memcpy(&w, wrapper, sizeof w);
  if (w.magic == wrapper_magic)
    image->data = w.data;
  else
    image->failure = std::make_shared<Error>(
        ExitCode::bad_input, "fatbin",
        fmt::format("{}: the program registered something that is not a fat binary (magic 0x{:08x})",
                    image->name, w.magic),
        "build it with `simtlab build`, or with nvcc -cudart shared");
  images_.push_back(std::move(image));
  return images_.back().get();
}

void Images::add_kernel(Image* image, const void* host, std::string name) {
  KernelEntry entry;
  entry.image = image;
  entry.name = std::move(name);
  kernels_.insert_or_assign(host, std::move(entry));
}

void Images::add_variable(Image* image, const void* host, std::string name) {
  variables_.insert_or_assign(host, VariableEntry{image, std::move(name)});
}

void Images::add_managed(Image* image, void** host, std::string name) {
  image->managed.push_back({name, host});
  add_variable(image, host, std::move(name));
}

void Images::add_texture(Image* image, const void* host, std::string name, bool normalized_read) {
  textures_.insert_or_assign(host, TextureEntry{image, std::move(name), normalized_read, 0});
}

KernelEntry* Images::find_kernel(const void* host) {
  const auto it = kernels_.find(host);
  return it == kernels_.end() ? nullptr : &it->second;
}

KernelEntry* Images::find_entry(const void* entry) {
  for (auto& [host, kernel] : kernels_)
    if (&kernel == entry) return &kernel;
  return nullptr;
}

VariableEntry* Images::find_variable(const void* host) {
  const auto it = variables_.find(host);
  return it == variables_.end() ? nullptr : &it->second;
}

VariableEntry* Images::find_variable_named(const void* text) {
  std::size_t longest = 0;
  for (const auto& [host, entry] : variables_) longest = std::max(longest, entry.name.size());
  // The pointer may be anything: the kernel copies what is readable there instead of us touching it.
  std::string bytes(longest + 1, '\0');
  iovec to{bytes.data(), bytes.size()}, from{const_cast<void*>(text), bytes.size()};
  ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  if (got < 0) {
    // Not all of it is readable: up to the end of the page.
    from.iov_len = 4096 - reinterpret_cast<std::uintptr_t>(text) % 4096;
    got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  }
  if (got <= 0) return nullptr;
  bytes.resize(static_cast<std::size_t>(got));
  const std::size_t end = bytes.find('\0');
  if (end == std::string::npos || end == 0) return nullptr;
  bytes.resize(end);
  for (auto& [host, entry] : variables_)
    if (entry.name == bytes) return &entry;
  return nullptr;
}

TextureEntry* Images::find_texture(const void* host) {
  const auto it = textures_.find(host);
  return it == textures_.end() ? nullptr : &it->second;
}

void Images::load(Image& image, gpu::Gpu& gpu) {
  if (image.module) return;
  if (image.failure) throw Error(*image.failure);
  if (image.data == nullptr)
    throw Error(ExitCode::bad_input, "fatbin-gone",
                fmt::format("{}: used after the program unregistered it", image.name));
  try {
    load_image(image, gpu);
  } catch (const Error& error) {
    image.failure = std::make_shared<Error>(error);
    throw;
  }
  // Managed variables are reached through a pointer on the host side.
  for (const Image::Managed& m : image.managed) {
    const std::optional<gpu::Symbol> symbol = gpu.find_symbol(*image.module, m.name);
    if (!symbol) continue;
    *m.host_pointer = gpu.memory().host(symbol->address);
    gpu.memory().set_host_writes(symbol->address);
  }
}

std::optional<gpu::Kernel> find_kernel(KernelEntry& entry, gpu::Gpu& gpu) {
  if (entry.kernel) return entry.kernel;
  try {
    entry.kernel = gpu.find_kernel(*entry.image->module, entry.name);
  } catch (const Error& error) {
    Image& image = *entry.image;
    if (!image.ptx_beside || image.data == nullptr || error.code() != ExitCode::unsupported) throw;
    note_ptx(fmt::format("{}: kernel '{}'", image.name, entry.name), gpu.module(*image.module).target, error,
             gpu);
    if (!image.ptx_module)
      image.ptx_module = load_ptx(compile::read_fatbin(image.data, image.bytes, image.name), image.name, gpu);
    entry.kernel = gpu.find_kernel(*image.ptx_module, entry.name);
  }
  return entry.kernel;
}

gpu::Kernel Images::resolve(KernelEntry& entry, gpu::Gpu& gpu) {
  if (entry.kernel) return *entry.kernel;
  load(*entry.image, gpu);
  if (!cuda::find_kernel(entry, gpu))
    throw Error(ExitCode::unsupported, "no-device-code",
                fmt::format("{}: kernel '{}' is not in the image", entry.image->name, entry.name),
                "relocatable device code (-rdc=true) is not linked by simtlab: build without it");
  return *entry.kernel;
}

void Images::forget_modules() {
  for (const auto& image : images_) {
    image->module.reset();
    image->ptx_module.reset();
  }
  for (auto& [host, entry] : kernels_) {
    entry.kernel.reset();
    entry.max_dynamic_shared = 0;
    entry.cluster = {0, 0, 0};
    entry.non_portable_cluster = false;
  }
  for (auto& [host, entry] : textures_) entry.bound_address = 0;
}

}  // namespace simtlab::hosts::cuda
