// Checkpoints: any bytes are one or an Error, in bounded memory; what is read goes into memory and caches or
// is refused.
//
// The first byte chooses: a file as it is (checksums stop most of these), changed pages, or the contents of a
// cache.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "memory/cache.h"
#include "stream/checkpoint/file.h"
#include "stream/checkpoint/pages.h"
#include "stream/trace/reader.h"

using namespace simtlab;
using namespace simtlab::stream::checkpoint;

namespace {

void read_all(const std::string& file) {
  try {
    const Reader reader(stream::trace::memory_input(file), "input");
    static_cast<void>(reader.read(reader.run()));
    for (const Reader::Launch& launch : reader.launches()) {
      static_cast<void>(reader.read(launch.entry));
      for (const Reader::Place& place : launch.pages) static_cast<void>(reader.read(place));
    }
    for (const Reader::Place& place : reader.state()) static_cast<void>(reader.read(place));
  } catch (const Error& e) { static_cast<void>(e.format()); }
}

void pages(Bytes in) {
  exec::GlobalMemory memory(1u << 20, 0);
  memory.allocate(10000, "a");
  memory.allocate(300, "b");
  try {
    apply_changes(in, memory);
  } catch (const stream::trace::Malformed&) {}
  static_cast<void>(digest(memory, hash_pages(memory)));
}

void cache(Bytes in, std::uint8_t kind) {
  const std::uint32_t line_bytes = 32u << kind % 3;
  memory::Cache cache({.bytes = 64 * 128,
                       .line_bytes = line_bytes,
                       .ways = 4,
                       .set_index = (kind & 4) != 0 ? device::SetIndex::hash : device::SetIndex::modulo});
  try {
    cache.restore(in);
  } catch (const stream::trace::Malformed&) { return; }
  memory::Evictions evicted;
  for (std::uint64_t line = 0; line < 100; ++line) {
    evicted.count = 0;
    cache.fill(line, cache.read(line, 0xf).miss, false, evicted);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::span<const std::uint8_t> rest(data + 2, size - 2);
  if (data[0] % 3 == 0) read_all(std::string(reinterpret_cast<const char*>(rest.data()), rest.size()));
  if (data[0] % 3 == 1) pages(Bytes(rest));
  if (data[0] % 3 == 2) cache(Bytes(rest), data[1]);
  return 0;
}
