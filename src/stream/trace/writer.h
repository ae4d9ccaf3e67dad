// Writes a trace file piece by piece. Memory is bounded by the blocks under way and about 100 bytes a block
// of the running kernels.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/files.h"
#include "stream/trace/bytes.h"
#include "stream/trace/code.h"
#include "stream/trace/format.h"

namespace simtlab::stream::trace {

class Writer {
 public:
  // The file gets its name when close() is called and not before. recorded_on: device and mode, for people.
  Writer(const std::filesystem::path& path, std::string recorded_on);
  ~Writer();

  void operation(const Operation& operation);  // in order; of kernels see reserve_kernel
  // Number of a function; equal code is kept once.
  std::uint32_t add_code(const Buffer& code);

  // A kernel's place among the operations is where it was reserved, whenever it runs. Several may be open;
  // segments may come from several threads: a block's in their order, blocks in any.
  using Place = std::uint64_t;
  Place reserve_kernel(std::uint32_t stream, bool batched = false);
  void begin_kernel(Place place, Kernel kernel);
  struct Segment {
    std::uint64_t block = 0, warp_instructions = 0, thread_instructions = 0;
  };
  void add_segment(Place place, const Segment& segment, const Buffer& content);
  void finish_kernel(Place place);
  void drop_kernel(Place place);  // it failed: as if it had not been reserved

  void close();  // kernels that have not been finished are dropped

 private:
  struct Dictionary;

  std::uint64_t write_chunk(ChunkType type, const Buffer& content, const Dictionary* dictionary = nullptr);
  struct Open {
    Kernel kernel;
    std::uint32_t stream = 0;
    bool batched = false, begun = false;
    std::map<std::uint64_t, BlockEntry> blocks;
  };
  // An operation of the host, which may have to wait for the operations before it.
  struct Queued {
    Place place = 0;  // of a kernel that is not complete
    Operation operation;
  };

  void write_tables(Open& open);
  void settle(Place place, bool keep);
  void write_settled();
  void flush_operations();

  std::mutex mutex_;
  FileWriter file_;
  std::string recorded_on_;
  std::uint64_t offset_ = 0;
  std::map<std::uint64_t, std::uint32_t> code_by_hash_;
  std::vector<std::uint64_t> code_offsets_, operation_offsets_;
  Buffer operations_;
  std::map<std::uint32_t, std::unique_ptr<Dictionary>> dictionaries_;
  std::map<Place, Open> open_;
  std::deque<Queued> queue_;
  Place places_ = 0;
  Totals totals_;
  struct Zstd;
  std::unique_ptr<Zstd> zstd_;
};

}  // namespace simtlab::stream::trace
