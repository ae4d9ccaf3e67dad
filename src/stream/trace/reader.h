// Reads a trace file: what it holds, its operations in order, blocks of its kernels in any order. Memory is
// bounded whatever the file claims; everything is checked. Throws Error(bad_input): "trace-file" (no trace),
// "trace-version", "trace-damaged" with the byte.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stream/trace/bytes.h"
#include "stream/trace/code.h"
#include "stream/trace/format.h"
#include "stream/trace/warp_code.h"

namespace simtlab::stream::trace {

// Bytes that can be read anywhere.
class Input {
 public:
  virtual ~Input() = default;
  virtual std::uint64_t size() const = 0;
  // Within size(); thread-safe
  virtual void read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
};
std::unique_ptr<Input> file_input(const std::filesystem::path& path);  // regular files only
std::unique_ptr<Input> memory_input(std::string_view bytes);           // which outlive it

// A decompressed segment: the streams of each warp.
struct Segment {
  struct Streams {
    Bytes control, data;
  };
  Buffer content;
  std::vector<Streams> warps;
};

class Reader {
 public:
  Reader(std::unique_ptr<Input> input, std::string name);
  ~Reader();

  const std::string& name() const { return name_; }
  const std::string& recorded_on() const { return recorded_on_; }
  std::uint32_t version() const { return version_; }  // of the format
  const Totals& totals() const { return totals_; }
  std::uint64_t file_bytes() const { return input_->size(); }
  const std::vector<Code>& codes() const { return codes_; }
  std::uint64_t code_bytes() const { return code_bytes_; }

  std::optional<Operation> next();  // in order
  void rewind();

  std::vector<BlockEntry> table(const Kernel& kernel, std::size_t part) const;
  // `dictionary`: the kernel's, from dictionary().
  class Dictionary;
  std::shared_ptr<const Dictionary> dictionary(const Kernel& kernel) const;
  std::shared_ptr<const Segment> segment(std::uint64_t offset, const Dictionary* dictionary,
                                         unsigned warps) const;

  [[noreturn]] void damaged(std::uint64_t offset, const std::string& what) const;

 private:
  Buffer chunk(std::uint64_t offset, ChunkType type, const Dictionary* dictionary = nullptr) const;
  void read_ends();
  void read_index(std::uint64_t at);
  void check(const Kernel& kernel, std::uint64_t offset) const;

  std::unique_ptr<Input> input_;
  std::string name_, recorded_on_;
  std::uint32_t version_ = 0;
  Totals totals_;
  std::vector<Code> codes_;
  std::uint64_t code_bytes_ = 0;
  std::vector<std::uint64_t> operation_offsets_;
  std::size_t part_ = 0;  // of the operations: the one that comes
  Buffer operations_;
  Bytes rest_;
  struct Zstd;
  std::unique_ptr<Zstd> zstd_;
};

std::unique_ptr<Reader> open(const std::filesystem::path& path);

}  // namespace simtlab::stream::trace
