// Which pages of device memory hold something, and which of them a launch changed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "exec/memory.h"
#include "stream/checkpoint/file.h"

namespace simtlab::stream::checkpoint {

inline constexpr std::uint64_t page_bytes = 4096;

struct PageHash {
  std::uint64_t page = 0;  // address / page_bytes
  std::uint64_t low = 0, high = 0;
  bool operator==(const PageHash&) const = default;
};

// Of all pages that hold anything but zeros, in order. Pages that were never touched cost next to nothing.
std::vector<PageHash> hash_pages(const exec::GlobalMemory& memory);
// Of allocations and contents.
std::uint64_t digest(const exec::GlobalMemory& memory, const std::vector<PageHash>& pages);

// The pages in which `after` differs, in parts of bounded size.
void write_changes(const exec::GlobalMemory& memory, const std::vector<PageHash>& before,
                   const std::vector<PageHash>& after, const std::function<void(const Buffer&)>& take);
// Puts them in memory again. Throws trace::Malformed.
void apply_changes(Bytes part, exec::GlobalMemory& memory);

}  // namespace simtlab::stream::checkpoint
