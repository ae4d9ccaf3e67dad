#include "memory/traffic/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace simtlab::memory::traffic {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} * 1024;
constexpr std::size_t sample_bytes = std::size_t{16} * 1024;  // more would make a slow pipe wait

std::uint32_t shown_number(std::uint64_t number) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

Lines::Lines(std::unique_ptr<Bytes> bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)), buffer_(buffer_bytes) {}

// More text behind what there is; the rest moves to the front first. False: there is no more, or no room.
bool Lines::fill() {
  if (over_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  if (end_ == buffer_.size()) return false;
  const std::size_t n = bytes_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += n;
  over_ = n == 0;
  return n > 0;
}

bool Lines::next(std::string_view& line) {
  std::size_t seen = 0;  // of the line, without a line end
  for (;;) {
    const char* begin = buffer_.data() + at_;
    const std::size_t there = end_ - at_;
    const void* found = there > seen ? std::memchr(begin + seen, '\n', there - seen) : nullptr;
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
      at_ += length + 1;
      ++number_;
      if (length > max_line_bytes) too_long();
      line = {begin, length};
      break;
    }
    seen = there;
    if (seen > max_line_bytes) {
      ++number_;
      too_long();
    }
    if (fill()) continue;
    check_ending();
    if (there == 0) return false;
    line = {buffer_.data() + at_, there};
    at_ = end_;
    ++number_;
    unfinished_ = true;
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

std::string_view Lines::sample() {
  while (end_ - at_ < sample_bytes && fill()) {}
  std::string_view text(buffer_.data() + at_, end_ - at_);
  if (!over_) text = text.substr(0, text.rfind('\n') + 1);
  return text;
}

void Lines::too_long() const {
  Diagnostic d;
  d.message = fmt::format("a line of more than {} bytes", max_line_bytes);
  d.pos = {name_, shown_number(number_), static_cast<std::uint32_t>(max_line_bytes + 1)};
  d.hint = "a trace has one access a line; is it the right file?";
  throw Error(ExitCode::bad_input, "trace-line", std::move(d));
}

void Lines::check_ending() const {
  const Ending ending = bytes_->ending();
  if (ending == Ending::whole) return;
  const bool truncated = ending == Ending::truncated;
  Diagnostic d;
  d.message = fmt::format("the {} file {} after line {}", bytes_->compression(),
                          truncated ? "ends too early," : "is damaged", number_);
  d.pos = {name_, shown_number(number_ + 1), 1};
  d.hint = truncated ? "it was not copied or written to its end; make it again"
                     : fmt::format("`{} -t` checks it; a zstd window above 128 MiB (--long) is not read",
                                   bytes_->compression());
  throw Error(ExitCode::bad_input, truncated ? "trace-truncated" : "trace-damaged", std::move(d));
}

}  // namespace simtlab::memory::traffic
