// Writes of the blocks of one SM to global memory, until other SMs may see them.
//
// SMs are simulated side by side for a few cycles at a time (a quantum). Until the quantum is over memory
// itself does not change: a store goes to a copy of its 128-byte line here, loads of this SM read the copy,
// and atomics are kept with their operands. commit() then makes all of it visible. commit() is called for one
// SM after the other, in a fixed order, so a program gets equal values however many host threads simulate the
// SMs; that holds for racy programs, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/memory.h"
#include "exec/outside.h"

namespace simtlab::exec {

struct DeferredAtomic;
struct MemoryView;
struct WarpCtx;
struct XInst;

class StoreBuffer {
 public:
  // print: receives the output of device printf, at commit().
  StoreBuffer(GlobalMemory& memory, std::function<void(std::string_view)> print);
  ~StoreBuffer();
  StoreBuffer(const StoreBuffer&) = delete;
  StoreBuffer& operator=(const StoreBuffer&) = delete;

  // Stores in the order in which their lines were first written, then atomics in the order of their issue.
  void commit();
  bool empty() const { return used_ == 0 && printed_.empty(); }

  // For the executor. Lines are addresses / line_bytes.
  static constexpr unsigned line_bytes = 128;
  bool holds_atomics() const { return atomics_used_ != 0; }
  bool may_hold(std::uint64_t first_line, std::uint64_t last_line) const {
    return first_line <= high_ && last_line >= low_;
  }
  // The SM's own copy of a line; null: it has none.
  const std::byte* find(std::uint64_t line) const {
    const Line* const found = look_up(line);
    return found != nullptr && found->copied ? found->bytes.data() : nullptr;
  }
  // The copy, made if there is none; `bytes` of it from `offset` on, within one half of the line, will be
  // written.
  std::byte* write(std::uint64_t number, unsigned offset, unsigned bytes) {
    if (last_ == nullptr || last_->number != number) last_ = &take_copy(number);
    const std::uint64_t ones = bytes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
    last_->dirty[offset / 64] |= ones << (offset % 64);
    return last_->bytes.data();
  }
  // Keeps an atomic for commit(): lanes of ctx.mask, whose addresses are ctx.addresses.
  void defer(const WarpCtx& ctx, const XInst& x, unsigned operand_bytes);
  bool awaits_atomic(std::uint64_t line) const {
    const Line* const found = look_up(line);
    return found != nullptr && found->atomic;
  }
  // Lays the SM's own stores over bytes that were read from memory.
  void patch(std::uint64_t address, std::byte* out, std::size_t bytes) const;
  void print(std::string_view text) { printed_ += text; }
  // Places of accesses outside of every allocation, told at commit().
  bool noted(const OutsideAccesses::Place& place) const;
  void note(const OutsideAccesses::Place& place, std::string message) {
    outside_.emplace_back(place, std::move(message));
  }

 private:
  struct alignas(64) Line {
    std::array<std::byte, line_bytes> bytes;
    std::uint64_t number = 0;
    std::uint64_t dirty[2] = {0, 0};  // bytes to write
    std::uint32_t place = 0;          // in table_
    bool copied = false, atomic = false;
  };
  static constexpr std::uint32_t chunk_lines = 64;

  Line& line(std::uint32_t index) { return chunks_[index / chunk_lines][index % chunk_lines]; }
  const Line& line(std::uint32_t index) const { return chunks_[index / chunk_lines][index % chunk_lines]; }
  static std::uint64_t hash(std::uint64_t number) { return number * 0x9e3779b97f4a7c15ull >> 32; }
  const Line* look_up(std::uint64_t number) const {
    if (!may_hold(number, number)) return nullptr;
    for (std::uint64_t at = hash(number) & (table_.size() - 1); table_[at] != 0;
         at = (at + 1) & (table_.size() - 1))
      if (line(table_[at] - 1).number == number) return &line(table_[at] - 1);
    return nullptr;
  }
  Line& take(std::uint64_t number);
  Line& take_copy(std::uint64_t number);
  void grow();

  GlobalMemory& memory_;
  std::function<void(std::string_view)> print_;
  std::vector<std::unique_ptr<Line[]>> chunks_;  // lines stay where they are
  Line* last_ = nullptr;                         // written last
  std::uint32_t used_ = 0;
  std::vector<std::uint32_t> table_;  // index of a line + 1; 0: free
  std::uint64_t low_ = ~std::uint64_t{0}, high_ = 0;
  std::unique_ptr<MemoryView> direct_;            // of the atomics: without a buffer
  std::uint64_t generation_ = ~std::uint64_t{0};  // of the memory when its bounds were cached
  std::vector<std::unique_ptr<DeferredAtomic>> atomics_;
  std::size_t atomics_used_ = 0;
  std::string printed_;
  std::vector<std::pair<OutsideAccesses::Place, std::string>> outside_;
};

}  // namespace simtlab::exec
