// Lines of a text file, decompressed on the way if it is xz: one line in memory at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace simtlab::stream::accelsim {

// A piece of text after the other.
class Text {
 public:
  virtual ~Text() = default;
  virtual std::size_t read(char* to, std::size_t room) = 0;  // 0 at the end
};
std::unique_ptr<Text> file_text(const std::filesystem::path& path);  // .xz by its first bytes
std::unique_ptr<Text> memory_text(std::string_view text);            // which outlives it

class Lines {
 public:
  Lines(std::unique_ptr<Text> text, std::string name);

  bool next();  // false at the end
  std::string_view line() const { return line_; }
  std::uint32_t number() const { return number_; }
  const std::string& name() const { return name_; }
  // An error at a word of the current line.
  [[noreturn]] void refuse(std::string_view word, const std::string& what) const;
  [[noreturn]] void truncated(const std::string& what) const;

 private:
  bool fill();

  std::unique_ptr<Text> text_;
  std::string name_, buffer_;
  std::size_t at_ = 0;
  std::string_view line_;
  std::uint32_t number_ = 0;
  bool ended_ = false, unfinished_ = false;  // unfinished_: the current line has no end
};

}  // namespace simtlab::stream::accelsim
