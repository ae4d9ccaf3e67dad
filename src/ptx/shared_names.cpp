#include "ptx/shared_names.h"

#include "base/kernel_name.h"

namespace simtlab::ptx {

std::optional<SharedPlace> shared_place(const Module& module, const Function& kernel, std::uint64_t offset) {
  const auto begin_of = [&](const Variable& v) -> std::uint64_t {
    return v.external ? kernel.shared_bytes : v.shared_offset;
  };
  const Variable* best = nullptr;
  for (const Variable& v : module.variables) {
    if (v.space != Space::shared) continue;
    const std::uint64_t begin = begin_of(v), end = v.external ? ~std::uint64_t{0} : begin + v.bytes;
    if (offset < begin || offset >= end) continue;
    // A variable of the kernel itself before one of a function that it may call
    if (best == nullptr || v.name.starts_with(kernel.name)) best = &v;
  }
  if (best == nullptr) return std::nullopt;
  // "kernel.variable": what a function declares; C++ says "kernel(int)::variable"
  std::string name = best->name;
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) name = name.substr(dot + 1);
  name = demangle(name);
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  return SharedPlace{std::move(name), offset - begin_of(*best)};
}

}  // namespace simtlab::ptx
