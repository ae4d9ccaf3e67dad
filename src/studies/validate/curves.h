// Measured curves beside simulated ones: errors by level of the memory hierarchy, and where the levels end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/device.h"
#include "studies/validate/reference.h"

namespace simtlab::studies::validate {

enum class Level : std::uint8_t { l1, l2, l2_upper, dram, between };
std::string_view name_of(Level level);  // "L1"

// Which level's plateau a footprint is on. Around a capacity, and where a curve goes from one level to the
// next, it is on none.
Level level_of(const device::Device& device, double bytes);

enum class Quantity : std::uint8_t { latency, bandwidth };

struct Compared {
  double bytes = 0;
  Level level = Level::between;
  double measured = 0, simulated = 0;
  double error() const { return simulated / measured - 1; }
};

// The capacity of a level as the curve shows it: where it crosses the middle between this level's plateau and
// the next one's.
struct Knee {
  Level level = Level::l1;
  double measured = 0, simulated = 0;  // bytes
  double error() const { return simulated / measured - 1; }
};

struct Plateau {
  Level level = Level::l1;
  std::size_t points = 0;
  double measured = 0, simulated = 0;        // medians
  double median_error = 0, worst_error = 0;  // of the points, absolute
};

struct Comparison {
  std::string device, board, name;  // name: "latency", "bandwidth, one buffer"
  std::string source;               // file of the measurements
  Quantity quantity = Quantity::latency;
  std::vector<Compared> points;
  std::vector<Plateau> plateaus;
  std::vector<Knee> knees;
};

// Simulates the sizes of `curve` (quick: fewer) and fills points, plateaus and knees.
void compare(Comparison& comparison, const device::Device& device, const Curve& curve, bool quick,
             const std::function<double(std::uint64_t)>& simulate);

double median(std::vector<double> values);  // not empty

// Targets of the project.
inline constexpr double target_median = 0.05, target_worst = 0.15, target_knee = 0.10, target_kernels = 0.20;
// Sentences about what misses its target.
std::vector<std::string> missed(const Comparison& comparison);

}  // namespace simtlab::studies::validate
