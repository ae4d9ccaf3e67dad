// Where a line lives: which L2 slice, which DRAM partition, and its number there.
//
// Consecutive chunks of 256 bytes go to consecutive units; each row of `units` chunks starts at another unit
// (a hash of the row), so that power-of-two strides spread while a sequential stream loads all units exactly
// evenly. A unit is a slice or, where partitions outnumber slices, a partition; the fewer share the units
// evenly. Where neither number divides the other no unit can be dealt out evenly: slices and partitions are
// then found each for itself, both evenly, and any slice may need any partition.
//
// That is the hash `even`. The hash `bits` is for comparison, what hardware for powers of two does: the
// exclusive or of all pieces of the chunk's number, each of as many bits as the next power of two needs,
// modulo the number of slices, and modulo that of partitions. Where these are no powers of two, the first
// ones come up more often: 16 values on 12 slices give the first four twice what the others get.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/error.h"
#include "device/device.h"
#include "memory/divider.h"

namespace simtlab::memory {

class AddressMap {
 public:
  AddressMap(std::uint32_t slices, std::uint32_t partitions, device::SliceHash hash = device::SliceHash::even)
      : units_(std::max(slices, partitions)), slices_(slices), partitions_(partitions) {
    SIMTLAB_ASSERT(slices > 0 && partitions > 0, "L2 has slices and DRAM has partitions");
    apart_ = units_ % std::min(slices, partitions) != 0;
    if (apart_) units_ = slices;
    bits_ = static_cast<unsigned>(std::countr_zero(std::bit_ceil(std::max(slices, partitions))));
    by_bits_ = hash == device::SliceHash::bits;
    by_units_ = Divider(units_), by_slices_ = Divider(slices), by_partitions_ = Divider(partitions);
    per_slice_ = (units_ + slices - 1) / slices;
    per_partition_ = (units_ + partitions - 1) / partitions;
  }

  struct Place {
    std::uint32_t slice = 0, partition = 0;
    // 128-byte lines, dense within the slice and partition
    std::uint64_t slice_line = 0, partition_line = 0;
  };

  Place place(std::uint64_t line) const {
    const std::uint64_t chunk = line / lines_per_chunk;
    if (by_bits_) return place_by_bits(chunk, line % lines_per_chunk);
    const auto [row, column] = by_units_.of(chunk);
    const auto unit = static_cast<std::uint32_t>(wrapped(column + hash(row)));
    Place p;
    if (apart_) {
      p.slice = unit;
      p.slice_line = row * lines_per_chunk + line % lines_per_chunk;
      const std::uint64_t turn = chunk / partitions_;
      p.partition = static_cast<std::uint32_t>((chunk % partitions_ + spread(turn)) % partitions_);
      p.partition_line = turn * lines_per_chunk + line % lines_per_chunk;
      return p;
    }
    const Divider::Result slice = by_slices_.of(unit), partition = by_partitions_.of(unit);
    p.slice = static_cast<std::uint32_t>(slice.rest);
    p.partition = static_cast<std::uint32_t>(partition.rest);
    p.slice_line = (row * per_slice_ + slice.quotient) * lines_per_chunk + line % lines_per_chunk;
    p.partition_line = (row * per_partition_ + partition.quotient) * lines_per_chunk + line % lines_per_chunk;
    return p;
  }

  // The global line of a line of a slice: place() backwards (evictions know only the slice's number).
  std::uint64_t global_line(std::uint32_t slice, std::uint64_t slice_line) const {
    const std::uint64_t chunk = slice_line / lines_per_chunk;
    if (by_bits_) {
      const std::uint64_t row = chunk / values_of(slice, slices_);
      const std::uint64_t value = slice + chunk % values_of(slice, slices_) * slices_;
      return (row << bits_ | (value ^ fold(row))) * lines_per_chunk + slice_line % lines_per_chunk;
    }
    const std::uint64_t row = chunk / per_slice_;
    const std::uint64_t unit = slice + chunk % per_slice_ * slices_;
    const std::uint64_t column = (unit + units_ - hash(row)) % units_;
    return (row * units_ + column) * lines_per_chunk + slice_line % lines_per_chunk;
  }

  std::uint32_t slices() const { return slices_; }
  std::uint32_t partitions() const { return partitions_; }

 private:
  static constexpr std::uint64_t lines_per_chunk = 2;
  static std::uint64_t spread(std::uint64_t row) { return (row * 0x9e3779b97f4a7c15ull) >> 40; }
  std::uint64_t hash(std::uint64_t row) const { return by_units_.of(spread(row)).rest; }
  // Of two below units_
  std::uint64_t wrapped(std::uint64_t sum) const { return sum >= units_ ? sum - units_ : sum; }

  // The exclusive or of all pieces of bits_ bits.
  std::uint64_t fold(std::uint64_t row) const {
    std::uint64_t value = 0;
    if (bits_ == 0) return value;
    for (; row != 0; row >>= bits_) value ^= row & ((std::uint64_t{1} << bits_) - 1);
    return value;
  }
  // How many hash values fall on number `which` of `count`.
  std::uint64_t values_of(std::uint64_t which, std::uint64_t count) const {
    return ((std::uint64_t{1} << bits_) - which + count - 1) / count;
  }

  Place place_by_bits(std::uint64_t chunk, std::uint64_t line_of_chunk) const {
    const std::uint64_t row = chunk >> bits_;
    const std::uint64_t value = (chunk & ((std::uint64_t{1} << bits_) - 1)) ^ fold(row);
    Place p;
    p.slice = static_cast<std::uint32_t>(value % slices_);
    p.partition = static_cast<std::uint32_t>(value % partitions_);
    p.slice_line = (row * values_of(p.slice, slices_) + value / slices_) * lines_per_chunk + line_of_chunk;
    p.partition_line =
        (row * values_of(p.partition, partitions_) + value / partitions_) * lines_per_chunk + line_of_chunk;
    return p;
  }

  std::uint32_t units_, slices_, partitions_;
  Divider by_units_, by_slices_, by_partitions_;
  std::uint64_t per_slice_ = 1, per_partition_ = 1;  // units of one
  bool apart_ = false;
  bool by_bits_ = false;
  unsigned bits_ = 0;  // of a hash value
};

}  // namespace simtlab::memory
