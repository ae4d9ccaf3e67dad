// Algorithm 5.1 of Resios' thesis: the warps of one SM go through their trace on execution units of two
// kinds.
//
// A warp that is ready waits in a queue for a unit of the kind that its next instruction needs. TLP is the
// number of warps in the ready queue and in the compute units. A warp's instruction gets its delay once, by
// the TLP of the moment at which the warp becomes ready; then it needs a unit for so long. Time goes on to
// the next instruction that ends. While no compute unit has a warp, what is in the memory units is charged
// with the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace simtlab::models::resios {

// Which of the waiting warps a unit takes next.
enum class Order : unsigned char { fifo, lifo, oldest, shortest, longest };
inline constexpr std::string_view order_names[] = {"fifo", "lifo", "oldest", "shortest", "longest"};

struct Step {
  bool memory = false;
  std::vector<double> delay;  // cycles with a TLP of 1, 2, ...: as many as there are resident warps
};

struct Work {
  std::vector<Step> steps;                                           // of every warp
  std::size_t warps_per_block = 1, resident_blocks = 1, blocks = 1;  // of one SM
  std::size_t compute_units = 1, memory_units = 1;
  Order order = Order::fifo;
};

struct Outcome {
  double cycles = 0;
  double computing = 0;         // of them: a compute unit has a warp
  std::vector<double> idle;     // of each step: no compute unit has one meanwhile
  std::vector<double> in_unit;  // of each step, over all warps
  double mean_tlp = 0;          // over the time
};

Outcome simulate(const Work& work);

}  // namespace simtlab::models::resios
