// The levels of a memory hierarchy in a curve of latency by footprint: plateaus, and the sizes at which one
// ends and the next begins.
#pragma once

#include <vector>

#include "probe/analysis/bootstrap.h"
#include "probe/analysis/changes.h"
#include "probe/analysis/curve.h"

namespace simtlab::probe {

struct LevelOptions {
  ChangeOptions change = {};
  double least_step = 0.10;  // neighbouring plateaus differ by at least this share
  // Last size of a plateau over its first: what is narrower belongs to a transition
  double least_span = 1.20;
  double confidence = 0.95;
  std::uint32_t replicates = 1000;
};

struct Plateau {
  std::size_t first = 0, last = 0;  // points of the curve; not every point between them is on it
  std::size_t points = 0;
  double cycles = 0;  // median
  Interval interval;  // of the median
  double mad = 0;
};

struct Boundary {
  double bytes = 0;               // where a sharp edge would be that leaves as much area under the curve
  Interval interval;              // of `bytes`
  double before = 0, behind = 0;  // last size of the plateau on the left, first of the one on the right
  double p = 1;                   // probability that chance alone separates the plateaus so well
  bool rises = true;
};

struct Levels {
  std::vector<Plateau> plateaus;     // at least one unless the curve never stays level
  std::vector<Boundary> boundaries;  // between neighbours of `plateaus`
  double noise = 0;                  // share by which a value typically differs from its plateau
};

// Deterministic: seeds are fixed.
Levels find_levels(const Curve& curve, const LevelOptions& options = {});

// Marks the levels of a curve of latency by footprint, and where they end. Nothing if it has too few points.
struct Series;
void mark_levels(Series& series);

// The boundary where a level of this size would end: the one whose transition or interval holds `bytes`, or
// the nearest within `tolerance` (share); null if there is none.
const Boundary* boundary_at(const Levels& levels, double bytes, double tolerance);

}  // namespace simtlab::probe
