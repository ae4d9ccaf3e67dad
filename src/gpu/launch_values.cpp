#include "gpu/launch_values.h"

#include <cstring>

#include "base/error.h"

namespace simtlab::gpu {

bool set_launch_values(Gpu& gpu, ModuleId module, const LaunchValues& values) {
  const std::optional<Symbol> symbol = gpu.find_symbol(module, "simtlab_launch");
  const std::array<std::uint32_t, 4> wanted = {values.offset[0], values.offset[1], values.offset[2],
                                               values.dimensions};
  if (!symbol || symbol->bytes < sizeof wanted) return values.offset == std::array<std::uint32_t, 3>{};
  std::array<std::uint32_t, 4> now{};
  std::memcpy(now.data(), gpu.memory().host(symbol->address), sizeof now);
  if (now == wanted) return true;
  gpu.loaded(module);  // launches under way keep what they were given: they end first
  SIMTLAB_ASSERT(gpu.memory().write(symbol->address, std::as_bytes(std::span(wanted))),
                 "a module's variable is allocated");
  return true;
}

std::optional<std::uint64_t> LocalMemory::add(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t align = alignment < 16 ? 16 : alignment;
  const std::uint64_t begin = (end_ + align - 1) / align * align;
  if (bytes > 0xffffffffu || begin + bytes - static_ > 0xffffffffu) return std::nullopt;
  end_ = begin + bytes;
  return begin;
}

}  // namespace simtlab::gpu
