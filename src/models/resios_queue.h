// The coarse queue simulation of Resios' model (algorithm 5.1; its text was not at hand, the structure is
// ours): the warps of one SM go through the units of the machine, round by round, and queue for each of them.
// Blocks follow one another in their places.
#pragma once

#include <string>
#include <vector>

namespace simtlab::models::resios {

// What one warp needs of a unit in one round.
struct Station {
  std::string name;
  double alone = 0;      // cycles if it is alone: latencies
  double busy = 0;       // cycles after which the unit can begin with the next warp
  double at_a_time = 0;  // > 0: no more warps inside than so many
  // Visited once between two barriers, before the first of the rounds there, with the work of all of them
  bool staging = false;
};

struct Work {
  std::vector<Station> stations;  // in the order in which a warp visits them in each round
  double rounds = 1;              // whole
  double barriers = 0;            // of a warp, spread evenly over the rounds
  double barrier_cycles = 0;
  double blocks = 1, resident = 1, warps_per_block = 1;  // of the SM with the most blocks; whole
  double block_launch = 0;                               // cycles between two blocks
};

struct Outcome {
  double cycles = 0;
  std::vector<double> busy;   // of each station: cycles with at least one warp in it
  bool extrapolated = false;  // only the first waves were simulated
};

Outcome simulate(const Work& work);

}  // namespace simtlab::models::resios
