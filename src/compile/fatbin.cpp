// Reader of CUDA fat binaries: a container of PTX texts and machine code for several architectures.
//
// Layout (little-endian, found by looking at what nvcc 11 to 13 write): a 16-byte container header, then
// entries of a header of at least 64 bytes and a payload padded to 8 bytes, raw, LZ4 block or zstd frame.
// Everything is read with bounds; what decompression may produce is limited. Entries stay packed until
// they are asked for.
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/error.h"
#include "compile/frontend.h"
#include "compile/mapped_bytes.h"
#include "machine/elf.h"

namespace simtlab::compile {
namespace {

constexpr std::uint32_t container_magic = 0xBA55ED50;
constexpr std::size_t container_header = 16, entry_header = 64;
constexpr std::uint64_t max_text = std::uint64_t{256} << 20;  // one PTX text
constexpr std::uint64_t max_code = std::uint64_t{512} << 20;  // one cubin
constexpr std::size_t max_entries = 1 << 16;
constexpr std::uint16_t kind_ptx = 1, kind_elf = 2;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000;

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void corrupt(const std::string& name, std::size_t offset, const std::string& what) {
  throw Error(ExitCode::bad_input, "fatbin",
              fmt::format("{}: {} (at byte {} of the fat binary)", name, what, offset),
              "the file is damaged or of a version that simtlab does not know; rebuild the program");
}

template <typename T>
T read(Bytes bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct EntryHeader {
  std::uint16_t kind;
  std::uint32_t header_bytes, compressed_bytes, sm;
  std::uint64_t payload_bytes, flags, text_bytes;
};

EntryHeader read_header(Bytes bytes, std::size_t at) {
  return {read<std::uint16_t>(bytes, at),      read<std::uint32_t>(bytes, at + 4),
          read<std::uint32_t>(bytes, at + 16), read<std::uint32_t>(bytes, at + 28),
          read<std::uint64_t>(bytes, at + 8),  read<std::uint64_t>(bytes, at + 40),
          read<std::uint64_t>(bytes, at + 56)};
}

bool looks_like_text(std::string_view text) {
  for (const char c : text.substr(0, 256)) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v') return false;
  }
  return true;
}

std::string cut_at_nul(std::string text) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string::npos) text.resize(nul);
  text.shrink_to_fit();  // what was claimed must not stay allocated
  return text;
}

// Room for the decompressed contents: what the header claims, within limits and within what the compression
// could do at best.
std::string room_for(const std::string& name, const FatbinEntry::Packed& p, std::uint64_t best_ratio,
                     std::uint64_t room) {
  if (p.unpacked_bytes > room)
    corrupt(name, p.offset,
            fmt::format("an entry claims {} bytes, more than the limit of {}", p.unpacked_bytes, room));
  if (p.unpacked_bytes > (std::uint64_t{p.compressed_bytes} + 64) * best_ratio)
    corrupt(name, p.offset,
            fmt::format("an entry claims {} bytes from {} compressed ones", p.unpacked_bytes,
                        p.compressed_bytes));
  return std::string(p.unpacked_bytes, '\0');
}

std::string unpack_zstd(const std::string& name, const FatbinEntry::Packed& p, Bytes packed,
                        std::uint64_t room) {
  std::string out = room_for(name, p, 65536, room);
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0)
    corrupt(name, p.offset, fmt::format("zstd data does not decompress: {}", ZSTD_getErrorName(got)));
  out.resize(got);
  return out;
}

std::string unpack_lz4(const std::string& name, const FatbinEntry::Packed& p, Bytes packed,
                       std::uint64_t room) {
  std::string out = room_for(name, p, 256, room);
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), out.data(),
                                      static_cast<int>(packed.size()), static_cast<int>(out.size()));
  if (got < 0) corrupt(name, p.offset, "LZ4 data does not decompress");
  out.resize(static_cast<std::size_t>(got));
  return out;
}

