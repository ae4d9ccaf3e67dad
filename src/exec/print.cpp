// Device printf and assert. Arguments lie in a buffer as a C struct would: ints in 4 bytes, long long,
// pointers and doubles in 8, each aligned to its size. Widths, precisions and strings are bounded, so that a
// wrong format cannot exhaust memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "exec/state.h"
#include "exec/store_buffer.h"

namespace simtlab::exec {
namespace {

constexpr std::size_t max_format = 1 << 16, max_string = 1 << 16;
constexpr int max_width = 1 << 12;

std::uint64_t operand(const WarpCtx& ctx, RowRef ref, unsigned bytes, unsigned lane) {
  return bytes == 8 ? ctx.row64(ref)[lane] : ctx.row32(ref)[lane];
}

// One conversion specification.
struct Spec {
  std::string flags;
  int width = -1, precision = -1;
  unsigned length = 4;  // bytes of an integer
  int shorten = 0;      // h, hh: the value is cut to 2, 1 bytes
  char conversion = 0;
};

class Formatter {
 public:
  Formatter(const WarpCtx& ctx, const XInst& x, unsigned lane, std::uint64_t buffer)
      : ctx_(ctx), x_(x), lane_(lane), at_(buffer), start_(buffer) {}

  std::string format(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '%') {
        out.push_back(text[i++]);
        continue;
      }
      const std::size_t from = i++;
      Spec spec;
      if (!parse(text, i, spec)) {
        out += text.substr(from, i - from);  // not a conversion: as it stands
      } else if (spec.conversion == '%') {
        out.push_back('%');
      } else {
        convert(spec, out);
      }
    }
    return out;
  }
  int arguments() const { return arguments_; }

 private:
  template <class T>
  T next() {
    at_ = start_ + (at_ - start_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    if (!read_generic(ctx_, lane_, at_, reinterpret_cast<std::byte*>(&value), sizeof value))
      bad_pointer("argument", at_);
    at_ += sizeof(T);
    return value;
  }

  [[noreturn]] void bad_pointer(const char* what, std::uint64_t address) const {
    const Block::Impl& b = block_of(ctx_);
    raise(b, *x_.inst, Fault::Kind::illegal_address, "illegal-address",
          fmt::format("Invalid read of printf's {} at address {:#x} by {} of {}", what, address,
                      thread_name(b, ctx_.warp, lane_), kernel_name(b, *x_.inst)));
  }

  int number(const std::string& text, std::size_t& i, bool& negative) {
    if (i < text.size() && text[i] == '*') {
      ++i;
      const int value = next<int>();
      negative = value < 0;
      return std::min(max_width, value < 0 ? -std::max(value, -max_width) : value);
    }
    int value = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      value = std::min(max_width, value * 10 + (text[i] - '0'));
    return value;
  }

  bool parse(const std::string& text, std::size_t& i, Spec& s) {
    for (; i < text.size() && std::strchr("-+ #0", text[i]) != nullptr && text[i] != 0; ++i) {
      if (s.flags.find(text[i]) == std::string::npos) s.flags.push_back(text[i]);
    }
    bool negative = false;
    if (i < text.size() && (text[i] == '*' || (text[i] >= '1' && text[i] <= '9'))) {
      s.width = number(text, i, negative);
      if (negative) s.flags.push_back('-');
    }
    if (i < text.size() && text[i] == '.') {
      ++i;
      negative = false;
      s.precision = number(text, i, negative);
      if (negative) s.precision = -1;
    }
    for (; i < text.size() && std::strchr("hlLqjzt", text[i]) != nullptr && text[i] != 0; ++i) {
      if (text[i] == 'h') {
        s.shorten = s.shorten == 2 ? 1 : 2;
      } else {
        s.length = 8;
      }
    }
    if (i >= text.size()) return false;
    s.conversion = text[i++];
    return std::strchr("diouxXcsaAeEfFgGpn%", s.conversion) != nullptr && s.conversion != 0;
  }

  template <class T>
  void emit(const Spec& s, const char* length, T value, std::string& out) {
    std::string f = "%" + s.flags;
    if (s.width >= 0) f += std::to_string(s.width);
    if (s.precision >= 0) f += "." + std::to_string(s.precision);
    f += length;
    f.push_back(s.conversion);
    std::array<char, 512> small;
    const int n = std::snprintf(small.data(), small.size(), f.c_str(), value);
    if (n < 0) return;
    if (static_cast<std::size_t>(n) < small.size()) {
      out.append(small.data(), static_cast<std::size_t>(n));
      return;
    }
    std::string large(static_cast<std::size_t>(n) + 1, '\0');
    std::snprintf(large.data(), large.size(), f.c_str(), value);
    large.pop_back();
    out += large;
  }

  void convert(const Spec& s, std::string& out) {
    ++arguments_;
    switch (s.conversion) {
      case 'd':
      case 'i': {
        long long value = s.length == 8 ? next<long long>() : next<int>();
        if (s.shorten == 2) value = static_cast<short>(value);
        if (s.shorten == 1) value = static_cast<signed char>(value);
        return emit(s, "ll", value, out);
      }
      case 'o':
      case 'u':
      case 'x':
      case 'X': {
        unsigned long long value = s.length == 8 ? next<unsigned long long>() : next<unsigned>();
        if (s.shorten == 2) value = static_cast<unsigned short>(value);
        if (s.shorten == 1) value = static_cast<unsigned char>(value);
        return emit(s, "ll", value, out);
      }
      case 'c': return emit_char(s, static_cast<char>(next<int>()), out);
      case 'p':
        return emit(s, "", reinterpret_cast<const void*>(static_cast<std::uintptr_t>(next<std::uint64_t>())),
                    out);
      case 's': return emit_string(s, out);
      case 'n': static_cast<void>(next<std::uint64_t>()); return;  // writes nothing, as on the device
      default: return emit(s, "", next<double>(), out);
    }
  }

  // snprintf would end at a zero character.
  static void emit_char(const Spec& s, char c, std::string& out) {
    const auto pad = static_cast<std::size_t>(std::max(s.width - 1, 0));
    const bool left = s.flags.find('-') != std::string::npos;
    if (!left) out.append(pad, ' ');
    out.push_back(c);
    if (left) out.append(pad, ' ');
  }

  void emit_string(const Spec& s, std::string& out) {
    const auto address = next<std::uint64_t>();
    if (address == 0) return emit(s, "", "(null)", out);
    const std::size_t limit = s.precision >= 0 ? static_cast<std::size_t>(s.precision) : max_string;
    const auto text = read_string(ctx_, lane_, address, limit);
    if (!text) bad_pointer("string", address);
    emit(s, "", text->c_str(), out);
  }

  const WarpCtx& ctx_;
  const XInst& x_;
  unsigned lane_;
  std::uint64_t at_, start_;
  int arguments_ = 0;
};

std::string text_or_unknown(const WarpCtx& ctx, unsigned lane, std::uint64_t address) {
  const auto text = read_string(ctx, lane, address, max_string);
  return text ? *text : "<unreadable>";
}

}  // namespace

