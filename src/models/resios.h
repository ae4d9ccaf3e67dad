// Equations of A. Resios, "GPU performance prediction using parametrized models", master's thesis, Utrecht
// University, 2011. The delay of an operation is the time between two of them while `parallel` = ILP * TLP
// independent ones are there: a pipeline that takes one at a time, as slow as the real one is.
#pragma once

namespace simtlab::models::resios {

// Equation 4.5. One operation after the other up to max_p of them at a time; beyond, the unit's own pace and
// what is left of the latency.
double penalty(double warp_size, double throughput);   // cycles a unit takes for one warp
double most_parallel(double latency, double penalty);  // max_p at which both branches give the unit's pace
double delay(double latency, double penalty, double max_p, double parallel);

// Equation 4.6, with the penalty of 4.8 or 4.9.
double memory_delay(double latency, double penalty, double max_p, double parallel);
// Equation 4.8: `requests` of a warp, each of a line of `size` bytes.
double global_penalty(double size, double requests, double bytes_per_cycle);
// Equation 4.9: `size` bytes a thread; `conflicts` requests come one after the other. bytes_per_cycle: of a
// bank.
double shared_penalty(double warp_size, double size, double banks, double conflicts, double bytes_per_cycle);
double bytes_per_cycle(double bandwidth_gbs, double clock_ghz);

// Equation 4.2: milliseconds to copy `megabytes`; bandwidth grows with the size up to `peak` (MB/s).
double transfer_bandwidth(double megabytes, double peak);
double transfer_time(double megabytes, double peak);

// Section 5.2.1, after the CUDA guide: warps that hide a latency of `cycles`, with `parallel` of the
// architecture (4 for compute capability 2.1) and `intensity` operations between two accesses (1 for
// computation).
double warps_for_latency(double cycles, double parallel, double intensity);
// Equation 6.1: instructions over those of the longest path.
double ilp(double instructions, double longest_path);

}  // namespace simtlab::models::resios
