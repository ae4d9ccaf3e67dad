#include "check/shadow.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace simtlab::check {
namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

Reserved::Reserved(std::uint64_t bytes) : bytes_(pages(bytes)) {
  void* const at =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at != MAP_FAILED) data_ = static_cast<std::byte*>(at);
}

Reserved::~Reserved() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void Reserved::clear(std::uint64_t from, std::uint64_t bytes) {
  if (data_ == nullptr || from >= bytes_) return;
  const std::uint64_t end = from + std::min(bytes, bytes_ - from);
  const std::uint64_t first_page = std::min(pages(from), end),
                      last_page = std::max(first_page, end / page * page);
  std::memset(data_ + from, 0, first_page - from);
  if (last_page > first_page) ::madvise(data_ + first_page, last_page - first_page, MADV_DONTNEED);
  std::memset(data_ + last_page, 0, end - last_page);
}

void Reserved::in_large_pages(std::uint64_t from, std::uint64_t bytes) {
  if (data_ == nullptr || from >= bytes_) return;
  const std::uint64_t first = pages(from), end = from + std::min(bytes, bytes_ - from);
  if (end > first + page) ::madvise(data_ + first, (end - first) / page * page, MADV_HUGEPAGE);
}

bool all_set(const std::uint64_t* bits, std::uint64_t first, std::uint64_t count) {
  while (count != 0) {
    const std::uint64_t at = first % 64, here = std::min<std::uint64_t>(count, 64 - at);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << at;
    if ((bits[first / 64] & mask) != mask) return false;
    first += here;
    count -= here;
  }
  return true;
}

std::uint64_t run_of_bits(const std::uint64_t* bits, std::uint64_t first, std::uint64_t count) {
  if (count == 0) return 0;
  const std::uint64_t flip = (bits[first / 64] >> first % 64 & 1) != 0 ? ~std::uint64_t{0} : 0;
  std::uint64_t done = 0;
  while (done < count) {
    const std::uint64_t at = (first + done) % 64, here = std::min(count - done, 64 - at);
    const std::uint64_t other =
        (bits[(first + done) / 64] ^ flip) >> at;  // bits that are not as the first one
    const auto same = static_cast<std::uint64_t>(std::countr_zero(other));
    if (same < here) return done + same;
    done += here;
  }
  return count;
}

void set_bits(std::uint64_t* bits, std::uint64_t first, std::uint64_t count, bool value) {
  while (count != 0) {
    const std::uint64_t at = first % 64, here = std::min<std::uint64_t>(count, 64 - at);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << at;
    std::uint64_t& word = bits[first / 64];
    word = value ? word | mask : word & ~mask;
    first += here;
    count -= here;
  }
}

namespace {

// Where a program touches a byte a page, its cells would fill large pages: so much of the host's memory may
// go into that.
std::uint64_t spare_memory() {
  const long all = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return all <= 0 || size <= 0 ? 0 : static_cast<std::uint64_t>(all) / 16 * static_cast<std::uint64_t>(size);
}

constexpr std::uint64_t large_allocation = 4 << 20;

}  // namespace

Shadow::Shadow(std::uint64_t first, std::uint64_t bytes)
    : first_(first),
      bytes_(bytes),
      large_words_(spare_memory()),
      large_bytes_(large_words_),
      writers_(bytes / 4 * sizeof(Half)),
      readers_(bytes / 4 * sizeof(Half)),
      byte_writers_(bytes * sizeof(Half)),
      byte_readers_(bytes * sizeof(Half)),
      split_(bytes / 32 + 8),
      written_(bytes / 8 + 8) {}

void Shadow::expect(std::uint64_t address, std::uint64_t bytes) {
  if (!holds(address) || bytes < large_allocation) return;
  const std::uint64_t at = offset(address), words = bytes / 4 * sizeof(Half), cells = bytes * sizeof(Half);
  if (2 * words <= large_words_) {
    large_words_ -= 2 * words;
    writers_.in_large_pages(at / 4 * sizeof(Half), words);
    readers_.in_large_pages(at / 4 * sizeof(Half), words);
  }
  if (2 * cells > large_bytes_) return;
  large_bytes_ -= 2 * cells;
  byte_writers_.in_large_pages(at * sizeof(Half), cells);
  byte_readers_.in_large_pages(at * sizeof(Half), cells);
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  if (!holds(address) || bytes == 0) return;
  const std::uint64_t at = offset(address);
  bytes = std::min(bytes, bytes_ - at);
  for (Reserved* const words : {&writers_, &readers_})
    words->clear(at / 4 * sizeof(Half), (bytes + 3) / 4 * sizeof(Half));
  for (Reserved* const cells : {&byte_writers_, &byte_readers_})
    cells->clear(at * sizeof(Half), bytes * sizeof(Half));
  // Whole words of the bitmaps: allocations begin and end at multiples of 256.
  split_.clear(at / 32, (bytes + 255) / 256 * 8);
  if (written() != nullptr) written_.clear(at / 8, (bytes + 7) / 8);
}

void Shadow::forget_cells() {
  for (Reserved* const words : {&writers_, &readers_}) words->clear(0, bytes_ / 4 * sizeof(Half));
  for (Reserved* const cells : {&byte_writers_, &byte_readers_}) cells->clear(0, bytes_ * sizeof(Half));
  split_.clear(0, bytes_ / 32 + 8);
}

}  // namespace simtlab::check
