#include "hosts/cuda/driver/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace simtlab::hosts::cuda {
namespace {

constexpr int wall_time = 2, info_log = 3, info_log_bytes = 4, error_log = 5, error_log_bytes = 6;

void** value_of(const JitOptions& options, int name) {
  for (unsigned i = 0; i < options.count; ++i)
    if (options.names[i] == name) return &options.values[i];
  return nullptr;
}

// Sizes are numbers in the place of pointers, and say afterwards how much was written.
void write_log(const JitOptions& options, int log, int bytes, std::string_view text) {
  void** const buffer = value_of(options, log);
  void** const size = value_of(options, bytes);
  if (size == nullptr) return;
  const auto room = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(*size));
  std::size_t written = 0;
  if (buffer != nullptr && *buffer != nullptr && room != 0) {
    written = std::min<std::size_t>(text.size(), room - 1);
    std::memcpy(*buffer, text.data(), written);
    static_cast<char*>(*buffer)[written] = '\0';
  }
  *size = reinterpret_cast<void*>(written);
}

}  // namespace

void write_logs(const JitOptions& options, std::string_view error) {
  if (options.names == nullptr || options.values == nullptr) return;
  write_log(options, info_log, info_log_bytes, {});
  write_log(options, error_log, error_log_bytes, error);
  if (void** const time = value_of(options, wall_time)) *time = nullptr;  // 0.0f
}

}  // namespace simtlab::hosts::cuda
