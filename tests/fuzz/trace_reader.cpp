// Recorded traces: any bytes are a trace or an Error, in bounded memory, and what is read can be stepped to
// its end.
//
// The first byte chooses: a file as it is (checksums stop most of these), the code of a function, or a whole
// file made around code and a segment, with right checksums, so that what is behind them is reached.
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "stream/trace/operations.h"
#include "stream/trace/replay.h"

using namespace simtlab;
using namespace simtlab::stream::trace;

namespace {

constexpr std::uint64_t most_steps = 200000;

void run(const std::string& file) {
  try {
    Reader reader(memory_input(file), "input.simt");
    while (const std::optional<Operation> operation = reader.next()) {
      if (operation->kind != OpKind::kernel) continue;
      const ReplayedLaunch launch(reader, operation->kernel);
      const auto share = launch.make_share(stream::Effects::at_commit);
      const auto block = share->make_block();
      block->reset(0, 0, 0);
      std::uint64_t steps = 0;
      for (bool progress = true; progress && steps < most_steps;) {
        progress = false;
        for (unsigned warp = 0; warp < launch.warps_per_block(); ++warp) {
          if (block->status(warp) != stream::WarpStatus::ready) continue;
          static_cast<void>(block->next(warp));
          block->step(warp, 0);
          progress = true;
          ++steps;
        }
        share->commit();
      }
      if (steps < most_steps) block->check_progress();
    }
  } catch (const Error& e) { static_cast<void>(e.format()); }
}

class File {
 public:
  File() {
    bytes_ = std::string(file_magic);
    u32(format_version);
    u32(0);
  }
  std::uint64_t chunk(ChunkType type, const Buffer& content) {
    Buffer out(ZSTD_compressBound(content.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 1));
    const std::uint64_t at = bytes_.size();
    u32(static_cast<std::uint32_t>(type));
    u32(static_cast<std::uint32_t>(out.size()));
    u32(static_cast<std::uint32_t>(content.size()));
    u64(XXH64(out.data(), out.size(), static_cast<std::uint64_t>(type) << 32 | content.size()));
    bytes_.append(reinterpret_cast<const char*>(out.data()), out.size());
    return at;
  }
  std::string finish(std::uint64_t index) {
    const std::uint64_t hash = XXH64(&index, sizeof index, bytes_.size());
    u64(index);
    u64(hash);
    return bytes_ + std::string(end_magic);
  }

 private:
  void u32(std::uint32_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 4); }
  void u64(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 8); }
  std::string bytes_;
};

std::string framed(const Buffer& code, const Buffer& segment, unsigned warps) {
  File file;
  const std::uint64_t code_at = file.chunk(ChunkType::code, code),
                      segment_at = file.chunk(ChunkType::segment, segment);
  Buffer table;
  for (const unsigned n : {1u, 0u, 0u, 1u}) put_number(table, n);
  put_signed(table, segment_at);
  Operation operation;
  operation.kernel.block = {32 * warps, 1, 1};
  operation.kernel.blocks = 1;
  operation.kernel.dictionary = segment_at;
  operation.kernel.tables = {file.chunk(ChunkType::table, table)};
  Buffer operations;
  put_operation(operations, operation);
  const std::uint64_t operations_at = file.chunk(ChunkType::operations, operations);
  Buffer index;
  put_text(index, "fuzz");
  for (const std::uint64_t n : {std::uint64_t{1}, code_at, std::uint64_t{1}, operations_at, std::uint64_t{1},
                                std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{0}})
    put_number(index, n);
  return file.finish(file.chunk(ChunkType::index, index));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::uint8_t mode = data[0];
  if (mode == 0) {
    run(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    return 0;
  }
  const std::size_t rest = size - 4, code = std::min<std::size_t>(rest, data[2] | std::size_t{data[3]} << 8);
  const Buffer first(data + 4, data + 4 + code), second(data + 4 + code, data + size);
  if (mode == 1) {
    try {
      static_cast<void>(read_code(Bytes(first)));
    } catch (const Malformed&) {}
    return 0;
  }
  run(framed(first, second, data[1] % 4 + 1u));
  return 0;
}
