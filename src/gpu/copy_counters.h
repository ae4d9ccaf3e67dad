// What copies and fills amounted to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace simtlab::gpu {

class CopyCounters {
 public:
  static constexpr std::size_t kinds = 3;  // of Gpu::CopyKind

  void add_copy(std::size_t kind, std::uint64_t bytes, double ns) {
    ++count_;
    copied_bytes_[kind] += bytes;
    ns_ += ns;
  }
  void add_fill(std::uint64_t bytes, double ns) {
    ++count_;
    filled_bytes_ += bytes;
    ns_ += ns;
  }
  std::uint64_t count() const { return count_; }
  const std::array<std::uint64_t, kinds>& copied_bytes() const { return copied_bytes_; }  // by kind
  std::uint64_t filled_bytes() const { return filled_bytes_; }
  double ns() const { return ns_; }  // of the device, as if no two overlapped

 private:
  std::array<std::uint64_t, kinds> copied_bytes_{};
  std::uint64_t filled_bytes_ = 0, count_ = 0;
  double ns_ = 0;
};

}  // namespace simtlab::gpu
