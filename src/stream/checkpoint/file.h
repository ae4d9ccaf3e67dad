// The file behind --checkpoint (docs/reference/checkpoints.md): parts that are compressed and checksummed one
// by one, appended as a run goes on.
//
// A part `complete` says that everything before it belongs together; what follows the last one (a run that
// was killed while it wrote) is not used. The file gets its name with the first `complete`; before, it is a
// temporary one that an end of the run removes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/temporary.h"
#include "stream/trace/bytes.h"

namespace simtlab::stream::trace {
class Input;
}

namespace simtlab::stream::checkpoint {

using trace::Buffer;
using trace::Bytes;

enum class Part : std::uint8_t {
  run = 1,  // the command, configuration and inputs of the run; the first part of a file
  launch,   // a launch and its result
  pages,    // memory that the launch before it changed; any number
  state,    // of the cycle-level GPU behind the last launch; any number, one text in pieces
  complete,
};

inline constexpr std::uint32_t format_version = 2;
inline constexpr std::size_t max_part_bytes = std::size_t{64} << 20;

class Writer {
 public:
  // Throws Error(failure "file-write").
  explicit Writer(std::filesystem::path path);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(Part part, const Buffer& content);  // at most max_part_bytes
  void complete();

 private:
  void put(const void* data, std::size_t bytes);

  std::filesystem::path path_;
  TemporaryFile file_;  // has the name with the first `complete`
  Buffer packed_;
};

// Throws Error(bad_input): "checkpoint-file" (none), "checkpoint-version", "checkpoint-damaged" with the
// byte.
class Reader {
 public:
  Reader(std::unique_ptr<trace::Input> input, std::string name);
  ~Reader();

  struct Place {
    Part part;
    std::uint64_t offset = 0;  // of the packed bytes
    std::uint32_t packed = 0, bytes = 0;
  };
  struct Launch {
    Place entry;
    std::vector<Place> pages;
  };

  const std::string& name() const { return name_; }
  const Place& run() const { return run_; }
  const std::vector<Launch>& launches() const { return launches_; }
  const std::vector<Place>& state() const { return state_; }
  // Bytes behind the last part `complete`: an unfinished end.
  std::uint64_t unused_bytes() const { return unused_; }
  Buffer read(const Place& place) const;
  [[noreturn]] void damaged(std::uint64_t offset, const std::string& what) const;

 private:
  bool next(std::uint64_t& at, Place& place) const;  // false: no whole part there

  std::unique_ptr<trace::Input> input_;
  std::string name_;
  Place run_;
  std::vector<Launch> launches_;
  std::vector<Place> state_;
  std::uint64_t unused_ = 0;
};

std::unique_ptr<Reader> open(const std::filesystem::path& path);  // regular files only

}  // namespace simtlab::stream::checkpoint
