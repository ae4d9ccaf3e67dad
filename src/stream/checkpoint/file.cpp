#include "stream/checkpoint/file.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "stream/trace/reader.h"

namespace simtlab::stream::checkpoint {
namespace {

constexpr std::string_view magic = "simtlab checkpoint\n";
constexpr std::size_t header_bytes = magic.size() + 4;
constexpr std::size_t part_header_bytes = 1 + 4 + 4 + 8;
constexpr int level = 3;

std::uint64_t checksum(const std::uint8_t* packed, std::size_t size, Part part, std::uint64_t bytes) {
  return XXH64(packed, size, static_cast<std::uint64_t>(part) << 32 | bytes);
}

}  // namespace

Writer::Writer(std::filesystem::path path) : path_(std::move(path)), file_(path_, 0666) {
  Buffer header(magic.begin(), magic.end());
  trace::put_u32(header, format_version);
  put(header.data(), header.size());
}

void Writer::put(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t wrote = ::write(file_.descriptor(), at, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) cannot_write(path_, errno);
    at += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
}

void Writer::write(Part part, const Buffer& content) {
  SIMTLAB_ASSERT(content.size() <= max_part_bytes, "a part of a checkpoint is within its limit");
  packed_.resize(ZSTD_compressBound(content.size()));
  const std::size_t size =
      ZSTD_compress(packed_.data(), packed_.size(), content.data(), content.size(), level);
  SIMTLAB_ASSERT(ZSTD_isError(size) == 0, "zstd compresses what fits its bound");
  Buffer header;
  header.push_back(static_cast<std::uint8_t>(part));
  trace::put_u32(header, static_cast<std::uint32_t>(size));
  trace::put_u32(header, static_cast<std::uint32_t>(content.size()));
  trace::put_u64(header, checksum(packed_.data(), size, part, content.size()));
  put(header.data(), header.size());
  put(packed_.data(), size);
}

void Writer::complete() {
  write(Part::complete, {});
  if (file_.published()) return;
  if (const int error = file_.publish(); error != 0) cannot_write(path_, error);
}

Reader::Reader(std::unique_ptr<trace::Input> input, std::string name)
    : input_(std::move(input)), name_(std::move(name)) {
  std::array<std::uint8_t, header_bytes> header{};
  if (input_->size() < header_bytes)
    throw Error(ExitCode::bad_input, "checkpoint-file", fmt::format("{} is no checkpoint", name_));
  input_->read(0, header);
  if (std::memcmp(header.data(), magic.data(), magic.size()) != 0)
    throw Error(ExitCode::bad_input, "checkpoint-file", fmt::format("{} is no checkpoint", name_),
                "simtlab run --checkpoint FILE writes one");
  const std::uint32_t version = Bytes(std::span(header).subspan(magic.size())).u32();
  if (version != format_version)
    throw Error(
        ExitCode::bad_input, "checkpoint-version",
        fmt::format("{} has version {} of the format, this simtlab reads {}", name_, version, format_version),
        "run again with --checkpoint");
  std::uint64_t at = header_bytes, good = 0;
  std::vector<Launch> launches;
  std::vector<Place> state;
  std::size_t good_launches = 0;
  for (Place place; next(at, place);) {
    if (run_.offset == 0 && place.part != Part::run)
      damaged(place.offset, "it does not begin with what was run");
    switch (place.part) {
      case Part::run:
        if (run_.offset != 0) damaged(place.offset, "two runs in one file");
        run_ = place;
        break;
      case Part::launch:
        launches.push_back({place, {}});
        state.clear();
        break;
      case Part::pages:
        if (launches.empty()) damaged(place.offset, "memory before the first launch");
        launches.back().pages.push_back(place);
        break;
      case Part::state: state.push_back(place); break;
      case Part::complete:
        good = at;
        good_launches = launches.size();
        state_ = std::move(state);
        state.clear();
        break;
    }
  }
  if (good == 0) damaged(at, "it ends before anything in it is complete");
  launches.resize(good_launches);
  launches_ = std::move(launches);
  unused_ = input_->size() - good;
}

Reader::~Reader() = default;

std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  std::unique_ptr<trace::Input> input;
  try {
    input = trace::file_input(path);
  } catch (const Error& e) {
    throw Error(e.code(), "checkpoint-file", e.diagnostics().front().message,
                "simtlab run --checkpoint FILE writes one");
  }
  return std::make_unique<Reader>(std::move(input), path.string());
}

bool Reader::next(std::uint64_t& at, Place& place) const {
  std::array<std::uint8_t, part_header_bytes> header{};
  if (input_->size() - at < header.size()) return false;
  input_->read(at, header);
  Bytes in(header);
  place.part = static_cast<Part>(in.byte());
  place.packed = in.u32();
  place.bytes = in.u32();
  const std::uint64_t expected = in.u64();
  place.offset = at + header.size();
  if (place.part < Part::run || place.part > Part::complete || place.bytes > max_part_bytes ||
      place.packed > ZSTD_compressBound(place.bytes) || place.packed > input_->size() - place.offset)
    return false;
  Buffer packed(place.packed);
  input_->read(place.offset, packed);
  if (checksum(packed.data(), packed.size(), place.part, place.bytes) != expected) return false;
  at = place.offset + place.packed;
  return true;
}

Buffer Reader::read(const Place& place) const {
  Buffer packed(place.packed), content(place.bytes);
  input_->read(place.offset, packed);
  const std::size_t got = ZSTD_decompress(content.data(), content.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != content.size())
    damaged(place.offset, "a part does not decompress to its size");
  return content;
}

void Reader::damaged(std::uint64_t offset, const std::string& what) const {
  throw Error(ExitCode::bad_input, "checkpoint-damaged", fmt::format("{}: byte {}: {}", name_, offset, what),
              "run again with --checkpoint");
}

}  // namespace simtlab::stream::checkpoint
