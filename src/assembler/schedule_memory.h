// The order that accesses to memory keep, and instructions that lanes execute together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "assembler/program.h"

namespace simtlab::assembler {

// What an access touches: bytes at a distance from a base. Accesses with one base are known to be apart.
struct MemoryAccess {
  static constexpr std::uint8_t global = 1, shared = 2, local = 4, anywhere = 7;
  std::uint8_t spaces = 0;  // none: it is no access
  bool reads = false, writes = false;
  bool has_place = false;
  // Registers of the address and who wrote them last
  std::array<std::uint32_t, 10> base{};
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;
};
// Without the base.
MemoryAccess access_of(const machine::Instruction& code);
bool must_keep_order(const MemoryAccess& first, const MemoryAccess& second);

enum class KeepsOrder : std::uint8_t {
  no,
  together,  // lanes do it together: among each other
  memory,    // with all accesses, too
  all,       // nothing passes it
};
KeepsOrder order_kept_by(const machine::Instruction& code);

// Goes through the instructions of a block. edge(from, to): one must stay before the other.
class MemoryOrder {
 public:
  template <class F>
  void add(std::uint32_t n, KeepsOrder kept, const MemoryAccess& access, const F& edge) {
    if (wall_ != none) edge(wall_, n);
    if (kept == KeepsOrder::all) {
      for (const std::uint32_t m : since_wall_) edge(m, n);
      since_wall_.clear();
      wall_ = n;
      clear(none);
      together_ = none;
      return;
    }
    since_wall_.push_back(n);
    if (kept == KeepsOrder::together || kept == KeepsOrder::memory) {
      if (together_ != none) edge(together_, n);
      together_ = n;
    }
    if (kept == KeepsOrder::memory) {
      close(n, edge);
      return;
    }
    if (access.spaces == 0) return;
    if (memory_wall_ != none) edge(memory_wall_, n);
    for (const Entry& e : entries_)
      if (must_keep_order(e.access, access)) edge(e.n, n);
    // So that a long block does not compare each access with all before.
    if (entries_.size() >= most_entries) return close(n, edge);
    entries_.push_back({n, access});
  }

 private:
  static constexpr std::size_t most_entries = 96;
  struct Entry {
    std::uint32_t n = 0;
    MemoryAccess access;
  };
  // Later accesses come after this one.
  template <class F>
  void close(std::uint32_t n, const F& edge) {
    if (memory_wall_ != none) edge(memory_wall_, n);
    for (const Entry& e : entries_) edge(e.n, n);
    clear(n);
  }
  void clear(std::uint32_t wall) {
    entries_.clear();
    memory_wall_ = wall;
  }

  std::vector<std::uint32_t> since_wall_;
  std::vector<Entry> entries_;
  std::uint32_t wall_ = none, memory_wall_ = none, together_ = none;
};

}  // namespace simtlab::assembler