// room: bytes that it may have.
std::string unpack(const std::string& name, const FatbinEntry::Packed& p, std::uint64_t room) {
  const Bytes payload(p.data, p.bytes);
  if ((p.flags & (flag_lz4 | flag_zstd)) == 0) {
    if (payload.size() > room)
      corrupt(name, p.offset,
              fmt::format("an entry holds {} bytes, more than the limit of {}", payload.size(), room));
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
  if (p.compressed_bytes > payload.size() || p.compressed_bytes > INT32_MAX)
    corrupt(name, p.offset,
            fmt::format("an entry's compressed size {} is more than its payload of {}", p.compressed_bytes,
                        payload.size()));
  const Bytes packed = payload.first(p.compressed_bytes);
  return (p.flags & flag_zstd) != 0 ? unpack_zstd(name, p, packed, room) : unpack_lz4(name, p, packed, room);
}

// One container at the start of `bytes`; returns its length.
std::size_t read_container(const std::string& name, Bytes bytes, std::size_t base,
                           std::vector<FatbinEntry>& out) {
  if (bytes.size() < container_header) corrupt(name, base, "the container header is cut off");
  if (read<std::uint32_t>(bytes, 0) != container_magic)
    corrupt(name, base, "this is no fat binary container");
  const std::uint16_t version = read<std::uint16_t>(bytes, 4), header = read<std::uint16_t>(bytes, 6);
  const std::uint64_t payload = read<std::uint64_t>(bytes, 8);
  if (version != 1)
    throw Error(ExitCode::unsupported, "fatbin-version",
                fmt::format("{}: fat binary container of version {}", name, version),
                "simtlab reads version 1, which nvcc 4 to 13 write");
  if (header < container_header || header > bytes.size() || payload > bytes.size() - header)
    corrupt(name, base, fmt::format("the container claims {} bytes, {} are there", payload, bytes.size()));
  const std::size_t end = header + static_cast<std::size_t>(payload);
  std::size_t at = header;
  while (end - at >= entry_header) {
    const EntryHeader h = read_header(bytes, at);
    if (h.header_bytes < entry_header || h.header_bytes > end - at ||
        h.payload_bytes > end - at - h.header_bytes)
      corrupt(name, base + at,
              fmt::format("an entry of {} + {} bytes does not fit the container", h.header_bytes,
                          h.payload_bytes));
    if (out.size() >= max_entries) corrupt(name, base + at, fmt::format("more than {} entries", max_entries));
    const Bytes data = bytes.subspan(at + h.header_bytes, static_cast<std::size_t>(h.payload_bytes));
    FatbinEntry entry;
    entry.major = h.sm / 10;
    entry.minor = h.sm % 10;
    entry.is_ptx = h.kind == kind_ptx;
    entry.packed = {.data = data.data(),
                    .bytes = data.size(),
                    .offset = base + at,
                    .unpacked_bytes = h.text_bytes,
                    .flags = h.flags,
                    .compressed_bytes = h.compressed_bytes};
    if (h.kind == kind_ptx || h.kind == kind_elf) out.push_back(std::move(entry));
    at += h.header_bytes + static_cast<std::size_t>(h.payload_bytes);
  }
  return end;
}

// A cubin or a text without a container.
FatbinEntry bare(const void* data, std::size_t size) {
  FatbinEntry entry;
  entry.packed = {.data = static_cast<const std::uint8_t*>(data), .bytes = size, .unpacked_bytes = size};
  return entry;
}

FatbinEntry bare_machine_code(const void* data, std::size_t size) {
  const unsigned generation =
      machine::generation_of(std::as_bytes(std::span(static_cast<const char*>(data), size)));
  FatbinEntry entry = bare(data, size);
  entry.major = generation / 10;
  entry.minor = generation % 10;
  return entry;
}

std::vector<FatbinEntry> read_plain_ptx(const void* data, std::size_t size, const std::string& name) {
  if (machine::is_device_elf(std::as_bytes(std::span(static_cast<const char*>(data), size))))
    return {bare_machine_code(data, size)};
  const char* text = static_cast<const char*>(data);
  const std::size_t length = strnlen(text, std::min(size, static_cast<std::size_t>(max_text)));
  if (length >= max_text) corrupt(name, 0, fmt::format("PTX of more than {} bytes", max_text));
  if (length < sizeof container_magic || !looks_like_text({text, length}))
    corrupt(name, 0, "this is neither a fat binary nor PTX text");
  FatbinEntry entry = bare(data, length);
  entry.is_ptx = true;
  return {entry};
}

}  // namespace

