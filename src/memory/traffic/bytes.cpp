#include "memory/traffic/bytes.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/files.h"

namespace simtlab::memory::traffic {
namespace {

constexpr std::size_t piece_bytes = std::size_t{128} * 1024;

class FileBytes : public Bytes {
 public:
  FileBytes(const std::filesystem::path& path, const volatile bool* stop) : file_(path, "trace", stop) {}
  std::size_t read(char* to, std::size_t room) override { return file_.read(to, room); }

 private:
  FileReader file_;
};

class MemoryBytes : public Bytes {
 public:
  explicit MemoryBytes(std::string_view text) : text_(text) {}
  std::size_t read(char* to, std::size_t room) override {
    const std::size_t n = std::min(room, text_.size());
    if (n > 0) std::memcpy(to, text_.data(), n);
    text_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view text_;
};

// Another stream through a buffer, so that its start can be looked at before somebody reads it.
class Buffered : public Bytes {
 public:
  explicit Buffered(std::unique_ptr<Bytes> raw) : raw_(std::move(raw)), buffer_(piece_bytes) {}

  // What there is without taking it; at least `want` bytes unless the stream ends before.
  std::string_view look(std::size_t want) {
    while (end_ - at_ < want && fill()) {}
    return {buffer_.data() + at_, end_ - at_};
  }
  void take(std::size_t n) { at_ += n; }

  std::size_t read(char* to, std::size_t room) override {
    if (at_ == end_) return raw_->read(to, room);
    const std::size_t n = std::min(room, end_ - at_);
    std::memcpy(to, buffer_.data() + at_, n);
    at_ += n;
    return n;
  }
  Ending ending() const override { return raw_->ending(); }

 private:
  bool fill() {
    if (at_ == end_) at_ = end_ = 0;
    const std::size_t n =
        end_ < buffer_.size() ? raw_->read(buffer_.data() + end_, buffer_.size() - end_) : 0;
    end_ += n;
    return n > 0;
  }

  std::unique_ptr<Bytes> raw_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

class Gzip : public Bytes {
 public:
  explicit Gzip(std::unique_ptr<Buffered> raw) : raw_(std::move(raw)) {
    if (::inflateInit2(&state_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { ::inflateEnd(&state_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  std::size_t read(char* to, std::size_t room) override {
    room = std::min<std::size_t>(room, 1U << 30);
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(room);
    while (!over_ && state_.avail_out == room) step();
    return room - state_.avail_out;
  }
  Ending ending() const override { return ending_; }
  std::string_view compression() const override { return "gzip"; }

 private:
  void end(Ending ending) {
    over_ = true;
    ending_ = ending;
  }

  void step() {
    const std::string_view input = raw_->look(1);
    // gzip pads with zeros when it writes to tapes; what else follows a member must be one.
    if (between_members_) {
      if (input.empty() || input.front() == 0) return end(Ending::whole);
      between_members_ = false;
    }
    if (input.empty()) return end(Ending::truncated);
    // zlib never writes to its input.
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    state_.avail_in = static_cast<uInt>(input.size());
    const int result = ::inflate(&state_, Z_NO_FLUSH);
    raw_->take(input.size() - state_.avail_in);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_STREAM_END) {
      between_members_ = true;
      ::inflateReset(&state_);
    } else if (result != Z_OK) {
      end(Ending::damaged);
    }
  }

  std::unique_ptr<Buffered> raw_;
  z_stream state_{};
  bool between_members_ = false, over_ = false;
  Ending ending_ = Ending::whole;
};

class Zstd : public Bytes {
 public:
  explicit Zstd(std::unique_ptr<Buffered> raw) : raw_(std::move(raw)), state_(::ZSTD_createDCtx()) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ~Zstd() override { ::ZSTD_freeDCtx(state_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  std::size_t read(char* to, std::size_t room) override {
    ZSTD_outBuffer out{to, room, 0};
    while (!over_ && out.pos == 0) step(out);
    return out.pos;
  }
  Ending ending() const override { return ending_; }
  std::string_view compression() const override { return "zstd"; }

 private:
  void end(Ending ending) {
    over_ = true;
    ending_ = ending;
  }

  void step(ZSTD_outBuffer& out) {
    const std::string_view input = raw_->look(1);
    if (input.empty() && !within_frame_) return end(Ending::whole);
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    const std::size_t result = ::ZSTD_decompressStream(state_, &out, &in);
    raw_->take(in.pos);
    if (::ZSTD_isError(result) != 0) return end(Ending::damaged);
    within_frame_ = result != 0;
    if (input.empty() && within_frame_ && out.pos == 0) end(Ending::truncated);
  }

  std::unique_ptr<Buffered> raw_;
  ZSTD_DCtx* state_;
  bool within_frame_ = false, over_ = false;
  Ending ending_ = Ending::whole;
};

bool is_zstd(std::string_view start) {
  constexpr std::string_view frame = "\x28\xb5\x2f\xfd", skippable = "\x2a\x4d\x18";
  return start.starts_with(frame) ||
         (start.size() >= 4 && (static_cast<unsigned char>(start[0]) & 0xf0) == 0x50 &&
          start.substr(1).starts_with(skippable));
}

}  // namespace

std::unique_ptr<Bytes> file_bytes(const std::filesystem::path& path, const volatile bool* stop) {
  return std::make_unique<FileBytes>(path, stop);
}

std::unique_ptr<Bytes> memory_bytes(std::string_view text) { return std::make_unique<MemoryBytes>(text); }

std::unique_ptr<Bytes> decompressed(std::unique_ptr<Bytes> raw) {
  auto buffered = std::make_unique<Buffered>(std::move(raw));
  const std::string_view start = buffered->look(4);
  if (start.starts_with("\x1f\x8b")) return std::make_unique<Gzip>(std::move(buffered));
  if (is_zstd(start)) return std::make_unique<Zstd>(std::move(buffered));
  return buffered;
}

}  // namespace simtlab::memory::traffic
