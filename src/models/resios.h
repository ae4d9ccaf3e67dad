// Equations of A. Resios, "GPU performance prediction using parametrized models", master's thesis, Utrecht
// University, 2011. The delay of an operation is the time between two of them when `tlp` warps do nothing
// else.
#pragma once

namespace simtlab::models::resios {

// Equation 4.5. One warp after the other up to max_p of them at a time; beyond, the unit's own pace and what
// is left of the latency.
double penalty(double warp_size, double throughput);   // cycles a unit takes for one warp
double most_parallel(double latency, double penalty);  // max_p
double delay(double latency, double penalty, double tlp);

// Equation 4.7 and section 4.3.2: cycles of one of max_p accesses at a time to `lines` lines of `bytes`; of
// `degree` conflicts of shared memory.
double bytes_per_cycle(double bandwidth_gbs, double clock_ghz);
double global_delay(double latency, double max_p, double bytes, double lines, double bytes_per_cycle);
double shared_delay(double latency, double max_p, double degree);

// Equation 4.2: milliseconds to copy `megabytes`; bandwidth grows with the size up to `peak` (MB/s).
double transfer_bandwidth(double megabytes, double peak);
double transfer_time(double megabytes, double peak);

// Section 5.2.1, after the CUDA guide: warps that hide a latency of `cycles`, with `parallel` of the
// architecture (4 for compute capability 2.1) and `intensity` operations between two accesses (1 for
// computation).
double warps_for_latency(double cycles, double parallel, double intensity);
// Equation 6.1: instructions over those of the longest path.
double ilp(double instructions, double longest_path);

// Accesses of an SM that global and shared memory handle at a time
inline constexpr double thesis_max_p = 8;

}  // namespace simtlab::models::resios
