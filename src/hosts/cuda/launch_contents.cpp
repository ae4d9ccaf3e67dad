#include "hosts/cuda/launch_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/files.h"
#include "base/rng.h"
#include "base/shown.h"

namespace simtlab::hosts::cuda {
namespace {

using compile::Contents;
using compile::ElementType;
using compile::LaunchArg;
using compile::Number;

constexpr std::size_t piece_bytes = std::size_t{1} << 20;  // a multiple of every element's size

template <typename T>
void store_bits(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

class Generator {
 public:
  explicit Generator(const ContentsRequest& request) : request_(request), rng_(seed_of(request)) {}

  Number next() {
    const std::uint64_t i = next_++;
    const Contents& contents = request_.contents;
    Number value;
    if (contents.kind == Contents::Kind::iota) {
      value.integer = static_cast<std::int64_t>(i);
    } else if (contents.kind == Contents::Kind::random) {
      random(value);
    } else if (contents.kind == Contents::Kind::values) {
      if (request_.fill)
        value = contents.values.front();
      else if (i < contents.values.size())
        value = contents.values[i];
    }
    return value;
  }

 private:
  static std::uint64_t seed_of(const ContentsRequest& request) {
    std::uint64_t mixed = request.seed + request.stream;
    return request.contents.seed ? *request.contents.seed : splitmix64(mixed);
  }

  void random(Number& value) {
    value.is_integer = !compile::is_floating(request_.arg.type);
    value.integer = static_cast<std::int64_t>(value.is_integer ? rng_.next() : 0);
    value.real = value.is_integer ? 0 : rng_.unit();
    // A double just below 1 would round to 1 as a float.
    if (request_.arg.type == ElementType::f32) value.real = std::floor(value.real * 0x1p24) * 0x1p-24;
  }

  const ContentsRequest& request_;
  Rng rng_;
  std::uint64_t next_ = 0;
};

void generate(const ContentsRequest& request, const TakePiece& take) {
  Generator generator(request);
  const unsigned size = compile::size_of(request.arg.type);
  const std::uint64_t in_piece = std::min<std::uint64_t>(piece_bytes / size, request.elements);
  std::vector<std::byte> piece(in_piece * size);
  for (std::uint64_t done = 0; done < request.elements;) {
    const std::uint64_t n = std::min(in_piece, request.elements - done);
    for (std::uint64_t i = 0; i < n; ++i) store(piece.data() + i * size, request.arg.type, generator.next());
    take(done * size, std::span(piece).first(n * size));
    done += n;
  }
}

[[noreturn]] void wrong_size(const ContentsRequest& request, std::string_view size) {
  const LaunchArg& arg = request.arg;
  throw Error(ExitCode::bad_input, "launch-arguments",
              Diagnostic{fmt::format("{} has {} bytes, the buffer {} ({} elements of {})",
                                     shown(request.contents.file.string()), size, arg.bytes(), arg.elements(),
                                     compile::name_of(arg.type)),
                         request.contents.file_pos,
                         {},
                         "the file holds the elements as raw bytes, little-endian"});
}

void copy_file(const ContentsRequest& request, const TakePiece& take) {
  const std::filesystem::path& file = request.contents.file;
  const std::uint64_t wanted = request.arg.bytes();
  std::error_code code;
  if (std::filesystem::is_regular_file(file, code))
    if (const std::uint64_t size = std::filesystem::file_size(file, code); !code && size != wanted)
      wrong_size(request, fmt::format("{}", size));
  // Pipes give pieces of any size.
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, wanted)));
  std::uint64_t sent = 0;
  std::size_t held = 0;
  const auto send = [&] {
    take(sent, std::span(piece).first(held));
    sent += held;
    held = 0;
  };
  read_pieces(file, wanted + 1, "buffer contents", [&](std::string_view part) {
    while (!part.empty()) {
      if (sent + held == wanted) wrong_size(request, "more");
      const std::size_t n = std::min(part.size(), piece.size() - held);
      std::memcpy(piece.data() + held, part.data(), n);
      held += n;
      part.remove_prefix(n);
      if (held == piece.size() || sent + held == wanted) send();
    }
  });
  if (sent != wanted) wrong_size(request, fmt::format("{}", sent + held));
}

}  // namespace

// A number in an element's representation; integers wrap, as check_value left only fitting ones or iota's.
void store(std::byte* at, ElementType type, const Number& n) {
  const auto bits = static_cast<std::uint64_t>(n.integer);
  switch (type) {
    case ElementType::u8:
    case ElementType::s8: return store_bits(at, static_cast<std::uint8_t>(bits));
    case ElementType::u16:
    case ElementType::s16: return store_bits(at, static_cast<std::uint16_t>(bits));
    case ElementType::u32:
    case ElementType::s32: return store_bits(at, static_cast<std::uint32_t>(bits));
    case ElementType::u64:
    case ElementType::s64: return store_bits(at, bits);
    case ElementType::f32: return store_bits(at, static_cast<float>(n.as_double()));
    case ElementType::f64: return store_bits(at, n.as_double());
  }
}

void make_contents(const ContentsRequest& request, const TakePiece& take) {
  if (request.contents.kind != Contents::Kind::file) return generate(request, take);
  try {
    copy_file(request, take);
  } catch (const Error& e) {
    std::vector<Diagnostic> diagnostics = e.diagnostics();
    if (!diagnostics.front().pos.file.empty() || !e.id().starts_with("file-")) throw;
    diagnostics.front().pos = request.contents.file_pos;
    throw Error(e.code(), e.id(), std::move(diagnostics));
  }
}

}  // namespace simtlab::hosts::cuda