std::vector<FatbinEntry> read_fatbin(const void* data, std::size_t size, const std::string& name) {
  if (data == nullptr) corrupt(name, 0, "there is no image");
  // Registered in this process: the image says itself how much there is, but it may be damaged.
  const bool in_process = size == 0;
  if (in_process) size = mapped_bytes(data);
  std::uint32_t magic = 0;
  if (in_process && size < sizeof magic) corrupt(name, 0, "the image is not in memory");
  if (size >= sizeof magic) std::memcpy(&magic, data, sizeof magic);
  if (magic != container_magic) return read_plain_ptx(data, size, name);

  std::vector<FatbinEntry> out;
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  if (in_process) {
    read_container(name, Bytes(bytes, size), 0, out);
    return out;
  }
  // Files hold several containers one after another, each on an 8-byte boundary.
  std::size_t at = 0;
  do {
    at += (read_container(name, Bytes(bytes + at, size - at), at, out) + 7) / 8 * 8;
  } while (at < size && size - at >= container_header &&
           read<std::uint32_t>(Bytes(bytes + at, size - at), 0) == container_magic);
  return out;
}

std::size_t container_bytes(std::string_view bytes) {
  if (bytes.size() < container_header) return bytes.size();
  const Bytes all(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  // A header says of itself that it is longer than nothing, or read_fatbin() refuses it.
  const std::size_t header = std::max<std::size_t>(read<std::uint16_t>(all, 6), container_header);
  const auto payload = read<std::uint64_t>(all, 8);
  if (header > bytes.size() || payload > bytes.size() - header) return bytes.size();
  return header + static_cast<std::size_t>(payload);
}

const FatbinEntry& pick_ptx(const std::vector<FatbinEntry>& entries, unsigned cc_major, unsigned cc_minor,
                            const std::string& name) {
  const auto number = [](unsigned major, unsigned minor) { return major * 10 + minor; };
  const unsigned wanted = number(cc_major, cc_minor);
  const FatbinEntry* best = nullptr;
  const FatbinEntry* lowest = nullptr;
  std::string machine_code;
  for (const FatbinEntry& e : entries) {
    const unsigned have = number(e.major, e.minor);
    if (!e.is_ptx) {
      machine_code += fmt::format("{}sm_{}", machine_code.empty() ? "" : ", ", have);
      continue;
    }
    if (lowest == nullptr || have < number(lowest->major, lowest->minor)) lowest = &e;
    if (have <= wanted && (best == nullptr || have > number(best->major, best->minor))) best = &e;
  }
  if (best != nullptr) return *best;
  if (lowest != nullptr) return *lowest;
  if (machine_code.empty())
    throw Error(ExitCode::unsupported, "no-ptx", fmt::format("{}: the fat binary holds no PTX", name),
                "rebuild without -rdc=true (PTX is not linked) and with PTX: nvcc -gencode "
                "arch=compute_75,code=compute_75");
  throw Error(
      ExitCode::unsupported, "no-ptx",
      fmt::format("{}: holds machine code only ({}), no PTX", name, machine_code),
      fmt::format("choose a GPU of its generation (--gpu, simtlab list gpus), or rebuild with -gencode "
                  "arch=compute_{0},code=compute_{0}",
                  wanted));
}

const FatbinEntry* pick_machine_code(const std::vector<FatbinEntry>& entries, unsigned cc_major,
                                     unsigned cc_minor) {
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& e : entries)
    if (!e.is_ptx && e.major == cc_major && e.minor <= cc_minor && (best == nullptr || e.minor > best->minor))
      best = &e;
  return best;
}

std::string ptx_text(const FatbinEntry& entry, const std::string& name) {
  std::string text = cut_at_nul(unpack(name, entry.packed, max_text));
  if (!looks_like_text(text))
    throw Error(
        ExitCode::unsupported, "fatbin-compression",
        fmt::format(
            "{}: the PTX in the fat binary is packed in a way that simtlab does not know (flags 0x{:x})",
            name, entry.packed.flags),
        "rebuild with nvcc --compress-mode=none");
  return text;
}

std::string machine_code(const FatbinEntry& entry, const std::string& name) {
  return unpack(name, entry.packed, max_code);
}

}  // namespace simtlab::compile
