// LoadedModule: variables in device memory, initial values, relocations, bound functions.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/memory.h"
#include "exec/state.h"

namespace simtlab::exec {
namespace {

const char* noun_of(const ptx::Variable& v) {
  return v.space == ptx::Space::constant ? "constant" : v.managed ? "managed variable" : "global variable";
}

std::uint64_t place(const ptx::Module& module, const ptx::Variable& v, std::uint32_t index,
                    GlobalMemory& memory) {
  if (v.reference != ptx::Type::none) return texref_handles + index;
  if (v.within >= 0) return 0;  // a part of another one: load()
  if (v.space == ptx::Space::shared) return 0;
  if (v.external) {
    throw Error(ExitCode::unsupported, "ptx-unresolved",
                module.diagnostic(v.line, v.column,
                                  fmt::format("variable '{}' is external and no module defines it", v.name),
                                  "compile the program as one translation unit or define the variable"));
  }
  const auto address = memory.allocate(v.bytes, fmt::format("{} '{}'", noun_of(v), v.name),
                                       std::max<std::uint64_t>(v.align, 1));
  if (!address) {
    throw Error(ExitCode::failure, "memory-exhausted",
                module.diagnostic(
                    v.line, v.column,
                    fmt::format("variable '{}' of {} bytes does not fit into device memory", v.name, v.bytes),
                    "make it smaller, or choose a device with more memory (--gpu, --set dram.bytes=...)"));
  }
  return *address;
}

void initialise(const LoadedModule::Impl& module, const ptx::Variable& v, std::uint64_t address) {
  if (!v.initial.empty()) {
    SIMTLAB_ASSERT(module.memory->write(address, v.initial),
                   "an initial value is not longer than its variable");
  }
  for (const ptx::Variable::Reloc& r : v.relocs) {
    std::uint64_t value =
        r.is_function ? ptx::function_handles + 16ull * r.symbol : module.addresses.at(r.symbol);
    const ptx::Variable* target = r.is_function ? nullptr : &module.module->variables.at(r.symbol);
    if (target != nullptr && target->space == ptx::Space::shared) {
      value = target->shared_offset + (r.generic ? ptx::shared_window : 0);
    }
    value = (value + static_cast<std::uint64_t>(r.addend)) >> r.shift;
    SIMTLAB_ASSERT(r.bytes <= 8, "a relocation is at most 8 bytes");
    std::byte raw[8];
    std::memcpy(raw, &value, sizeof raw);
    SIMTLAB_ASSERT(module.memory->write(address + r.offset, {raw, r.bytes}),
                   "a relocation lies inside its variable");
  }
}

void release_variables(LoadedModule::Impl& impl) {
  for (std::size_t i = 0; i < impl.addresses.size(); ++i) {
    const ptx::Variable& v = impl.module->variables[i];
    const bool placed = v.reference == ptx::Type::none && v.within < 0 && impl.addresses[i] != 0;
    if (placed) impl.memory->release(impl.addresses[i]);
  }
}

void load(LoadedModule::Impl& impl) {
  const ptx::Module& module = *impl.module;
  for (std::uint32_t i = 0; i < module.variables.size(); ++i) {
    impl.addresses.push_back(place(module, module.variables[i], i, *impl.memory));
  }
  for (std::uint32_t i = 0; i < module.variables.size(); ++i)
    if (const ptx::Variable& v = module.variables[i]; v.within >= 0)
      impl.addresses[i] = impl.addresses.at(static_cast<std::size_t>(v.within)) + v.within_offset;
  for (std::uint32_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& v = module.variables[i];
    if (impl.addresses[i] == 0 || v.reference != ptx::Type::none) continue;
    initialise(impl, v, impl.addresses[i]);
    if (v.within < 0 && v.space == ptx::Space::constant) impl.memory->set_read_only(impl.addresses[i], true);
  }
  impl.functions.resize(module.functions.size());
  std::vector<Diagnostic> problems;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    impl.functions[i].function = &module.functions[i];
    // Kernels may change until they are launched.
    const bool now = !module.late || !module.functions[i].is_entry;
    impl.is_bound.push_back(now);
    if (now) impl.functions[i] = bind_function(impl, module.functions[i], problems);
  }
  if (!problems.empty()) throw Error(ExitCode::unsupported, "ptx-unsupported", std::move(problems));
}

}  // namespace

std::uint32_t SpecialRows::row(ptx::Special special, bool wide) {
  for (const SpecialRow& row : rows) {
    if (row.special == special && row.wide == wide) return row.offset;
  }
  rows.push_back({special, wide, bytes});
  bytes += wide ? 2 * row_bytes : row_bytes;
  return rows.back().offset;
}

LoadedModule::LoadedModule(std::shared_ptr<const ptx::Module> module, GlobalMemory& memory)
    : impl_(std::make_unique<Impl>()) {
  impl_->module = std::move(module);
  impl_->memory = &memory;
  impl_->isa = choose_isa();
  impl_->bound_textures.resize(impl_->module->variables.size());
  try {
    load(*impl_);
  } catch (...) {
    release_variables(*impl_);
    throw;
  }
}

LoadedModule::~LoadedModule() { release_variables(*impl_); }

const BoundFunction& LoadedModule::bound(std::uint32_t function) const {
  Impl& impl = *impl_;
  SIMTLAB_ASSERT(function < impl.functions.size(), "a launch has a function of its module");
  const std::lock_guard lock(impl.binding);
  if (impl.is_bound[function]) return impl.functions[function];
  impl.module->complete(function);
  std::vector<Diagnostic> problems;
  BoundFunction bound = bind_function(impl, impl.module->functions[function], problems);
  if (!problems.empty()) throw Error(ExitCode::unsupported, "ptx-unsupported", std::move(problems));
  impl.functions[function] = std::move(bound);
  impl.is_bound[function] = true;
  return impl.functions[function];
}

const ptx::Module& LoadedModule::module() const { return *impl_->module; }

std::uint64_t LoadedModule::variable_address(std::uint32_t variable) const {
  SIMTLAB_ASSERT(variable < impl_->addresses.size(), "the variable is one of the module");
  return impl_->addresses[variable];
}

void LoadedModule::bind_texture(std::uint32_t variable, const Texture& texture) {
  SIMTLAB_ASSERT(variable < impl_->bound_textures.size(),
                 "the texture reference is a variable of the module");
  impl_->bound_textures[variable] = texture;
}

}  // namespace simtlab::exec
