#include "stream/trace/writer.h"

#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "stream/trace/operations.h"

namespace simtlab::stream::trace {
namespace {

constexpr int level = 6;
constexpr std::size_t operations_bytes = 256u << 10;
constexpr std::size_t most_dictionaries = 32;

std::string_view view(const Buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// The first segment of a function's blocks: the others resemble it.
struct Writer::Dictionary {
  std::uint64_t offset = 0;
  ZSTD_CDict* prepared = nullptr;
  explicit Dictionary(const Buffer& content)
      : prepared(ZSTD_createCDict(content.data(), content.size(), level)) {
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
    // Already in the chunk's header.
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
  SIMTLAB_ASSERT(content.size() <= (type == ChunkType::code ? max_code_bytes : max_part_bytes),
                 "a part of a trace is within its limit");
  zstd_->out.resize(ZSTD_compressBound(content.size()));
  ZSTD_CCtx_refCDict(zstd_->context, dictionary == nullptr ? nullptr : dictionary->prepared);
  const std::size_t stored =
      ZSTD_compress2(zstd_->context, zstd_->out.data(), zstd_->out.size(), content.data(), content.size());
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
  const auto [entry, fresh] =
      code_by_hash_.try_emplace(hash, static_cast<std::uint32_t>(code_offsets_.size()));
  if (fresh) code_offsets_.push_back(write_chunk(ChunkType::code, code));
  return entry->second;
}

void Writer::operation(const Operation& operation) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({0, operation});
  write_settled();
}

// Up to the first kernel that is not complete.
void Writer::write_settled() {
  for (; !queue_.empty() && queue_.front().place == 0; queue_.pop_front()) {
    put_operation(operations_, queue_.front().operation);
    if (operations_.size() >= operations_bytes) flush_operations();
  }
}

void Writer::flush_operations() {
  if (operations_.empty()) return;
  operation_offsets_.push_back(write_chunk(ChunkType::operations, operations_));
  operations_.clear();
}

Writer::Place Writer::reserve_kernel(std::uint32_t stream, bool batched) {
  const std::lock_guard lock(mutex_);
  Open& open = open_[++places_];
  open.stream = stream;
  open.batched = batched;
  queue_.push_back({places_, {}});
  return places_;
}

void Writer::begin_kernel(Place place, Kernel kernel) {
  const std::lock_guard lock(mutex_);
  Open& open = open_.at(place);
  open.kernel = std::move(kernel);
  open.begun = true;
}

void Writer::settle(Place place, bool keep) {
  const auto open = open_.find(place);
  if (open == open_.end()) return;
  const auto queued = std::ranges::find(queue_, place, &Queued::place);
  if (keep) {
    queued->place = 0;
    queued->operation.kind = OpKind::kernel;
    queued->operation.stream = open->second.stream;
    queued->operation.flag = open->second.batched;
    queued->operation.kernel = std::move(open->second.kernel);
  } else {
    queue_.erase(queued);
  }
  open_.erase(open);
  write_settled();
}

void Writer::drop_kernel(Place place) {
  const std::lock_guard lock(mutex_);
  settle(place, false);
}

void Writer::add_segment(Place place, const Segment& segment, const Buffer& content) {
  const std::lock_guard lock(mutex_);
  Open& open = open_.at(place);
  Kernel& kernel = open.kernel;
  auto& known = dictionaries_[kernel.function];
  const std::uint64_t before = offset_;
  const std::uint64_t at = write_chunk(ChunkType::segment, content, known.get());
  if (known == nullptr) {
    // One that is in use stays: a kernel names a single dictionary.
    const auto used = [&](std::uint32_t function) {
      return std::ranges::any_of(open_, [&](const auto& other) {
        return other.second.begun && other.second.kernel.function == function;
      });
    };
    if (dictionaries_.size() > most_dictionaries)
      std::erase_if(dictionaries_, [&](const auto& d) { return !used(d.first); });
    auto& own = dictionaries_[kernel.function];
    own = std::make_unique<Dictionary>(content);
    own->offset = at;
    kernel.dictionary = at;
  } else {
    kernel.dictionary = known->offset;
  }
  kernel.stored_bytes += offset_ - before;
  BlockEntry& block = open.blocks[segment.block];
  block.number = segment.block;
  block.segments.push_back(at);
  block.warp_instructions += segment.warp_instructions;
  kernel.warp_instructions += segment.warp_instructions;
  kernel.thread_instructions += segment.thread_instructions;
}

// Blocks in the order of their numbers, whatever order they ended in.
void Writer::write_tables(Open& open) {
  Buffer table;
  std::uint64_t number = 0, place = 0;
  std::size_t count = 0;
  const auto flush = [&] {
    if (count == 0) return;
    Buffer whole;
    put_number(whole, count);
    whole.insert(whole.end(), table.begin(), table.end());
    open.kernel.tables.push_back(write_chunk(ChunkType::table, whole));
    table.clear();
    number = place = count = 0;
  };
  for (const auto& [key, block] : open.blocks) {
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

void Writer::finish_kernel(Place place) {
  const std::lock_guard lock(mutex_);
  Open& open = open_.at(place);
  open.kernel.blocks = open.blocks.size();
  write_tables(open);
  ++totals_.kernels;
  totals_.blocks += open.kernel.blocks;
  totals_.warp_instructions += open.kernel.warp_instructions;
  totals_.thread_instructions += open.kernel.thread_instructions;
  settle(place, true);
}

void Writer::close() {
  const std::lock_guard lock(mutex_);
  while (!open_.empty()) settle(open_.begin()->first, false);
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
  for (const std::uint64_t n :
       {totals_.kernels, totals_.blocks, totals_.warp_instructions, totals_.thread_instructions})
    put_number(index, n);
  const std::uint64_t at = write_chunk(ChunkType::index, index);
  Buffer footer;
  put_u64(footer, at);
  put_u64(footer, XXH64(&at, sizeof at, offset_));
  footer.insert(footer.end(), end_magic.begin(), end_magic.end());
  file_.write(view(footer));
  file_.close();
}

}  // namespace simtlab::stream::trace
