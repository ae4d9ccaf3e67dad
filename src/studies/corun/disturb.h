// A kernel beside the micro-benchmarks of data/corun/interfere.ptx, on the simulated GPU or on a board.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "corun/interference.h"
#include "hosts/cuda/launch_runner.h"
#include "result/metrics.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/run/kernel.h"

namespace simtlab::studies {

struct DisturbedPoint {
  corun::Disturbance kind = corun::Disturbance::l2;
  unsigned busy = 0;  // of 32 units of a round
  // What the micro-benchmark did meanwhile: bytes/s of L2 or DRAM, warp instructions per cycle
  double load = 0;
  double time_ns = 0;  // of the kernel
};

struct DisturbedKernel {
  std::string name;
  std::string board;  // empty: simulated
  double alone_ns = 0;
  std::vector<DisturbedPoint> points;  // by kind, then by busy
  result::Manifest manifest;
};

// How the micro-benchmarks are launched, wherever: one block of so many threads an SM.
inline constexpr std::uint32_t noise_threads = 256;
// Of their buffer, for traffic of L2 and of DRAM, powers of two: a third of L2, so that the kernel has room
// beside it; eight times L2, so that nothing stays there.
struct NoiseBytes {
  std::uint64_t l2 = 0, dram = 0;
};
NoiseBytes noise_bytes(std::uint64_t l2_bytes);
// Rounds that last for at least so many cycles.
std::uint32_t noise_rounds(double cycles);
inline constexpr double most_slowdown = 40;  // of the kernel, that they last for

// Intensities of each kind, evenly over 1 to 32.
std::vector<std::pair<corun::Disturbance, unsigned>> intensities_of(unsigned steps);

// Executes the launch once on the simulated GPU; then: while its buffers are there, with the texts of its PTX
// and of the micro-benchmarks.
using ToDisturb =
    std::function<void(gpu::Gpu& gpu, const hosts::cuda::Launched& launched, const std::string& ptx,
                       const std::string& noise, const volatile bool* stop)>;
result::Manifest launch_to_disturb(const KernelRun& run, const options::Configuration& configuration,
                                   const OutputOptions& output, const ToDisturb& then);

// Throw Error.
DisturbedKernel disturb_kernel(const KernelRun& run, RunOptions given, const OutputOptions& output,
                               unsigned steps);
// The same on run.board: medians of run.board.repeat launches. The load is what the micro-benchmark says that
// it did; a board has no counters.
DisturbedKernel disturb_kernel_on_board(const KernelRun& run, const RunOptions& options,
                                        const OutputOptions& output, unsigned steps);

}  // namespace simtlab::studies
