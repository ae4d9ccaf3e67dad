// Room in the queues of a controller: what it takes in, and how many requests it holds.
#pragma once

#include "device/memory_controller.h"

namespace simtlab::memory::dram {

class Admission {
 public:
  explicit Admission(const device::MemoryController::Queues& queues)
      : unified_(queues.style == device::QueueStyle::unified), capacity_{queues.read, queues.write} {}

  bool accepts(bool write) const {
    if (unified_) return held_[0] + held_[1] < capacity_[0] + capacity_[1];
    return held_[write] < capacity_[write];
  }
  std::uint32_t held(bool write) const { return held_[write]; }
  bool idle() const { return unsent_ == 0; }  // every request has had its column command

  void enter(bool write) { ++held_[write], ++unsent_; }
  // Of a request that leaves its queue, be it to the queue of its bank
  void give_place(bool write) { --held_[write]; }
  void sent() { --unsent_; }
  void restart() { held_[0] = held_[1] = unsent_ = 0; }

 private:
  const bool unified_;
  const std::uint32_t capacity_[2];  // reads, writes; unified: of both together
  std::uint32_t held_[2] = {0, 0};   // in the read and write queue
  std::uint32_t unsent_ = 0;         // those in queues of banks and those whose row was activated, too
};

}  // namespace simtlab::memory::dram
