// How long L2 slices stand still for the memory, counted as GPGPU-Sim counts it (gpu_stall_dramfull): with
// its queues, whatever queues simtlab's model has.
//
// In GPGPU-Sim a slice has a queue before it and a queue to the memory, and slices share the queue of their
// memory's scheduler. Full queues keep a slice from taking anything from the network. In this model a slice
// counts as full while its backlog (requests that have looked their tag up and wait) is as long as these
// queues together, or while as many requests wait at the slice alone as the first queue holds.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/time.h"

namespace simtlab::memory {

class Backlog {
 public:
  // Entries of the queues: of a GTX 480 in GPGPU-Sim's tested configurations (gpgpu_dram_partition_queues,
  // gpgpu_frfcfs_dram_sched_queue_size).
  static constexpr std::uint32_t before_slice = 8, to_memory = 8, of_scheduler = 16;

  // channels: schedulers, which the slices share.
  Backlog(std::uint32_t slices, std::uint32_t channels)
      : slices_(slices), most_(before_slice + to_memory + (of_scheduler * channels + slices - 1) / slices) {}

  // A request waits at the slice, or no longer does. Time never goes back.
  void blocked(std::uint32_t slice, Cycle now) { change(slices_[slice], now, 1, 0); }
  void unblocked(std::uint32_t slice, Cycle now) { change(slices_[slice], now, ~0u, 0); }
  // A request of the slice waits for the memory, or is being served.
  void waits(std::uint32_t slice, Cycle now) { change(slices_[slice], now, 0, 1); }
  void served(std::uint32_t slice, Cycle now) { change(slices_[slice], now, 0, ~0u); }

  std::uint64_t full_cycles() const {
    return full_cycles_;
  }  // of all slices; a time that is not over yet is not in it
  void restart() {
    for (Slice& slice : slices_) slice = {};
    full_cycles_ = 0;
  }

 private:
  struct Slice {
    std::uint32_t at_slice = 0, at_memory = 0;
    Cycle full_since = never;
  };
  void change(Slice& slice, Cycle now, std::uint32_t at_slice, std::uint32_t at_memory) {
    slice.at_slice += at_slice;
    slice.at_memory += at_memory;
    const bool full = slice.at_slice >= before_slice || slice.at_slice + slice.at_memory >= most_;
    if (full == (slice.full_since != never)) return;
    if (!full) full_cycles_ += now - slice.full_since;
    slice.full_since = full ? now : never;
  }

  std::vector<Slice> slices_;
  std::uint32_t most_;
  std::uint64_t full_cycles_ = 0;
};

}  // namespace simtlab::memory
