// Small kernels (data/probes/validate.ptx) run on a simulated GPU to find its latencies and bandwidths, as
// one does on hardware.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"

namespace simtlab::studies::validate {

class Probe {
 public:
  // ptx: text of the probe kernels. Throws Error(interrupted) out of any call once *interrupt is set.
  Probe(const device::Device& device, const std::string& ptx, const volatile bool* interrupt = nullptr);
  ~Probe();

  // Cycles of a load in a chase over a random ring of `bytes`, caches in their steady state.
  double chase(std::uint64_t bytes);
  // Bytes per second of the whole GPU, every SM reading the same buffer again and again.
  double cache_bandwidth(std::uint64_t bytes);
  // Past L1: all SMs read `bytes` in turn, again and again.
  double shared_bandwidth(std::uint64_t bytes);
  // Of memory: a read of what no cache holds; a copy with a multiplication, bytes read plus written.
  double memory_read();
  double memory_scale();

 private:
  double turns(std::uint32_t chunks, std::uint32_t warm);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simtlab::studies::validate
