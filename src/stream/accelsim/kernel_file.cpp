#include "stream/accelsim/kernel_file.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>

#include "stream/trace/addresses.h"

namespace simtlab::stream::accelsim {
namespace {

constexpr std::uint64_t max_blocks = std::uint64_t{1} << 40;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view next_word(std::string_view& rest) {
  rest = trimmed(rest);
  const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

template <class T>
bool parse(std::string_view text, T& value, int base = 10) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

template <class T>
T number(const Lines& lines, std::string_view word, const char* what, int base = 10) {
  T value{};
  if (word.empty()) lines.refuse({}, fmt::format("the line ends before {}", what));
  if (!parse(word, value, base))
    lines.refuse(word, fmt::format("not {}{}", what, base == 16 ? " (a hexadecimal number)" : ""));
  return value;
}

// "(1,2,3)" or "1,2,3".
exec::Dim3 triple(const Lines& lines, std::string_view text) {
  const std::string_view whole = text;
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  std::array<std::uint32_t, 3> out{};
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t comma = text.find(',');
    if ((comma == std::string_view::npos) != (i == 2)) lines.refuse(whole, "not three numbers with commas");
    if (!parse(trimmed(text.substr(0, comma)), out[i])) lines.refuse(whole, "not three numbers with commas");
    if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
  }
  return {out[0], out[1], out[2]};
}

}  // namespace

KernelFile::KernelFile(std::unique_ptr<Text> text, std::string name)
    : lines_(std::move(text), std::move(name)) {
  read_header();
}

std::string_view KernelFile::required_line(const char* what) {
  if (!lines_.next()) lines_.truncated(fmt::format("the file ends where {} should follow", what));
  return lines_.line();
}

void KernelFile::read_header() {
  for (;;) {
    const std::string_view line = trimmed(required_line("the kernel's header"));
    if (line.starts_with('#')) break;
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (!line.starts_with('-') || equals == std::string_view::npos)
      lines_.refuse(line, "not a line '-key = value' of a kernel's header");
    read_key(trimmed(line.substr(1, equals - 1)), trimmed(line.substr(equals + 1)));
  }
  const exec::Dim3 &g = header_.grid, &b = header_.block;
  const unsigned __int128 blocks = static_cast<unsigned __int128>(g.x) * g.y * g.z,
                          threads = static_cast<unsigned __int128>(b.x) * b.y * b.z;
  if (blocks == 0 || blocks > max_blocks || threads == 0 || threads > 1024)
    lines_.refuse({}, fmt::format("the header's grid {}x{}x{} or block {}x{}x{} is empty or too large", g.x,
                                  g.y, g.z, b.x, b.y, b.z));
}

void KernelFile::read_key(std::string_view key, std::string_view value) {
  const auto whole = [&](std::uint64_t most, int base = 10) {
    const auto n = number<std::uint64_t>(lines_, value, "a whole number", base);
    if (n > most) lines_.refuse(value, fmt::format("above {}", most));
    return n;
  };
  constexpr std::uint64_t any = ~std::uint64_t{0};
  if (key == "kernel name")
    header_.name = std::string(value.substr(0, 4096));
  else if (key == "grid dim")
    header_.grid = triple(lines_, value);
  else if (key == "block dim")
    header_.block = triple(lines_, value);
  else if (key == "shmem")
    header_.shared_bytes = whole(1u << 20);
  else if (key == "nregs")
    header_.registers = whole(512);
  else if (key == "binary version")
    header_.binary_version = whole(1000);
  else if (key == "cuda stream id")
    header_.stream = whole(any);
  else if (key == "shmem base_addr")
    header_.shared_base = whole(any, 16);
  else if (key == "local mem base_addr")
    header_.local_base = whole(any, 16);
  else if (key == "accelsim tracer version")
    header_.tracer_version = whole(1000);
  else if (key == "enable lineinfo")
    header_.line_info = whole(1) != 0;
}

KernelFile::Event KernelFile::next() {
  if (left_ > 0) {
    --left_;
    required_line("an instruction");
    read_instruction();
    return Event::instruction;
  }
  while (lines_.next()) {
    const std::string_view line = trimmed(lines_.line());
    if (line.empty()) continue;
    if (line == "#BEGIN_TB") {
      if (in_block_) lines_.refuse(line, "the block before it has not ended");
      in_block_ = true;
      read_block();
      return Event::block;
    }
    if (line == "#END_TB") {
      if (!in_block_) lines_.refuse(line, "no block has begun");
      in_block_ = false;
      return Event::block_end;
    }
    if (line.starts_with('#')) continue;
    if (!in_block_ || !line.starts_with("warp"))
      lines_.refuse(line, in_block_ ? "neither 'warp = N' nor #END_TB"
                                    : "not #BEGIN_TB; traces that are not grouped by block must go through "
                                      "Accel-Sim's post-processor");
    warp_ = number<unsigned>(lines_, trimmed(line.substr(line.find('=') + 1)), "a warp's number");
    if (warp_ >= header_.warps()) lines_.refuse(line, fmt::format("the block has {} warps", header_.warps()));
    if ((warps_seen_ >> warp_ & 1) != 0) lines_.refuse(line, "this warp has been there already");
    warps_seen_ |= 1u << warp_;
    const std::string_view count = trimmed(required_line("'insts = N'"));
    if (!count.starts_with("insts")) lines_.refuse(count, "not 'insts = N'");
    left_ =
        number<std::uint64_t>(lines_, trimmed(count.substr(count.find('=') + 1)), "a number of instructions");
    return Event::warp;
  }
  if (in_block_) lines_.truncated("the file ends within a block");
  return Event::end;
}

void KernelFile::read_block() {
  std::string_view line;
  do line = trimmed(required_line("'thread block = x,y,z'"));
  while (line.empty());
  if (!line.starts_with("thread block")) lines_.refuse(line, "not 'thread block = x,y,z'");
  const exec::Dim3 at = triple(lines_, trimmed(line.substr(line.find('=') + 1)));
  const exec::Dim3& grid = header_.grid;
  if (at.x >= grid.x || at.y >= grid.y || at.z >= grid.z)
    lines_.refuse(line, "the block lies outside of the grid");
  block_ = (std::uint64_t{at.z} * grid.y + at.y) * grid.x + at.x;
  warps_seen_ = 0;
}

void KernelFile::read_instruction() {
  Instruction& i = instruction_;
  std::string_view rest = lines_.line();
  // Older tracers repeat block and warp on each line.
  if (header_.tracer_version < 3)
    for (unsigned k = 0; k < 4; ++k)
      number<std::uint32_t>(lines_, next_word(rest), "block and warp of the instruction");
  i.source_line = header_.line_info ? number<std::uint32_t>(lines_, next_word(rest), "a source line") : 0;
  i.pc = number<std::uint64_t>(lines_, next_word(rest), "a program counter", 16);
  i.mask = number<std::uint32_t>(lines_, next_word(rest), "a mask of lanes", 16);
  unsigned used = 0;
  const auto registers = [&](const char* what) {
    const auto n = number<unsigned>(lines_, next_word(rest), what);
    if (n > max_registers - used) lines_.refuse({}, fmt::format("more than {} registers", max_registers));
    for (unsigned k = 0; k < n; ++k) {
      const std::string_view word = next_word(rest);
      std::uint16_t value = 0;
      if (!word.starts_with('R') || !parse(word.substr(1), value) || value > 511)
        lines_.refuse(word, "not a register (R0 to R255)");
      i.registers[used++] = value;
    }
    return static_cast<std::uint8_t>(n);
  };
  i.destinations = registers("a number of destinations");
  i.opcode = next_word(rest);
  if (i.opcode.empty() || i.opcode.size() > 100) lines_.refuse(i.opcode, "not an opcode");
  i.sources = registers("a number of sources");
  i.width = number<std::uint64_t>(lines_, next_word(rest), "the width of an access");
  i.has_addresses = false;
  if (i.width > 0) read_addresses(rest);
  const std::string_view immediate = next_word(rest);
  i.immediate = immediate.empty() ? 0 : number<std::int64_t>(lines_, immediate, "an immediate");
}

void KernelFile::read_addresses(std::string_view& rest) {
  Instruction& i = instruction_;
  const auto mode = number<unsigned>(lines_, next_word(rest), "the form of the addresses");
  const auto address = [&] { return number<std::uint64_t>(lines_, next_word(rest), "an address", 16); };
  const auto difference = [&] {
    return static_cast<std::uint64_t>(
        number<std::int64_t>(lines_, next_word(rest), "a difference of addresses"));
  };
  i.has_addresses = i.mask != 0;
  std::uint32_t lanes = i.mask;
  const std::string_view first = rest;
  switch (mode) {
    case 0:
      for (; lanes != 0; lanes &= lanes - 1)
        i.addresses[static_cast<unsigned>(std::countr_zero(lanes))] = address();
      break;
    case 1: {
      std::uint64_t at = address();
      const std::uint64_t stride = difference();
      for (; lanes != 0; lanes &= lanes - 1, at += stride)
        i.addresses[static_cast<unsigned>(std::countr_zero(lanes))] = at;
      break;
    }
    case 2: {
      // One difference less than lanes: the reference reader takes one more and swallows the immediate.
      std::uint64_t at = address();
      for (; lanes != 0; lanes &= lanes - 1) {
        i.addresses[static_cast<unsigned>(std::countr_zero(lanes))] = at;
        if ((lanes & (lanes - 1)) != 0) at += difference();
      }
      break;
    }
    default: lines_.refuse({}, fmt::format("addresses of form {}; there are 0, 1 and 2", mode));
  }
  std::uint64_t seen = 0;
  for (lanes = i.mask; lanes != 0; lanes &= lanes - 1)
    seen |= i.addresses[static_cast<unsigned>(std::countr_zero(lanes))];
  if (seen >> trace::address_bits != 0)
    lines_.refuse(trimmed(first).substr(0, 40),
                  fmt::format("addresses of more than {} bits", trace::address_bits));
}

}  // namespace simtlab::stream::accelsim
