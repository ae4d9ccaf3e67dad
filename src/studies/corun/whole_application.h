// What an application does in one run alone, as the rows of Table 5.1 have it: what each kernel weighs in its
// time, and the application as a whole.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "corun/profiles.h"
#include "result/metrics.h"

namespace simtlab::studies {

// Launches of one kernel in one run of its application.
struct LaunchedKernel {
  std::string name;
  double launches = 0;
  const corun::Profile* profile = nullptr;
};

struct WholeApplication {
  double launches = 0;
  // By kernel: its share of the time. None if a kernel's time is not known.
  std::map<std::string, double> weights;
  // Time and instructions are sums over the launches; instructions per cycle, threads, bandwidths and stalls
  // are means weighted by time. What one of the kernels lacks is absent.
  corun::Profile all;
};
WholeApplication whole_of(const std::vector<LaunchedKernel>& kernels);
// Of profiles that have its sequence.
WholeApplication whole_of(const corun::Profiles& profiles, const corun::Application& application);

// Cells that both tables of profiles have: time, instructions, instructions per cycle, threads, L2, DRAM,
// memory stalls.
inline constexpr const char* profile_columns =
    "time | instructions | IPC | threads | L2 | DRAM | memory stalls";
std::string profile_cells(const corun::Profile& profile);
std::string weight_cell(const WholeApplication* whole, const std::string& kernel);
void set_profile_metrics(const corun::Profile& profile, result::Metrics& to);

}  // namespace simtlab::studies
