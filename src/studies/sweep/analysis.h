// What the results of a study say: the Pareto front, main effects, sensitivity.
#pragma once

#include <string>
#include <vector>

#include "result/study.h"
#include "studies/sweep/store.h"

namespace simtlab::studies::sweep {

struct Interest {
  // Names of metrics, or of axes; empty: what the study says, else the time
  std::vector<std::string> metrics, minimise, maximise;
  std::vector<std::string> baseline{};  // comparison.h
};

// Reads the whole study. Throws Error(bad_input, "sweep-metric") for a name that no point has.
result::Study summary(const Store& store, const Interest& interest);

// Marks the combinations that no other one is at least as good as in every goal and better in one. Without
// two goals: the best.
void mark_front(result::Study& study);
// Fills study.effects.
void find_effects(result::Study& study);

}  // namespace simtlab::studies::sweep
