// Memory traces: any bytes, compressed or not, in any format, give accesses or an Error, in bounded memory.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "memory/traffic/trace_reader.h"

using namespace simtlab;

namespace {

// A few kilobytes of zstd can be gigabytes of text, which take their time without telling anything new.
constexpr std::size_t most_compressed = 2048;
constexpr std::uint64_t most_accesses = 200000;

void read(std::string_view text, const memory::traffic::Format* format) {
  try {
    memory::traffic::TraceReader reader(memory::traffic::memory_bytes(text), "input.trace", format);
    memory::traffic::Access access;
    std::uint64_t cycle = 0;
    for (std::uint64_t i = 0; i < most_accesses && reader.next(access); ++i) {
      if (access.levels > memory::traffic::most_levels) __builtin_trap();
      if (reader.pace() != memory::traffic::Pace::timed) continue;
      if (access.cycle < cycle) __builtin_trap();
      cycle = access.cycle;
    }
    static_cast<void>(reader.place());
  } catch (const Error& e) { static_cast<void>(e.format()); }
}

}  // namespace

// The first byte chooses the format; more than there are: to be detected.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool maybe_compressed =
      !text.empty() && (text[0] == '\x1f' || text[0] == '\x28' || (text[0] & 0xf0) == 0x50);
  if (maybe_compressed && text.size() > most_compressed) return 0;
  const std::vector<memory::traffic::Format>& formats = memory::traffic::formats();
  read(text, data[0] < formats.size() ? &formats[data[0]] : nullptr);
  return 0;
}
