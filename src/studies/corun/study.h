// Mixes under several policies and limits on the fast host, and what is reported of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "corun/fast_host.h"
#include "result/metrics.h"

namespace simtlab::studies {

// Figures of one way of counting, means over mixes.
struct CorunFigures {
  corun::Judged judged;
  // Against mps with the same limit: of one mix a geometric mean, of several their mean
  double speedup = 0;
};

// One policy at one limit on all mixes of one size.
struct CorunCell {
  std::string policy;
  std::uint32_t limit = 0;
  std::size_t size = 0;
  std::vector<corun::MixResult> mixes;
  std::vector<double> speedups_gpu, speedups_turnaround;  // of each mix
  CorunFigures gpu, turnaround;
  double wait_mean = 0, wait_longest = 0, wait_share = 0;
  std::uint64_t launches = 0;
};

struct CorunStudy {
  std::vector<std::string> policies = {"mps", "shark"};
  std::vector<std::uint32_t> limits = {8};
  std::vector<std::vector<std::string>> mixes;  // of one size
  corun::Profiles profiles;
  corun::FastOptions options;                                    // the limit is that of the cell
  std::vector<std::pair<std::string, std::int32_t>> priorities;  // by application
  double shorten = 10;
  const volatile bool* stop = nullptr;
  std::function<void()> told;  // a mix has run under a policy with a limit
  // Where the host knows its applications by itself: profiles are not looked at.
  std::function<std::vector<corun::Workload>(const std::vector<std::string>& mix)> workloads;
  // What runs a mix: the fast host, unless another one is given.
  std::function<corun::MixResult(std::span<const corun::Workload>, const corun::Policy&,
                                 const corun::HostOptions&)>
      host;
};
// Adds cells by limit, then by policy. Throws Error(interrupted) when those that were done are added.
void run_study(const CorunStudy& study, std::vector<CorunCell>& out);
std::vector<CorunCell> run_study(const CorunStudy& study);
// How often it tells.
std::size_t runs_of(const CorunStudy& study);

void set_metrics(const CorunCell& cell, result::Metrics& metrics);
result::Result result_of(const std::vector<CorunCell>& cells, bool applications);
std::string text_of(const std::vector<CorunCell>& cells, bool applications);

}  // namespace simtlab::studies
