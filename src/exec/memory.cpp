// Reserved with mmap, made accessible allocation by allocation, committed by the host kernel when touched.
// Free memory is always zero: pages go back to the host when an allocation is released.
#include "exec/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>

#include "base/error.h"

namespace simtlab::exec {
namespace {

constexpr std::uint64_t first_address = 0x2000'0000'0000ull;  // far above the generic windows of ptx/module.h
constexpr std::uint64_t min_align = 256;
constexpr std::uint64_t gap = 256;
constexpr std::uint64_t max_capacity = 1ull << 42;  // 4 TiB

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

struct GlobalMemory::Map {
  std::map<std::uint64_t, Allocation> allocations;           // by address
  std::map<std::uint64_t, std::uint64_t> free;               // address -> bytes; never adjacent
  std::deque<std::pair<std::uint64_t, std::uint64_t>> held;  // released, not free yet: address, bytes
  std::map<std::uint64_t, std::uint64_t> taken;  // by allocations with a wider gap: address, bytes
  std::uint64_t reserved = 0;                    // of the mapping
};

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIMTLAB_UNDER_TSAN 1
#endif
#endif
#if defined(SIMTLAB_UNDER_TSAN) || defined(__SANITIZE_THREAD__)
constexpr bool under_thread_sanitizer = true;
#else
constexpr bool under_thread_sanitizer = false;
#endif

GlobalMemory::GlobalMemory(std::uint64_t capacity, std::uint64_t commit_limit)
    : first_(first_address),
      capacity_(capacity),
      commit_limit_(commit_limit == 0 ? capacity : commit_limit),
      map_(std::make_unique<Map>()) {
  if (capacity == 0 || capacity > max_capacity) {
    throw Error(ExitCode::bad_input, "memory-capacity",
                "device memory of " + std::to_string(capacity) + " bytes is not between 1 byte and 4 TiB");
  }
  // Gaps and rounding are beyond the capacity, so that one allocation of the whole capacity works.
  map_->reserved = round_up(capacity + (1ull << 20) + capacity / 64, page_bytes());
  void* got = MAP_FAILED;
  // ThreadSanitizer keeps its own memory in the preferred place.
  if constexpr (!under_thread_sanitizer)
    got = mmap(reinterpret_cast<void*>(first_), map_->reserved, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) {
    got = mmap(nullptr, map_->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (got == MAP_FAILED) {
    throw Error(ExitCode::failure, "memory-reserve",
                "cannot reserve " + std::to_string(map_->reserved) +
                    " bytes of address space for device memory: " + std::strerror(errno),
                "raise the limit of virtual memory (ulimit -v) or choose a GPU with less memory");
  }
  base_ = static_cast<std::byte*>(got);
  map_->free.emplace(first_, map_->reserved);
}

GlobalMemory::~GlobalMemory() {
  if (base_ != nullptr) munmap(base_, map_->reserved);
}

// Lowest free range that holds it; 0 if none. The gap behind it belongs to it.
std::uint64_t GlobalMemory::take(std::uint64_t bytes, std::uint64_t align) {
  for (auto it = map_->free.begin(); it != map_->free.end(); ++it) {
    const std::uint64_t start = round_up(it->first, align), end = it->first + it->second;
    if (start >= end || end - start < bytes) continue;
    const std::uint64_t before = start - it->first, after = end - start - bytes;
    if (after != 0) map_->free.emplace(start + bytes, after);
    if (before != 0) {
      it->second = before;
    } else {
      map_->free.erase(it);
    }
    return start;
  }
  return 0;
}

std::optional<std::uint64_t> GlobalMemory::allocate(std::uint64_t bytes, std::string what,
                                                    std::uint64_t align) {
  SIMTLAB_ASSERT(align != 0 && (align & (align - 1)) == 0, "alignment of an allocation is a power of two");
  align = std::max(align, min_align);
  if (bytes > capacity_ - used_ || bytes > commit_limit_ - std::min(commit_limit_, used_) ||
      align > capacity_) {
    return std::nullopt;
  }
  std::uint64_t taken = round_up(bytes, min_align) + gap;
  std::uint64_t address = 0;
  constexpr std::uint64_t widest = std::uint64_t{64} << 20;
  if (wide_gap_ != 0) {
    const std::uint64_t wide = std::clamp(round_up(bytes, min_align), wide_gap_, std::max(wide_gap_, widest));
    address = take(taken + wide, align);
    if (address != 0) taken += wide;
  }
  if (address == 0) address = take(taken, align);
  if (address == 0 && let_go_of_held(0)) address = take(taken, align);
  if (address == 0) return std::nullopt;
  const std::uint64_t offset = address - first_;
  const std::uint64_t from = offset / page_bytes() * page_bytes();
  if (mprotect(base_ + from, round_up(offset + bytes, page_bytes()) - from, PROT_READ | PROT_WRITE) != 0) {
    give_back(address, taken);
    return std::nullopt;
  }
  used_ += bytes;
  ++generation_;
  map_->allocations.emplace(address, Allocation{address, bytes, std::move(what), false});
  if (taken != round_up(bytes, min_align) + gap) map_->taken[address] = taken;
  return address;
}

std::uint64_t GlobalMemory::allocate_last(std::uint64_t bytes, std::string what) {
  SIMTLAB_ASSERT(map_->allocations.empty(), "nothing is allocated yet");
  const std::uint64_t taken = round_up(bytes + gap, page_bytes());
  const auto last = std::prev(map_->free.end());
  SIMTLAB_ASSERT(last->second > taken + capacity_, "the range is larger than the memory");
  last->second -= taken;
  const std::uint64_t address = last->first + last->second;
  if (mprotect(base_ + (address - first_), taken, PROT_READ | PROT_WRITE) != 0)
    throw Error(ExitCode::failure, "memory-reserve",
                std::string("cannot use the end of device memory: ") + std::strerror(errno));
  ++generation_;
  map_->allocations.emplace(address, Allocation{address, bytes, std::move(what), false});
  return address;
}

void GlobalMemory::give_back(std::uint64_t address, std::uint64_t bytes) {
  auto hole = map_->free.emplace(address, bytes).first;
  if (const auto next = std::next(hole);
      next != map_->free.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    map_->free.erase(next);
  }
  if (hole != map_->free.begin()) {
    const auto previous = std::prev(hole);
    if (previous->first + previous->second == hole->first) {
      previous->second += hole->second;
      map_->free.erase(hole);
    }
  }
}

void GlobalMemory::clear(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t offset = address - first_;
  const std::uint64_t page_from = round_up(offset, page_bytes());
  const std::uint64_t page_to = (offset + bytes) / page_bytes() * page_bytes();
  if (page_from >= page_to || madvise(base_ + page_from, page_to - page_from, MADV_DONTNEED) != 0) {
    std::memset(base_ + offset, 0, bytes);
    return;
  }
  std::memset(base_ + offset, 0, page_from - offset);
  std::memset(base_ + page_to, 0, offset + bytes - page_to);
}

bool GlobalMemory::release(std::uint64_t address) {
  const auto it = map_->allocations.find(address);
  if (it == map_->allocations.end()) return false;
  const std::uint64_t bytes = it->second.bytes;
  clear(address, bytes);
  used_ -= bytes;
  ++generation_;
  map_->allocations.erase(it);
  std::uint64_t taken = round_up(bytes, min_align) + gap;
  if (const auto wide = map_->taken.find(address); wide != map_->taken.end()) {
    taken = wide->second;
    map_->taken.erase(wide);
  }
  if (most_held_ == 0) {
    give_back(address, taken);
  } else {
    map_->held.emplace_back(address, taken);
    held_bytes_ += taken;
    let_go_of_held(most_held_);
  }
  return true;
}

// The oldest first; false: nothing was held.
bool GlobalMemory::let_go_of_held(std::uint64_t most) {
  const bool any = !map_->held.empty();
  while (held_bytes_ > most) {
    const auto [address, bytes] = map_->held.front();
    map_->held.pop_front();
    held_bytes_ -= bytes;
    give_back(address, bytes);
  }
  return any;
}

const Allocation* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes) const {
  auto it = map_->allocations.upper_bound(address);
  if (it == map_->allocations.begin()) return nullptr;
  const Allocation& allocation = (--it)->second;
  const std::uint64_t offset = address - allocation.address;
  return offset <= allocation.bytes && bytes <= allocation.bytes - offset ? &allocation : nullptr;
}

const Allocation* GlobalMemory::nearest(std::uint64_t address) const {
  const auto above = map_->allocations.upper_bound(address);
  const Allocation* best = above == map_->allocations.end() ? nullptr : &above->second;
  if (above == map_->allocations.begin()) return best;
  const Allocation& below = std::prev(above)->second;
  if (best == nullptr) return &below;
  const std::uint64_t end = below.address + below.bytes;
  const std::uint64_t distance = address < end ? 0 : address - end;
  return distance <= best->address - address ? &below : best;
}

void GlobalMemory::for_each(std::uint64_t begin, std::uint64_t end,
                            const std::function<void(const Allocation&)>& take) const {
  auto it = map_->allocations.upper_bound(begin);
  if (it != map_->allocations.begin() && std::prev(it)->second.address + std::prev(it)->second.bytes > begin)
    --it;
  for (; it != map_->allocations.end() && it->first < end; ++it) take(it->second);
}

void GlobalMemory::set_read_only(std::uint64_t address, bool read_only) {
  const auto it = map_->allocations.find(address);
  SIMTLAB_ASSERT(it != map_->allocations.end(), "read-only is a property of an allocation");
  it->second.read_only = read_only;
  ++generation_;
}

void GlobalMemory::set_host_writes(std::uint64_t address) {
  SIMTLAB_ASSERT(find(address) != nullptr, "the host writes to an allocation");
  const auto it = std::prev(map_->allocations.upper_bound(address));
  it->second.host_writes = host_writes_ = true;
}

bool GlobalMemory::read(std::uint64_t address, std::span<std::byte> out) const {
  if (find(address, out.size()) == nullptr) return false;
  std::memcpy(out.data(), host(address), out.size());
  return true;
}

bool GlobalMemory::write(std::uint64_t address, std::span<const std::byte> in) {
  if (find(address, in.size()) == nullptr) return false;
  std::memcpy(host(address), in.data(), in.size());
  if (on_write_) on_write_(address, in.size());
  return true;
}

bool GlobalMemory::fill(std::uint64_t address, std::byte value, std::uint64_t bytes) {
  if (find(address, bytes) == nullptr) return false;
  std::memset(host(address), static_cast<int>(value), bytes);
  if (on_write_) on_write_(address, bytes);
  return true;
}

}  // namespace simtlab::exec
