// What programs and the shared simulated GPU say to each other: one call at a time, each with an answer.
// Records of fixed size; recorded launches and results come as descriptors of files.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "gpu/shared/socket.h"

namespace simtlab::gpu::shared {

inline constexpr const char* device_socket = "device";
inline constexpr std::uint32_t device_magic = 0x31564453;  // "SDV1"

struct Call {
  enum Kind : std::uint32_t { open = 1, begin, advance, invalidate, give_up, clock };
  std::uint32_t magic = device_magic, kind = 0;
  double ns = 0;  // begin, advance
  std::int32_t priority = 0;
  std::uint32_t first_sm = 0, sms = 0, unused = 0;
  std::uint64_t address = 0, bytes = 0;  // invalidate
  char device[64] = {};                  // open: what the program takes the GPU to be
};

struct Answer {
  enum Kind : std::uint32_t { opened = 1, began, reached, ended, done, failed };
  std::uint32_t magic = device_magic, kind = 0;
  std::uint64_t id = 0;
  double begin_ns = 0, end_ns = 0, clock_ns = 0;
  char text[256] = {};  // failed: why
};

template <typename Record>
std::span<const std::byte> bytes_of(const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  return std::as_bytes(std::span(&record, 1));
}

// Nothing: it is no such record.
template <typename Record>
std::optional<Record> record_of(const Packet& packet) {
  Record out;
  if (packet.size != sizeof out) return std::nullopt;
  std::memcpy(&out, packet.bytes.data(), sizeof out);
  if (out.magic != device_magic) return std::nullopt;
  return out;
}

template <std::size_t size>
void set_text(char (&to)[size], const std::string& text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}
template <std::size_t size>
std::string text_of(const char (&from)[size]) {
  return std::string(from, ::strnlen(from, size));
}

}  // namespace simtlab::gpu::shared
