// Device memory as the host sees it: allocations, the heap of malloc in kernels, and how much of the host all
// that may take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exec/heap.h"
#include "exec/memory.h"
#include "exec/outside.h"

namespace simtlab::gpu {

class DeviceMemory {
 public:
  // host_limit: bytes of the host for device allocations, blocks and studies.
  DeviceMemory(std::uint64_t device_bytes, std::uint64_t host_limit)
      : host_limit_(host_limit), global_(device_bytes, host_limit) {}

  std::optional<std::uint64_t> allocate(std::uint64_t bytes,
                                        std::string what);  // nullopt: out of device memory
  bool release(std::uint64_t address) { return global_.release(address); }

  // The most bytes that were allocated at once; modules allocate on their own and are noted behind.
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  void note_peak();
  void set_peak(std::uint64_t bytes) { peak_bytes_ = bytes; }  // what a trace says of the run that it is from
  std::uint64_t host_room() const;                             // bytes that are left of the limit, at least 1

  // Before anything is allocated: accesses outside of every allocation go on.
  void let_outside_go_on(exec::OutsideAccesses::Tell tell) { outside_.emplace(global_, std::move(tell)); }
  void let_misaligned_go_on() {
    let_outside_go_on({});
    outside_->let_misaligned_go_on();
  }
  std::optional<std::uint64_t> outside_places() const {  // nullopt: they are faults
    return outside_ ? std::optional(outside_->places()) : std::nullopt;
  }

  exec::GlobalMemory& global() { return global_; }
  const exec::GlobalMemory& global() const { return global_; }
  exec::DeviceHeap& heap() { return heap_; }

 private:
  std::uint64_t host_limit_;
  exec::GlobalMemory global_;
  std::optional<exec::OutsideAccesses> outside_;
  exec::DeviceHeap heap_{global_};
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace simtlab::gpu
