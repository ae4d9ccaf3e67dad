// Lines live in chunks that never move, found by a hash table with open addressing; after a commit() the
// table is emptied line by line, so a quantum costs in proportion to the lines that it wrote and not to the
// table. commit() writes runs of dirty bytes, then performs the kept atomics in the order of their issue by
// calling their handlers on memory itself.
#include "exec/store_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/memops/view.h"
#include "exec/state.h"

namespace simtlab::exec {

// An atomic instruction that commit() will perform, by calling its handler again. Operands are copies,
// because the warp goes on and may overwrite its registers; the destination is the warp's own register, which
// no instruction touches before the answer has come.
struct DeferredAtomic {
  WarpCtx ctx;
  XInst x;
  alignas(64) std::uint64_t addresses[warp_size];
  // Addresses, then the operands: rows of up to 128 bits a lane.
  alignas(64) std::byte rows[3 * warp_size * 16];
};

namespace {

constexpr std::uint32_t operand_row = warp_size * 16;  // bytes between the rows of a DeferredAtomic
// Place of the DeferredAtomic's rows in WarpCtx::bases
constexpr RowRef row_base = 3;

}  // namespace

StoreBuffer::StoreBuffer(GlobalMemory& memory, std::function<void(std::string_view)> print)
    : memory_(memory),
      print_(std::move(print)),
      table_(4 * chunk_lines),
      direct_(std::make_unique<MemoryView>()) {
  direct_->global_delta = memory.host_delta();
  direct_->global = &memory;
  direct_->outside = memory.outside();
}
StoreBuffer::~StoreBuffer() = default;

void StoreBuffer::grow() {
  std::fill(table_.begin(), table_.end(), 0);
  table_.resize(2 * table_.size());
  for (std::uint32_t i = 0; i < used_; ++i) {
    std::uint64_t at = hash(line(i).number) & (table_.size() - 1);
    while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = i + 1;
    line(i).place = static_cast<std::uint32_t>(at);
  }
}

StoreBuffer::Line& StoreBuffer::take(std::uint64_t number) {
  std::uint64_t at = hash(number) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1))
    if (line(table_[at] - 1).number == number) return line(table_[at] - 1);
  if (4 * (std::size_t{used_} + 1) > table_.size()) {
    grow();
    at = hash(number) & (table_.size() - 1);
    while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
  }
  if (used_ == chunks_.size() * chunk_lines) chunks_.push_back(std::make_unique<Line[]>(chunk_lines));
  Line& taken = line(used_++);
  table_[at] = used_;
  taken.number = number;
  taken.dirty[0] = taken.dirty[1] = 0;
  taken.place = static_cast<std::uint32_t>(at);
  taken.copied = taken.atomic = false;
  low_ = std::min(low_, number);
  high_ = std::max(high_, number);
  return taken;
}

StoreBuffer::Line& StoreBuffer::take_copy(std::uint64_t number) {
  Line& taken = take(number);
  if (!taken.copied) {
    std::memcpy(taken.bytes.data(), memory_.host(number * line_bytes), line_bytes);
    taken.copied = true;
  }
  return taken;
}

void StoreBuffer::defer(const WarpCtx& ctx, const XInst& x, unsigned operand_bytes) {
  if (atomics_used_ == atomics_.size()) atomics_.push_back(std::make_unique<DeferredAtomic>());
  DeferredAtomic& kept = *atomics_[atomics_used_++];
  kept.ctx = ctx;
  kept.x = x;
  std::memcpy(kept.rows, ctx.addresses, sizeof kept.addresses);
  kept.x.imm = 0;
  kept.x.src[0] = row_base;
  for (unsigned i = 1; i < 3 && i < x.inst->src_count; ++i) {
    std::memcpy(kept.rows + i * operand_row, ctx.row(x.src[i]), warp_size * std::size_t{operand_bytes});
    kept.x.src[i] = i * operand_row | row_base;
  }
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1)
    take(ctx.addresses[std::countr_zero(m)] / line_bytes).atomic = true;
}

void StoreBuffer::commit() {
  for (std::uint32_t i = 0; i < used_; ++i) {
    Line& done = line(i);
    std::byte* const to = memory_.host(done.number * line_bytes);
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned base = half * 64;
      for (std::uint64_t bits = done.dirty[half]; bits != 0;) {
        const auto start = static_cast<unsigned>(std::countr_zero(bits));
        const auto length = static_cast<unsigned>(std::countr_one(bits >> start));
        std::memcpy(to + base + start, done.bytes.data() + base + start, length);
        bits = start + length >= 64 ? 0 : bits & (~std::uint64_t{0} << (start + length));
      }
    }
    table_[done.place] = 0;
  }
  used_ = 0;
  last_ = nullptr;
  low_ = ~std::uint64_t{0};
  high_ = 0;
  if (generation_ != memory_.generation()) {
    direct_->forget_bounds();
    generation_ = memory_.generation();
  }
  for (std::size_t i = 0; i < atomics_used_; ++i) {
    DeferredAtomic& kept = *atomics_[i];
    kept.ctx.bases[row_base] = kept.rows;
    kept.ctx.memory = direct_.get();
    kept.ctx.addresses = kept.addresses;
    kept.x.fn(kept.ctx, kept.x);
  }
  atomics_used_ = 0;
  for (const auto& [place, message] : outside_) memory_.outside()->note(place, message);
  outside_.clear();
  if (!printed_.empty() && print_) print_(printed_);
  printed_.clear();
}

bool StoreBuffer::noted(const OutsideAccesses::Place& place) const {
  return std::ranges::find(outside_, place, &std::pair<OutsideAccesses::Place, std::string>::first) !=
         outside_.end();
}

void StoreBuffer::patch(std::uint64_t address, std::byte* out, std::size_t bytes) const {
  for (std::size_t i = 0; i < bytes; ++i)
    if (const std::byte* own = find((address + i) / line_bytes)) out[i] = own[(address + i) % line_bytes];
}

}  // namespace simtlab::exec