void handle_print(WarpCtx& ctx, const XInst& x) {
  Block::Impl& b = block_of(ctx);
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t format = operand(ctx, x.src[0], x.inst->src[0].bytes, lane);
    const std::uint64_t buffer = operand(ctx, x.src[1], x.inst->src[1].bytes, lane);
    const auto text = read_string(ctx, lane, format, max_format);
    if (!text) {
      raise(b, *x.inst, Fault::Kind::illegal_address, "illegal-address",
            fmt::format("Invalid read of printf's format at address {:#x} by {} of {}", format,
                        thread_name(b, ctx.warp, lane), kernel_name(b, *x.inst)));
    }
    Formatter formatter(ctx, x, lane, buffer);
    const std::string out = formatter.format(*text);
    if (b.view.buffer != nullptr)
      b.view.buffer->print(out);
    else if (b.launch->params.print)
      b.launch->params.print(out);
    ctx.row32(x.dst)[lane] = static_cast<std::uint32_t>(formatter.arguments());
  }
}

void handle_assert(WarpCtx& ctx, const XInst& x) {
  const Block::Impl& b = block_of(ctx);
  const auto lane = static_cast<unsigned>(__builtin_ctz(ctx.mask));
  const RowRef* rows = x.list != 0 ? ctx.list(x) + x.inst->dst_count : x.src;
  const auto value = [&](unsigned i) { return operand(ctx, rows[i], x.inst->src[i].bytes, lane); };
  const Dim3 t = thread_of(*b.launch, ctx.warp, lane);
  raise(b, *x.inst, Fault::Kind::assertion, "assertion",
        fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
                    text_or_unknown(ctx, lane, value(1)), static_cast<std::uint32_t>(value(2)),
                    text_or_unknown(ctx, lane, value(3)), b.position.x, b.position.y, b.position.z, t.x, t.y,
                    t.z, text_or_unknown(ctx, lane, value(0))));
}

}  // namespace simtlab::exec
