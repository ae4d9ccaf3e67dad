// Numbers as bytes: every part of a trace is written and read by this code.
//
// Whole numbers take seven bits a byte, low ones first; signed ones are folded (0, -1, 1, -2 ...) before.
// Reading is bounded: whoever asks for more than there is gets Malformed, which the trace reader turns into
// an Error with the place.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::stream::trace {

using Buffer = std::vector<std::uint8_t>;

// Thrown where the content of a trace breaks its format.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void put_number(Buffer& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}
inline std::uint64_t folded(std::uint64_t value) {
  return value << 1 ^ (value >> 63 != 0 ? ~std::uint64_t{0} : 0);
}
inline std::uint64_t unfolded(std::uint64_t value) { return value >> 1 ^ (~(value & 1) + 1); }
inline void put_signed(Buffer& out, std::uint64_t value) { put_number(out, folded(value)); }
inline void put_u32(Buffer& out, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void put_u64(Buffer& out, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void put_text(Buffer& out, std::string_view text) {
  put_number(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::span<const std::uint8_t> data) : at_(data.data()), end_(data.data() + data.size()) {}

  bool at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  std::uint8_t byte() {
    if (at_ == end_) ends_early();
    return *at_++;
  }
  std::uint64_t number() {
    std::uint64_t value = byte();
    if (value < 0x80) return value;
    value &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
      const std::uint64_t next = byte();
      if (shift == 63 && next > 1) throw Malformed("a number does not fit 64 bits");
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  }
  // At most `most`; `what` names it.
  std::uint64_t number(std::uint64_t most, const char* what) {
    const std::uint64_t value = number();
    if (value > most)
      throw Malformed(std::string(what) + " is " + std::to_string(value) + ", above " + std::to_string(most));
    return value;
  }
  std::uint64_t signed_number() { return unfolded(number()); }
  std::uint32_t u32() {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{byte()} << (8 * i);
    return value;
  }
  std::uint64_t u64() {
    const std::uint64_t low = u32();
    return low | std::uint64_t{u32()} << 32;
  }
  std::span<const std::uint8_t> take(std::size_t n) {
    if (n > left()) ends_early();
    at_ += n;
    return {at_ - n, n};
  }
  std::string text(std::size_t most) {
    const std::span<const std::uint8_t> bytes = take(number(most, "the length of a text"));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // A count of things that take at least one byte each.
  std::size_t count() {
    const std::uint64_t n = number();
    if (n > left()) throw Malformed("a count of " + std::to_string(n) + " is more than the part has bytes");
    return static_cast<std::size_t>(n);
  }
  void end() const {
    if (at_ != end_) throw Malformed("a part has " + std::to_string(left()) + " bytes too many");
  }

 private:
  [[noreturn]] static void ends_early() { throw Malformed("a part ends too early"); }

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

}  // namespace simtlab::stream::trace
