#include "stream/trace/reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"
#include "stream/trace/operations.h"

namespace simtlab::stream::trace {
namespace {

constexpr std::uint64_t first_look = 1024;  // bytes of a part

class FileInput final : public Input {
 public:
  explicit FileInput(const std::filesystem::path& path)
      : path_(path.string()), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0)
      throw Error(ExitCode::bad_input, "trace-file", fmt::format("{}: {}", path_, std::strerror(errno)));
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
      ::close(fd_);
      throw Error(ExitCode::bad_input, "trace-file", fmt::format("{} is no regular file", path_),
                  "a trace is read here and there, not from a pipe");
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  ~FileInput() override { ::close(fd_); }
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    while (!out.empty()) {
      const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        throw Error(ExitCode::bad_input, "trace-file",
                    fmt::format("{}: {}", path_, got < 0 ? std::strerror(errno) : "became shorter"));
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }

 private:
  std::string path_;
  int fd_;
  std::uint64_t size_ = 0;
};

class MemoryInput final : public Input {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::unique_ptr<Input> file_input(const std::filesystem::path& path) {
  return std::make_unique<FileInput>(path);
}
std::unique_ptr<Input> memory_input(std::string_view bytes) { return std::make_unique<MemoryInput>(bytes); }
std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  return std::make_unique<Reader>(file_input(path), path.string());
}

class Reader::Dictionary {
 public:
  explicit Dictionary(const Buffer& content) : prepared(ZSTD_createDDict(content.data(), content.size())) {
    if (prepared == nullptr) throw std::bad_alloc();
  }
  ~Dictionary() { ZSTD_freeDDict(prepared); }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  ZSTD_DDict* prepared;
};

struct Reader::Zstd {
  std::mutex mutex;
  ZSTD_DCtx* context = ZSTD_createDCtx();
  Zstd() {
    if (context == nullptr) throw std::bad_alloc();
  }
  ~Zstd() { ZSTD_freeDCtx(context); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
};

Reader::Reader(std::unique_ptr<Input> input, std::string name)
    : input_(std::move(input)), name_(std::move(name)), zstd_(std::make_unique<Zstd>()) {
  read_ends();
}

Reader::~Reader() = default;

void Reader::damaged(std::uint64_t offset, const std::string& what) const {
  Diagnostic d;
  d.message = fmt::format("the trace is damaged at byte {}: {}", offset, what);
  d.pos.file = name_;
  d.hint = "copy or record it again";
  throw Error(ExitCode::bad_input, "trace-damaged", std::move(d));
}

void Reader::read_ends() {
  const auto refuse = [&](const char* id, std::string message, const char* hint) {
    Diagnostic d;
    d.message = std::move(message);
    d.pos.file = name_;
    d.hint = hint;
    throw Error(ExitCode::bad_input, id, std::move(d));
  };
  const std::uint64_t size = input_->size();
  Buffer bytes(std::min<std::uint64_t>(size, file_header_bytes));
  input_->read(0, bytes);
  if (bytes.size() < file_header_bytes ||
      std::memcmp(bytes.data(), file_magic.data(), file_magic.size()) != 0)
    refuse("trace-file", "this is no trace of simtlab",
           "simtlab run ... --record FILE writes one; Accel-Sim's are named kernelslist.g");
  version_ = Bytes(std::span(bytes).subspan(8)).u32();
  if (version_ < oldest_format_version || version_ > format_version)
    refuse("trace-version",
           fmt::format("the trace has version {} of the format; this simtlab reads {} to {}", version_,
                       oldest_format_version, format_version),
           "record it again");
  if (size < file_header_bytes + footer_bytes)
    damaged(size, "it ends within its first part; the recording or a copy was cut off");
  bytes.resize(footer_bytes);
  input_->read(size - footer_bytes, bytes);
  Bytes footer(bytes);
  const std::uint64_t at = footer.u64(), hash = footer.u64(), end = size - footer_bytes;
  if (std::memcmp(bytes.data() + 16, end_magic.data(), end_magic.size()) != 0)
    damaged(size, "its end is missing; the recording or a copy was cut off");
  if (hash != XXH64(&at, sizeof at, end) || at >= end)
    damaged(end, "the checksum of its end is wrong, or bytes are missing before it");
  read_index(at);
}

Buffer Reader::chunk(std::uint64_t offset, ChunkType type, const Dictionary* dictionary) const {
  const std::uint64_t end = input_->size() - footer_bytes;
  if (offset < file_header_bytes || offset >= end || end - offset < chunk_header_bytes)
    damaged(offset, "a part is said to be here, outside of the file's parts");
  // Most parts are small: one look at the file brings the header and all the rest.
  Buffer first(static_cast<std::size_t>(std::min<std::uint64_t>(end - offset, first_look)));
  input_->read(offset, first);
  Bytes fields(std::span<const std::uint8_t>(first).first(chunk_header_bytes));
  const std::uint32_t kind = fields.u32(), stored = fields.u32(), raw = fields.u32();
  const std::uint64_t hash = fields.u64();
  if (kind != static_cast<std::uint32_t>(type))
    damaged(offset, fmt::format("a part of kind {} stands where one of kind {} should", kind,
                                static_cast<std::uint32_t>(type)));
  if (stored > end - offset - chunk_header_bytes)
    damaged(offset, fmt::format("a part of {} bytes does not fit the file", stored));
  const std::uint32_t most = type == ChunkType::code ? max_code_bytes : max_part_bytes;
  if (raw > most) damaged(offset, fmt::format("a part of {} bytes is above the limit of {}", raw, most));
  const std::size_t seen = first.size();
  if (seen < chunk_header_bytes + std::size_t{stored}) {
    first.resize(chunk_header_bytes + std::size_t{stored});
    input_->read(offset + seen, std::span(first).subspan(seen));
  }
  const auto content = std::span<const std::uint8_t>(first).subspan(chunk_header_bytes, stored);
  Buffer out(raw);
  if (hash != XXH64(content.data(), stored, static_cast<std::uint64_t>(kind) << 32 | raw))
    damaged(offset, "the checksum of a part is wrong");
  const std::lock_guard lock(zstd_->mutex);
  const std::size_t got =
      dictionary == nullptr
          ? ZSTD_decompressDCtx(zstd_->context, out.data(), out.size(), content.data(), content.size())
          : ZSTD_decompress_usingDDict(zstd_->context, out.data(), out.size(), content.data(), content.size(),
                                       dictionary->prepared);
  if (ZSTD_isError(got) != 0)
    damaged(offset, fmt::format("a part cannot be decompressed ({})", ZSTD_getErrorName(got)));
  if (got != raw) damaged(offset, "a part has another size than its header says");
  return out;
}

void Reader::read_index(std::uint64_t at) {
  const Buffer content = chunk(at, ChunkType::index);
  std::vector<std::uint64_t> code_offsets;
  try {
    Bytes in(content);
    recorded_on_ = in.text(4096);
    for (auto* offsets : {&code_offsets, &operation_offsets_}) {
      std::uint64_t last = 0;
      for (std::size_t n = in.count(); n > 0; --n) {
        const std::uint64_t next = last + in.number(input_->size(), "an offset");
        if (next <= last || next >= at) throw Malformed("offsets are not in order");
        offsets->push_back(last = next);
      }
    }
    for (auto* n :
         {&totals_.kernels, &totals_.blocks, &totals_.warp_instructions, &totals_.thread_instructions})
      *n = in.number();
    in.end();
  } catch (const Malformed& e) { damaged(at, e.what()); }
  for (const std::uint64_t offset : code_offsets) {
    const Buffer code = chunk(offset, ChunkType::code);
    code_bytes_ += code.size();
    if (code_bytes_ > max_all_code_bytes)
      damaged(offset,
              fmt::format("the code of all functions is above the limit of {} bytes", max_all_code_bytes));
    try {
      codes_.push_back(read_code(Bytes(code)));
    } catch (const Malformed& e) { damaged(offset, e.what()); }
  }
}

void Reader::rewind() {
  part_ = 0;
  rest_ = {};
}

std::optional<Operation> Reader::next() {
  while (rest_.at_end()) {
    if (part_ == operation_offsets_.size()) return std::nullopt;
    operations_ = chunk(operation_offsets_[part_++], ChunkType::operations);
    rest_ = Bytes(operations_);
  }
  const std::uint64_t offset = operation_offsets_[part_ - 1];
  try {
    Operation operation = get_operation(rest_);
    if (operation.kind == OpKind::kernel) check(operation.kernel, offset);
    return operation;
  } catch (const Malformed& e) { damaged(offset, e.what()); }
}

void Reader::check(const Kernel& kernel, std::uint64_t offset) const {
  if (kernel.function >= codes_.size() || !codes_[kernel.function].function().is_entry)
    damaged(offset, "a kernel's function is not in the trace");
  unsigned __int128 grid = 1, block = 1;
  for (const std::uint32_t n : kernel.grid) grid *= n;
  for (const std::uint32_t n : kernel.block) block *= n;
  if (grid == 0 || grid > max_blocks || block == 0 || block > 1024)
    damaged(offset, "a kernel's grid or block is empty or too large");
  if (kernel.blocks == 0 || kernel.blocks > grid)
    damaged(offset, "a kernel has no blocks, or more than its grid");
}

std::vector<BlockEntry> Reader::table(const Kernel& kernel, std::size_t part) const {
  const std::uint64_t offset = kernel.tables.at(part);
  const Buffer content = chunk(offset, ChunkType::table);
  std::vector<BlockEntry> out;
  try {
    Bytes in(content);
    const std::size_t count = in.count();
    if (count == 0 || count > table_blocks) throw Malformed("a table of blocks has too few or too many");
    std::uint64_t number = 0, place = 0;
    for (std::size_t i = 0; i < count; ++i) {
      BlockEntry& block = out.emplace_back();
      const std::uint64_t step = in.number(max_blocks, "a block's number");
      if (step == 0 && i > 0) throw Malformed("a block stands twice in a table");
      block.number = number += step;
      if (number >= kernel.grid_dim().count()) throw Malformed("a block lies outside of the grid");
      block.warp_instructions = in.number();
      for (std::size_t n = in.count(); n > 0; --n) block.segments.push_back(place += in.signed_number());
      if (block.segments.empty()) throw Malformed("a block has no instructions");
    }
    in.end();
  } catch (const Malformed& e) { damaged(offset, e.what()); }
  return out;
}

std::shared_ptr<const Reader::Dictionary> Reader::dictionary(const Kernel& kernel) const {
  return std::make_shared<const Dictionary>(chunk(kernel.dictionary, ChunkType::segment));
}

std::shared_ptr<const Segment> Reader::segment(std::uint64_t offset, const Dictionary* dictionary,
                                               unsigned warps) const {
  const auto out = std::make_shared<Segment>();
  out->content = chunk(offset, ChunkType::segment, dictionary);
  try {
    Bytes in(out->content);
    if (in.byte() != 1 || in.number() != warps) throw Malformed("a segment is not of this kernel");
    std::vector<std::uint64_t> sizes;
    for (unsigned i = 0; i < 2 * warps; ++i)
      sizes.push_back(in.number(max_part_bytes, "the size of a stream"));
    out->warps.resize(warps);
    for (unsigned i = 0; i < warps; ++i) out->warps[i].control = Bytes(in.take(sizes[2 * i]));
    for (unsigned i = 0; i < warps; ++i) out->warps[i].data = Bytes(in.take(sizes[2 * i + 1]));
    in.end();
  } catch (const Malformed& e) { damaged(offset, e.what()); }
  return out;
}

}  // namespace simtlab::stream::trace
