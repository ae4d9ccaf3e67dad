#include "stream/checkpoint/pages.h"

#include <fcntl.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace simtlab::stream::checkpoint {
namespace {

constexpr std::size_t pages_a_part = 1024;
constexpr std::uint64_t present_or_swapped = std::uint64_t{3} << 62;

// What the host's kernel says of pages: whether there is anything. Where it says nothing, all are looked at.
class Residency {
 public:
  explicit Residency(const exec::GlobalMemory& memory)
      : memory_(memory),
        fd_(::sysconf(_SC_PAGESIZE) == page_bytes ? ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1) {
  }
  ~Residency() {
    if (fd_ >= 0) ::close(fd_);
  }
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  bool touched(std::uint64_t page) {
    if (fd_ < 0) return true;
    const std::uint64_t index = (page * page_bytes + memory_.host_delta()) / page_bytes;
    if (index < first_ || index >= first_ + count_) {
      first_ = index;
      const ssize_t got = ::pread(fd_, entries_.data(), sizeof entries_, static_cast<off_t>(index * 8));
      count_ = got > 0 ? static_cast<std::size_t>(got) / 8 : 0;
      if (count_ == 0) return true;
    }
    return (entries_[index - first_] & present_or_swapped) != 0;
  }

 private:
  const exec::GlobalMemory& memory_;
  int fd_;
  std::uint64_t first_ = 0;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 4096> entries_{};
};

// Only the bytes that belong to allocations: nobody may touch the others.
template <class Take>
void for_pieces(const exec::GlobalMemory& memory, std::uint64_t page, const Take& take) {
  const std::uint64_t begin = page * page_bytes, end = begin + page_bytes;
  memory.for_each(begin, end, [&](const exec::Allocation& a) {
    const std::uint64_t from = std::max(begin, a.address), to = std::min(end, a.address + a.bytes);
    if (from < to) take(from, to - from);
  });
}

std::array<std::uint8_t, page_bytes> image(const exec::GlobalMemory& memory, std::uint64_t page) {
  std::array<std::uint8_t, page_bytes> out{};
  for_pieces(memory, page, [&](std::uint64_t from, std::uint64_t bytes) {
    std::memcpy(out.data() + from % page_bytes, memory.host(from), bytes);
  });
  return out;
}

}  // namespace

std::vector<PageHash> hash_pages(const exec::GlobalMemory& memory) {
  static constexpr std::array<std::uint8_t, page_bytes> zero{};
  std::vector<PageHash> out;
  Residency residency(memory);
  std::uint64_t next = 0;  // an allocation may begin on the page on which the one before ends
  memory.for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) {
    if (a.bytes == 0) return;
    const std::uint64_t last = (a.address + a.bytes - 1) / page_bytes;
    for (std::uint64_t page = std::max(next, a.address / page_bytes); page <= last; ++page) {
      if (!residency.touched(page)) continue;
      const bool whole = page * page_bytes >= a.address && (page + 1) * page_bytes <= a.address + a.bytes;
      const auto pieces = whole ? std::array<std::uint8_t, page_bytes>{} : image(memory, page);
      const void* bytes = whole ? static_cast<const void*>(memory.host(page * page_bytes)) : pieces.data();
      if (std::memcmp(bytes, zero.data(), page_bytes) == 0) continue;
      const XXH128_hash_t hash = XXH3_128bits(bytes, page_bytes);
      out.push_back({page, hash.low64, hash.high64});
    }
    next = last + 1;
  });
  return out;
}

std::uint64_t digest(const exec::GlobalMemory& memory, const std::vector<PageHash>& pages) {
  std::vector<std::uint64_t> words;
  memory.for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) {
    words.push_back(a.address);
    words.push_back(a.bytes);
  });
  for (const PageHash& p : pages) words.insert(words.end(), {p.page, p.low, p.high});
  return XXH3_64bits(words.data(), words.size() * sizeof words[0]);
}

void write_changes(const exec::GlobalMemory& memory, const std::vector<PageHash>& before,
                   const std::vector<PageHash>& after, const std::function<void(const Buffer&)>& take) {
  Buffer part;
  std::size_t pages = 0;
  const auto put = [&](std::uint64_t page, bool zero) {
    trace::put_number(part, page);
    part.push_back(zero ? 0 : 1);
    if (!zero) {
      const auto bytes = image(memory, page);
      part.insert(part.end(), bytes.begin(), bytes.end());
    }
    if (++pages < pages_a_part) return;
    take(part);
    part.clear();
    pages = 0;
  };
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && old->page < now->page)) {
      put((old++)->page, true);
    } else if (old == before.end() || now->page < old->page) {
      put((now++)->page, false);
    } else {
      if (*old != *now) put(now->page, false);
      ++old;
      ++now;
    }
  }
  if (pages != 0) take(part);
}

void apply_changes(Bytes part, exec::GlobalMemory& memory) {
  static constexpr std::array<std::uint8_t, page_bytes> zero{};
  while (!part.at_end()) {
    const std::uint64_t page = part.number(~std::uint64_t{0} / page_bytes - 1, "a page");
    const bool filled = part.byte() != 0;
    const std::span<const std::uint8_t> bytes =
        filled ? part.take(page_bytes) : std::span<const std::uint8_t>(zero);
    bool any = false;
    for_pieces(memory, page, [&](std::uint64_t from, std::uint64_t count) {
      std::memcpy(memory.host(from), bytes.data() + from % page_bytes, count);
      any = true;
    });
    if (!any) throw trace::Malformed("a page lies outside of all allocations");
  }
}

}  // namespace simtlab::stream::checkpoint
