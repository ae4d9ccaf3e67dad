// A stream of bytes, decompressed on the way where its first bytes say so: gzip and zstd, several members
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace simtlab::memory::traffic {

// How a stream ended: with all its content, in the middle of it, or where the content is not what it should
// be.
enum class Ending : std::uint8_t { whole, truncated, damaged };

class Bytes {
 public:
  virtual ~Bytes() = default;
  // The next bytes, at most `room` (not 0); 0 at the end, whose kind ending() then tells.
  virtual std::size_t read(char* to, std::size_t room) = 0;
  virtual Ending ending() const { return Ending::whole; }
  virtual std::string_view compression() const { return {}; }  // "gzip", "zstd", or nothing
};

// Of a file, a pipe or a device. Throws Error(bad_input) as base/files.h. stop: ends the wait for a pipe.
std::unique_ptr<Bytes> file_bytes(const std::filesystem::path& path, const volatile bool* stop = nullptr);
// Of a text that outlives it.
std::unique_ptr<Bytes> memory_bytes(std::string_view text);

// The content behind `raw`: `raw` itself unless it starts like a compressed file. Memory is bounded: what
// zstd needs at its largest usual window, 128 MiB; a file that asks for more is damaged.
std::unique_ptr<Bytes> decompressed(std::unique_ptr<Bytes> raw);

}  // namespace simtlab::memory::traffic
