// Layout of a trace file; docs/reference/traces.md describes it for readers.
//
//   file header   "SIMTRACE", version
//   chunks        type, sizes, checksum, content (zstd): code of functions, segments of blocks, tables of
//   blocks, operations index         a chunk, too: where the code and the operations are file footer   offset
//   of the index, "SIMTEND."
//
// A segment holds a part of one block: for each warp its control stream (runs of consecutive instructions,
// active lanes) and its data stream (guards, addresses, barriers); warp_code.h. Operations are what the host
// asked for, in order: kernels, copies, streams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exec/executor.h"

namespace simtlab::stream::trace {

inline constexpr std::string_view file_magic = "SIMTRACE", end_magic = "SIMTEND.";
// Raised whenever the content changes its meaning; also when an enumeration of ptx/inst.h does.
inline constexpr std::uint32_t format_version = 5;
// Version 4 does not say of machine code whether it was made of PTX. Versions 2 and 3 have no machine code; 2
// lacks Inst::shifts: such products are timed as products
inline constexpr std::uint32_t oldest_format_version = 2;
inline constexpr std::size_t file_header_bytes = 16, footer_bytes = 24, chunk_header_bytes = 20;

enum class ChunkType : std::uint32_t { code = 1, segment, table, operations, index, count_ };

// Limits of the memory that a reader takes at once, whatever a file claims.
inline constexpr std::uint32_t max_code_bytes = 16u << 20;  // of one function, decompressed
inline constexpr std::uint64_t max_all_code_bytes = 64u << 20;
inline constexpr std::uint32_t max_part_bytes = 4u << 20;  // of every other chunk, decompressed
inline constexpr std::uint32_t segment_bytes = 64u << 10;  // a segment is written when it has so many
inline constexpr std::uint32_t table_blocks = 8192;        // of one table chunk
inline constexpr std::uint64_t max_blocks = std::uint64_t{1} << 40;
inline constexpr std::size_t max_name = 1u << 20;

// Operations that the host asked for. Each line says what the numbers a and b, the stream and the flag mean.
enum class OpKind : std::uint8_t {
  kernel,         // see Kernel; flag: part of a batch, launching it costs the host nothing
  copy,           // a: bytes, b: kind as gpu::Gpu::CopyKind; flag: asynchronous
  fill,           // a: bytes; flag: asynchronous
  invalidate,     // device memory was written by the host: a: address, b: bytes
  create_stream,  // flag: non-blocking; a: priority
  destroy_stream,
  synchronize,  // flag: of one stream
  create_event,
  destroy_event,  // a: event
  record_event,   // a: event
  wait_host,      // a: event
  wait_event,     // a: event
  reset,
  peak,  // a: most bytes allocated at once
  count_,
};

// One launch.
struct Kernel {
  std::uint32_t function = 0;  // number in the trace
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  // static + dynamic
  std::uint64_t blocks = 0;        // that the trace holds: all of the grid, unless it was cut
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t stored_bytes = 0;     // of its segments in the file
  std::uint64_t dictionary = 0;       // offset of the segment that helps to decompress the others; 0: none
  std::vector<std::uint64_t> tables;  // offsets of the tables of blocks, table_blocks each

  exec::Dim3 grid_dim() const { return {grid[0], grid[1], grid[2]}; }
  exec::Dim3 block_dim() const { return {block[0], block[1], block[2]}; }
  bool whole() const { return blocks == grid_dim().count(); }
};

struct Operation {
  OpKind kind = OpKind::kernel;
  bool flag = false;
  std::uint32_t stream = 0;
  std::uint64_t a = 0, b = 0;
  Kernel kernel;
};

// Of the whole trace; kept in the index.
struct Totals {
  std::uint64_t kernels = 0, blocks = 0, warp_instructions = 0, thread_instructions = 0;
};

// A block of a kernel: its number in the grid and where its segments are.
struct BlockEntry {
  std::uint64_t number = 0;
  std::uint64_t warp_instructions = 0;
  std::vector<std::uint64_t> segments;
};

}  // namespace simtlab::stream::trace
