// Kernels of whole programs: what profilers measured beside what runs on the simulator (result files) give.
#pragma once

#include <string>
#include <vector>

#include "result/metrics.h"
#include "studies/validate/reference.h"

namespace simtlab::studies::validate {

struct KernelRow {
  std::string device, app, kernel;
  std::string quantity;   // "cycles", "time_us", "ipc", "instructions", "l2_gbs", "dram_gbs"
  bool held_out = false;  // of the half that nothing may be tuned on
  double measured = 0, simulated = 0;
  double error() const { return simulated / measured - 1; }
};

// The half of a kernel: by a hash of "app/kernel", so that nobody chooses it.
bool held_out(const std::string& app, const std::string& kernel);

// Rows of `reference` (columns device, app, kernel, quantity, value) for the runs of one application on one
// device. A kernel launched several times counts as in the profiles: cycles, time and instructions with the
// mean over its launches, ratios (ipc, l2_gbs, dram_gbs) as the sum over all launches of what is above over
// that of what is below. The column `first`, where there is one, is the first launch that counts, from 1:
// launches before it do something else. A kernel that did not run gives no row. Throws Error(bad_input
// "measured-quantity").
std::vector<KernelRow> compare_kernels(const Table& reference, const std::string& device,
                                       const std::string& app, const result::Result& run);

struct KernelSummary {
  std::string device, quantity;
  std::size_t kernels = 0, kernels_held_out = 0;
  double mean = 0, mean_tuned = 0, mean_held_out = 0;  // mean absolute errors; 0 without kernels
};
std::vector<KernelSummary> summarise(const std::vector<KernelRow>& rows);

}  // namespace simtlab::studies::validate
