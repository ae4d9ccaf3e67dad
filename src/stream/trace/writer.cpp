#include "stream/trace/writer.h"

#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

#include "base/error.h"
#include "stream/trace/operations.h"

namespace simtlab::stream::trace {
namespace {

constexpr int level = 6;
constexpr std::size_t operations_bytes = 256u << 10;
constexpr std::size_t most_dictionaries = 32;

std::string_view view(const Buffer& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

// The first segment of a function's blocks: the others resemble it.
struct Writer::Dictionary {
  std::uint64_t offset = 0;
  ZSTD_CDict* prepared = nullptr;
  explicit Dictionary(const Buffer& content) : prepared(ZSTD_createCDict(content.data(), content.size(), level)) {
    if (prepared == nullptr) throw std::bad_alloc();
  }
  ~Dictionary() { ZSTD_freeCDict(prepared); }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
};

struct Writer::Zstd {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  Buffer out;
  Zstd() {
    if (context == nullptr) throw std::bad_alloc();
    // What the chunk's header says already.
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  }
  ~Zstd() { ZSTD_freeCCtx(context); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
};

Writer::Writer(const std::filesystem::path& path, std::string recorded_on)
    : file_(path), recorded_on_(std::move(recorded_on)), zstd_(std::make_unique<Zstd>()) {
  Buffer header(file_magic.begin(), file_magic.end());
  put_u32(header, format_version);
  put_u32(header, 0);
  file_.write(view(header));
  offset_ = header.size();
}

Writer::~Writer() = default;

std::uint64_t Writer::write_chunk(ChunkType type, const Buffer& content, const Dictionary* dictionary) {
  SIMTLAB_ASSERT(content.size() <= (type == ChunkType::code ? max_code_bytes : max_part_bytes), "a part of a trace is within its limit");
  zstd_->out.resize(ZSTD_compressBound(content.size()));
  ZSTD_CCtx_refCDict(zstd_->context, dictionary == nullptr ? nullptr : dictionary->prepared);
  const std::size_t stored = ZSTD_compress2(zstd_->context, zstd_->out.data(), zstd_->out.size(), content.data(), content.size());
  SIMTLAB_ASSERT(ZSTD_isError(stored) == 0, "zstd compresses what fits its bound");
  Buffer header;
  put_u32(header, static_cast<std::uint32_t>(type));
  put_u32(header, static_cast<std::uint32_t>(stored));
  put_u32(header, static_cast<std::uint32_t>(content.size()));
  put_u64(header, XXH64(zstd_->out.data(), stored, static_cast<std::uint64_t>(type) << 32 | content.size()));
  file_.write(view(header));
  file_.write({reinterpret_cast<const char*>(zstd_->out.data()), stored});
  const std::uint64_t at = offset_;
  offset_ += header.size() + stored;
  return at;
}

std::uint32_t Writer::add_code(const Buffer& code) {
  const std::uint64_t hash = XXH64(code.data(), code.size(), 0);
  const std::lock_guard lock(mutex_);
  if (code.size() > max_code_bytes)
    throw Error(ExitCode::failure, "trace-limit", "a function has more instructions than a trace can hold");
  const auto [entry, fresh] = code_by_hash_.try_emplace(hash, static_cast<std::uint32_t>(code_offsets_.size()));
  if (fresh) code_offsets_.push_back(write_chunk(ChunkType::code, code));
  return entry->second;
}

void Writer::operation(const Operation& operation) {
  const std::lock_guard lock(mutex_);
  put_operation(operations_, operation);
  if (operations_.size() >= operations_bytes) flush_operations();
}

void Writer::flush_operations() {
  if (operations_.empty()) return;
  operation_offsets_.push_back(write_chunk(ChunkType::operations, operations_));
  operations_.clear();
}

void Writer::begin_kernel(Kernel kernel, std::uint32_t stream) {
  kernel_ = std::move(kernel);
  kernel_stream_ = stream;
  blocks_.clear();
}

void Writer::drop_kernel() { blocks_.clear(); }

void Writer::add_segment(const Segment& segment, const Buffer& content) {
  const std::lock_guard lock(mutex_);
  auto& known = dictionaries_[kernel_.function];
  const std::uint64_t before = offset_;
  const std::uint64_t at = write_chunk(ChunkType::segment, content, known.get());
  if (known == nullptr) {
    if (dictionaries_.size() > most_dictionaries) std::erase_if(dictionaries_, [&](const auto& d) { return d.first != kernel_.function; });
    auto& own = dictionaries_[kernel_.function];
    own = std::make_unique<Dictionary>(content);
    own->offset = at;
    kernel_.dictionary = at;
  } else {
    kernel_.dictionary = known->offset;
  }
  kernel_.stored_bytes += offset_ - before;
  BlockEntry& block = blocks_[segment.block];
  block.number = segment.block;
  block.segments.push_back(at);
  block.warp_instructions += segment.warp_instructions;
  kernel_.warp_instructions += segment.warp_instructions;
  kernel_.thread_instructions += segment.thread_instructions;
}

// Blocks in the order of their numbers, whatever order they ended in.
void Writer::write_tables() {
  Buffer table;
  std::uint64_t number = 0, place = 0;
  std::size_t count = 0;
  const auto flush = [&] {
    if (count == 0) return;
    Buffer whole;
    put_number(whole, count);
    whole.insert(whole.end(), table.begin(), table.end());
    kernel_.tables.push_back(write_chunk(ChunkType::table, whole));
    table.clear();
    number = place = count = 0;
  };
  for (const auto& [key, block] : blocks_) {
    put_number(table, block.number - number);
    number = block.number;
    put_number(table, block.warp_instructions);
    put_number(table, block.segments.size());
    for (const std::uint64_t at : block.segments) {
      put_signed(table, at - place);
      place = at;
    }
    // Only blocks of very many segments make a table large.
    if (++count == table_blocks || table.size() > max_part_bytes / 2) flush();
  }
  flush();
}

void Writer::finish_kernel() {
  const std::lock_guard lock(mutex_);
  kernel_.blocks = blocks_.size();
  write_tables();
  ++totals_.kernels;
  totals_.blocks += kernel_.blocks;
  totals_.warp_instructions += kernel_.warp_instructions;
  totals_.thread_instructions += kernel_.thread_instructions;
  Operation operation;
  operation.kind = OpKind::kernel;
  operation.stream = kernel_stream_;
  operation.kernel = std::move(kernel_);
  put_operation(operations_, operation);
  blocks_.clear();
  if (operations_.size() >= operations_bytes) flush_operations();
}

void Writer::close() {
  const std::lock_guard lock(mutex_);
  flush_operations();
  Buffer index;
  put_text(index, recorded_on_);
  for (const auto* offsets : {&code_offsets_, &operation_offsets_}) {
    put_number(index, offsets->size());
    std::uint64_t last = 0;
    for (const std::uint64_t at : *offsets) {
      put_number(index, at - last);
      last = at;
    }
  }
  for (const std::uint64_t n : {totals_.kernels, totals_.blocks, totals_.warp_instructions, totals_.thread_instructions}) put_number(index, n);
  const std::uint64_t at = write_chunk(ChunkType::index, index);
  Buffer footer;
  put_u64(footer, at);
  put_u64(footer, XXH64(&at, sizeof at, offset_));
  footer.insert(footer.end(), end_magic.begin(), end_magic.end());
  file_.write(view(footer));
  file_.close();
}

}  // namespace simtlab::stream::trace
