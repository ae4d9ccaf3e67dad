// Streams of the whole GPU: kernels that read, write, copy or add up, timed by the events of the stream.
#pragma once

#include <cstdint>
#include <string>

#include "probe/bench.h"

namespace simtlab::probe {

class Streams {
 public:
  Streams(Bench& bench, std::uint32_t threads, std::uint32_t blocks);  // of the whole GPU

  // Bytes of one access of all threads
  std::uint64_t step() const { return std::uint64_t{16} * threads_ * blocks_; }
  // Nanoseconds of a launch of "read", "write", "copy" or "triad": `count` accesses of each thread, the whole
  // `rounds` times.
  double time(const char* kernel, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint32_t count,
              std::uint32_t rounds);

 private:
  Bench& bench_;
  const Bench::Buffer out_;
  const std::string text_;
  std::uint32_t threads_, blocks_;
};

}  // namespace simtlab::probe
