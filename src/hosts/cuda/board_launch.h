// The launch of a launch file once more, on a board: its values beside those of the simulator, and its time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/board/board.h"
#include "hosts/cuda/launch_runner.h"
#include "result/metrics.h"

namespace simtlab::hosts::cuda {

struct BoardLaunchOptions {
  std::uint64_t seed = 0;
  unsigned repeat = 20;               // timed launches
  std::optional<double> tolerance{};  // of floating-point values; default_tolerance without
  const volatile bool* interrupt = nullptr;
};

// The oldest target that kernels of our own need on a board and its drivers still take: "sm_50".
std::string own_target(const gpu::BoardFacts& facts);

// Hardware rounds division, roots and transcendental functions as it likes, in single precision by some units
// in the last place; integers are compared exactly.
double default_tolerance(compile::ElementType type);

struct BoardLaunch {
  std::vector<double> times_ns;  // between events before and after one launch, rising
  double empty_ns = 0;           // the same of a kernel that does nothing, the median
  std::uint32_t registers = 0, blocks_per_sm = 0;
  std::uint64_t elements = 0;  // compared
  // |board - simulated| / max(1, |simulated|) of those within the tolerance
  double largest_difference = 0;
};

// The launch, ready on the board again and again: with buffers of its own, filled as the simulated ones were
// before it.
struct BoardKernel {
  std::string name;
  gpu::Board::Module module = 0;
  gpu::Board::Launch launch;
  std::vector<std::uint64_t> buffers;
};
// Throws what the board throws.
BoardKernel kernel_on_board(gpu::Board& board, const std::string& ptx, const Launched& launched,
                            gpu::Gpu& simulated, const BoardLaunchOptions& options);
void release(gpu::Board& board, const BoardKernel& kernel);

// Runs while the simulated buffers hold what the kernel left there (runtime/launch_runner.h). Every launch
// begins with the same contents. Throws what the board throws, and Error(program_failed, "board-result") with
// the first elements that differ.
BoardLaunch launch_on_board(gpu::Board& board, const std::string& ptx, const Launched& launched,
                            gpu::Gpu& simulated, const BoardLaunchOptions& options);

// As metrics of the kernel (board.*). simulated_ns: gpu.time, if there is one.
void add_metrics(const BoardLaunch& launch, std::optional<double> simulated_ns, result::Metrics& metrics);
// Some lines for people.
std::string to_text(const BoardLaunch& launch, const gpu::BoardFacts& facts,
                    std::optional<double> simulated_ns);

}  // namespace simtlab::hosts::cuda
