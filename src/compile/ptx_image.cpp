#include "compile/ptx_image.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"

namespace simtlab::compile {
namespace {

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
}

// Layout of the container, little endian: header {magic, version 1, header bytes 16, payload bytes}; each
// entry {kind 1 = PTX, 0x101, header bytes 64, payload bytes, 0 compressed, 0, minor, major, capability, 0
// ...} and its payload.
constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint32_t kEntryHeader = 64;

std::string entry(const PtxImage& image) {
  std::string text = image.text;
  text += '\0';
  while (text.size() % 8 != 0) text += '\0';
  const int capability = std::atoi(image.architecture.c_str() + 3);
  std::string out;
  put<std::uint16_t>(out, 1);
  put<std::uint16_t>(out, 0x101);
  put<std::uint32_t>(out, kEntryHeader);
  put<std::uint64_t>(out, text.size());
  put<std::uint32_t>(out, 0);
  put<std::uint32_t>(out, 0);
  put<std::uint16_t>(out, 0);
  put<std::uint16_t>(out, 0);
  put<std::uint32_t>(out, static_cast<std::uint32_t>(capability));
  put<std::uint32_t>(out, 0);
  put<std::uint32_t>(out, 0);
  put<std::uint64_t>(out, 0x11);  // 64-bit, Linux
  put<std::uint64_t>(out, 0);
  put<std::uint64_t>(out, 0);
  SIMTLAB_ASSERT(out.size() == kEntryHeader, "a fat binary entry has a header of 64 bytes");
  return out + text;
}

}  // namespace

std::string make_image(const std::vector<PtxImage>& images) {
  SIMTLAB_ASSERT(!images.empty(), "an object file embeds at least one PTX text");
  if (images.size() == 1) return images.front().text + '\0';
  std::string payload;
  for (const PtxImage& i : images) payload += entry(i);
  std::string out;
  put<std::uint32_t>(out, kMagic);
  put<std::uint16_t>(out, 1);
  put<std::uint16_t>(out, 16);
  put<std::uint64_t>(out, payload.size());
  return out + payload;
}

void limit_registers(std::string& ptx, int n) {
  // What ptxas raises a lower number to, for sm_70 and sm_80 alike.
  constexpr int fewest = 24;
  const std::string directive = ".maxnreg " + std::to_string(std::max(n, fewest)) + "\n";
  for (std::size_t at = 0; (at = ptx.find(".entry ", at)) != std::string::npos;) {
    const std::size_t brace = ptx.find("\n{", at);
    if (brace == std::string::npos) return;
    const std::string head = ptx.substr(at, brace - at);
    const bool has_own = std::ranges::any_of(std::array{".maxnreg", ".maxntid", ".reqntid", ".minnctapersm"},
                                             [&](const char* own) { return head.find(own) != head.npos; });
    if (!has_own) ptx.insert(brace + 1, directive);
    at = brace;
  }
}

}  // namespace simtlab::compile
