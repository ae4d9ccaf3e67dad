// Totals over launches, as the registry declares how each metric combines.
#pragma once

#include <vector>

#include "result/metrics.h"

namespace simtlab::result {

// Sums, maxima and weighted means over `kernels`. A metric that some launch lacks (not modelled there) is
// left out, rather than being a sum over fewer launches than the reader believes; a ratio only needs those
// with a weight above zero.
Metrics combine(const std::vector<const KernelResult*>& kernels);
Metrics combine(const std::vector<KernelResult>& kernels);

// The total of two processes of one program: kernel metrics from `kernels` (all of both), copies and times
// added. Times add up because simulated time of separate processes is not aligned.
Metrics combine_totals(const Metrics& first, const Metrics& second, const std::vector<KernelResult>& kernels);

// One row per kernel name, in the order of first launch: metrics combined, launches counted. Launch shape,
// limiter and bottleneck are taken from the longest launch.
std::vector<KernelResult> merge_by_name(const std::vector<KernelResult>& kernels);

}  // namespace simtlab::result
