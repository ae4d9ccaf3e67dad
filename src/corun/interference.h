// How much kernels that run together slow each other down. docs/concepts/corun.md has the equation and says
// what is fitted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corun/profile.h"

namespace simtlab::corun {

// What the model wants to know of a kernel: no absent values. The stall share is the kernel's sensitivity.
struct Demand {
  double l2 = 0, dram = 0;  // bytes/s, alone
  double ipc = 0;           // warp instructions per cycle, alone
  double threads = 0;
  double stall = 0;  // share of memory stalls, 0 to 1
};

struct InterferenceModel {
  double l2_capacity = 380e9, l2_lowest = 14e9, l2_power = 1;  // lowest: of the micro-benchmarks below
  double dram_capacity = 250e9, dram_lowest = 12e9, dram_latency = 1.10;
  double compute_ipc = 96, compute_weight = 1;
  double residency_threads = 49152, residency_weight = 0;
  bool operator==(const InterferenceModel&) const = default;
};

// data/corun/model-*.toml. Throws Error(bad_input, "corun-model").
InterferenceModel load_model(const std::filesystem::path& path);

// For each kernel of those that run together the factor by which it is slower than alone, 1 or more.
void slowdowns(const InterferenceModel& model, std::span<const Demand> together, std::span<double> out);

// The three micro-benchmarks that disturb an application: from their lowest intensity to all that the machine
// has.
enum class Disturbance : std::uint8_t { l2, dram, compute };
inline constexpr Disturbance disturbances[] = {Disturbance::l2, Disturbance::dram, Disturbance::compute};
inline constexpr unsigned intensities = 32;
std::string_view name_of(Disturbance kind);  // "l2"
// step: 0 (lowest) to intensities - 1.
Demand disturbance(const InterferenceModel& model, Disturbance kind, unsigned step);

// Missing figures of a profile that the model needs: "l2, ipc"; empty if none is missing.
std::string missing_figures(const Profile& profile);
Demand demand_of(const Profile& profile);  // nothing may be missing

}  // namespace simtlab::corun
