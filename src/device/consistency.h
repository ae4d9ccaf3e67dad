// Rules between the parameters of one device, which no range of a single value can express.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace simtlab::device {

struct Contradiction {
  std::vector<std::string> keys;  // the parameters involved; the first is to blame by default
  std::string message;
  std::string hint;
};

// Every rule that the device breaks; empty for a sound one.
std::vector<Contradiction> contradictions(const Device& device);

// Fills the latencies of operation classes that have a parameter of their own elsewhere (sm.branch_latency,
// sm.barrier_latency, shared.latency, constant.latency, l1.latency), so that a number exists once in a file.
void derive(Device& device);

}  // namespace simtlab::device
