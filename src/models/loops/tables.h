// The report on a nest as tables of a result (result/tables.cpp declares them).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/loops/choose.h"
#include "result/metrics.h"

namespace simtlab::models::loops {

// A mapping that was considered, and what the models said of it.
struct Candidate {
  NestCounts counts;
  double time_ns = 0;  // by `model`; 0: no model had an answer
  std::string model;
};

// The worth of a port by one model.
struct Worth {
  std::string model;
  double kernel_ns = 0;
  double launch_ns = 0, transfer_ns = 0, context_ns = 0;
  double floor_ns = 0;  // of the kernel: arithmetic alone
  // Bytes per second that this time implies; none where a model's time is too short for what the board can
  // move.
  std::optional<double> l2_rate, dram_rate;
};

struct Answer {
  const Description& nest;
  const Shape& shape;
  const Parallelism& parallel;
  std::vector<Candidate> candidates;  // best first
  BlockSizes sizes;
  double intensity = 0;  // on_chip_intensity()
  ResiosBlock resios;
  std::vector<Staging> staging;
  double staged_ns = 0;  // with those chosen, by the best candidate's model
  std::vector<Worth> worth;
  std::optional<double> sequential_ns;
  std::uint64_t calls = 0;
  std::vector<std::string> notes;
  // Of each access: share of the time in which only memory works, on it; empty: unknown
  std::vector<double> idle = {};
};

// Adds the metrics predict.nest.* and the tables nest_* to the result of the best candidate.
void add_tables(const Answer& answer, result::KernelResult& out);

// "y -> x" of a mapping, for people.
std::string name_of(const Description& nest, const Mapping& mapping);

}  // namespace simtlab::models::loops
