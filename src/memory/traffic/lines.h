// The lines of a byte stream in one fixed buffer, with their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "memory/traffic/bytes.h"

namespace simtlab::memory::traffic {

// No trace line is longer: 64 bytes of data are 128 digits.
inline constexpr std::size_t max_line_bytes = 4096;

class Lines {
 public:
  // name: of the file, for messages.
  Lines(std::unique_ptr<Bytes> bytes, std::string name);

  // The next line without its end; it stays valid until the next call. False at the end. Throws
  // Error(bad_input): "trace-line" (too long), "trace-truncated" and "trace-damaged" (of compressed files),
  // once the lines before are read.
  bool next(std::string_view& line);

  // The start of the text that next() has not given yet: whole lines, unless the stream ends within one.
  std::string_view sample();

  std::uint64_t number() const { return number_; }  // of the line that next() gave last, from 1
  bool unfinished() const { return unfinished_; }   // that line was the last one and had no end
  const std::string& name() const { return name_; }
  std::string_view compression() const { return bytes_->compression(); }

 private:
  bool fill();
  [[noreturn]] void too_long() const;
  void check_ending() const;

  std::unique_ptr<Bytes> bytes_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;  // what was not given yet
  std::uint64_t number_ = 0;
  bool over_ = false, unfinished_ = false;
};

}  // namespace simtlab::memory::traffic
