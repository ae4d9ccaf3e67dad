#include "stream/accelsim/lines.h"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/files.h"
#include "base/shown.h"

namespace simtlab::stream::accelsim {
namespace {

constexpr std::size_t piece = 64u << 10;
constexpr std::size_t max_line = 64u << 10;      // the longest that the format can have is about 2000
constexpr std::uint64_t xz_memory = 256u << 20;  // xz -9 needs 65 MiB

class FileText final : public Text {
 public:
  explicit FileText(const std::filesystem::path& path) : file_(path, "trace") {}
  std::size_t read(char* to, std::size_t room) override { return file_.read(to, room); }

 private:
  FileReader file_;
};

class MemoryText final : public Text {
 public:
  explicit MemoryText(std::string_view text) : text_(text) {}
  std::size_t read(char* to, std::size_t room) override {
    const std::size_t n = std::min(room, text_.size());
    if (n != 0) std::memcpy(to, text_.data(), n);
    text_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view text_;
};

class Xz final : public Text {
 public:
  Xz(std::unique_ptr<Text> raw, std::string_view start, std::string name)
      : raw_(std::move(raw)), name_(std::move(name)) {
    if (lzma_stream_decoder(&state_, xz_memory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
    std::ranges::copy(start, input_.begin());
    state_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
    state_.avail_in = start.size();
  }
  ~Xz() override { lzma_end(&state_); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;

  std::size_t read(char* to, std::size_t room) override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(to);
    state_.avail_out = room;
    while (!over_ && state_.avail_out == room) step();
    return room - state_.avail_out;
  }

 private:
  void step() {
    if (state_.avail_in == 0 && !raw_ended_) {
      state_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
      state_.avail_in = raw_->read(input_.data(), input_.size());
      raw_ended_ = state_.avail_in == 0;
    }
    const lzma_ret result = lzma_code(&state_, raw_ended_ ? LZMA_FINISH : LZMA_RUN);
    if (result == LZMA_STREAM_END) {
      over_ = true;
    } else if (result == LZMA_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != LZMA_OK) {
      const char* what = result == LZMA_BUF_ERROR        ? "the compressed file ends in the middle"
                         : result == LZMA_MEMLIMIT_ERROR ? "decompressing it takes more than 256 MiB"
                                                         : "the compressed file is damaged";
      Diagnostic d;
      d.message = what;
      d.pos.file = name_;
      d.hint = "copy it again; `xz -t` checks it";
      throw Error(ExitCode::bad_input, "accelsim-truncated", std::move(d));
    }
  }

  std::unique_ptr<Text> raw_;
  std::string name_;
  lzma_stream state_ = LZMA_STREAM_INIT;
  std::array<char, piece> input_{};
  bool raw_ended_ = false, over_ = false;
};

// The lines that were looked at already, then the rest of the file.
class Resumed final : public Text {
 public:
  Resumed(std::unique_ptr<Text> raw, std::string start) : raw_(std::move(raw)), start_(std::move(start)) {}
  std::size_t read(char* to, std::size_t room) override {
    if (at_ == start_.size()) return raw_->read(to, room);
    const std::size_t n = std::min(room, start_.size() - at_);
    std::memcpy(to, start_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::unique_ptr<Text> raw_;
  std::string start_;
  std::size_t at_ = 0;
};

std::unique_ptr<Text> decompressed(std::unique_ptr<Text> raw, const std::string& name) {
  constexpr std::string_view magic{
      "\xfd"
      "7zXZ\0",
      6};
  std::string start(magic.size(), '\0');
  std::size_t n = 0;
  while (n < start.size()) {
    const std::size_t got = raw->read(start.data() + n, start.size() - n);
    if (got == 0) break;
    n += got;
  }
  start.resize(n);
  if (start == magic) return std::make_unique<Xz>(std::move(raw), start, name);
  return std::make_unique<Resumed>(std::move(raw), std::move(start));
}

}  // namespace

std::unique_ptr<Text> file_text(const std::filesystem::path& path) {
  return std::make_unique<FileText>(path);
}
std::unique_ptr<Text> memory_text(std::string_view text) { return std::make_unique<MemoryText>(text); }

Lines::Lines(std::unique_ptr<Text> text, std::string name)
    : text_(decompressed(std::move(text), name)), name_(std::move(name)) {}

bool Lines::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + piece);
  const std::size_t got = ended_ ? 0 : text_->read(buffer_.data() + size, piece);
  buffer_.resize(size + got);
  ended_ = got == 0;
  return got != 0;
}

bool Lines::next() {
  std::size_t end;
  while ((end = buffer_.find('\n', at_)) == std::string::npos) {
    if (buffer_.size() - at_ > max_line) {
      line_ = {};
      ++number_;
      refuse({}, fmt::format("the line has more than {} bytes", max_line));
    }
    if (!fill()) break;
  }
  if (end == std::string::npos) {
    if (at_ == buffer_.size()) return false;
    end = buffer_.size();
    unfinished_ = true;
  }
  line_ = std::string_view(buffer_).substr(at_, end - at_);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  at_ = std::min(end + 1, buffer_.size());
  ++number_;
  return true;
}

void Lines::refuse(std::string_view word, const std::string& what) const {
  Diagnostic d;
  d.message = word.empty() ? what : fmt::format("'{}': {}", shown(word, 60), what);
  if (unfinished_) d.message += "; the file ends within this line";
  d.pos.file = name_;
  d.pos.line = number_;
  if (!word.empty() && word.data() >= line_.data() && word.data() <= line_.data() + line_.size())
    d.pos.column = static_cast<std::uint32_t>(word.data() - line_.data()) + 1;
  d.text = shown(line_, 200);
  throw Error(ExitCode::bad_input, "accelsim-syntax", std::move(d));
}

void Lines::truncated(const std::string& what) const {
  Diagnostic d;
  d.message = what;
  d.pos.file = name_;
  d.pos.line = number_;
  d.hint = "the file was cut off; copy it again";
  throw Error(ExitCode::bad_input, "accelsim-truncated", std::move(d));
}

}  // namespace simtlab::stream::accelsim
