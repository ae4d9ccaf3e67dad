// Copies and fills that the host has submitted, as accesses to global memory: by the time at which they run,
// kernels of other streams may use the same memory.
#pragma once

#include <cstdint>
#include <vector>

#include "check/checker.h"

namespace simtlab::check {

struct HostWork {
  enum class Kind : std::uint8_t { to_device, to_host, within_device, fill };
  struct Range {
    std::uint64_t address = 0, bytes = 0;
  };
  Kind kind = Kind::to_device;
  Submitted submitted;
  std::vector<Range> reads = {}, writes = {};  // on the device
};

// It is executed now. Without effect where the program has one stream alone.
void watch_host_work(Checker& checker, const HostWork& work);

// Of a race between two streams.
void add_missing_stream_order(result::Finding& found);

// The module that stands in for the code of copies and fills.
bool is_host_work(const ptx::Module& module);

}  // namespace simtlab::check
