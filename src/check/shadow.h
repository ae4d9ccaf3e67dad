// Shadow of device memory: a cell for each word and, where threads touch parts of a word, for each byte; one
// bit a byte for what has been written. Reserved address space, of which the host commits what is touched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "check/half.h"

namespace simtlab::check {

// Zero-filled memory that costs nothing until it is touched. data() is null if the host grants none.
class Reserved {
 public:
  explicit Reserved(std::uint64_t bytes);
  ~Reserved();
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;

  std::byte* data() const { return data_; }
  // Zeroes [from, from + bytes); whole pages go back to the host.
  void clear(std::uint64_t from, std::uint64_t bytes);
  // The host may take large pages there: fewer of them have to be asked for.
  void in_large_pages(std::uint64_t from, std::uint64_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// Bits of a bitmap, one a byte of memory.
bool all_set(const std::uint64_t* bits, std::uint64_t first, std::uint64_t count);
// How many bits from `first` on, of at most `count`, are as the first one is.
std::uint64_t run_of_bits(const std::uint64_t* bits, std::uint64_t first, std::uint64_t count);
void set_bits(std::uint64_t* bits, std::uint64_t first, std::uint64_t count, bool value);

class Shadow {
 public:
  // Of device addresses from `first` on.
  Shadow(std::uint64_t first, std::uint64_t bytes);

  std::uint64_t size() const { return bytes_; }
  bool holds(std::uint64_t address) const { return address - first_ < bytes_; }
  // Null: the host has no address space for cells.
  Cells words() const {
    return {half(writers_), half(readers_), reinterpret_cast<std::uint64_t*>(split_.data())};
  }
  Cells bytes() const { return {half(byte_writers_), half(byte_readers_)}; }
  bool has_cells() const {
    return writers_.data() != nullptr && readers_.data() != nullptr && byte_writers_.data() != nullptr &&
           byte_readers_.data() != nullptr && split_.data() != nullptr;
  }
  std::uint64_t* written() const { return reinterpret_cast<std::uint64_t*>(written_.data()); }
  std::uint64_t offset(std::uint64_t address) const { return address - first_; }
  // Memory comes: large allocations get large pages, as far as the host has plenty of memory.
  void expect(std::uint64_t address, std::uint64_t bytes);
  // Memory comes or goes: nobody has touched it, nothing has been written.
  void forget(std::uint64_t address, std::uint64_t bytes);
  void forget_cells();  // of everything

 private:
  static Half* half(const Reserved& r) { return reinterpret_cast<Half*>(r.data()); }

  std::uint64_t first_, bytes_;
  std::uint64_t large_words_, large_bytes_;  // of which cells may still lie in large pages
  Reserved writers_, readers_, byte_writers_, byte_readers_, split_, written_;
};

}  // namespace simtlab::check
