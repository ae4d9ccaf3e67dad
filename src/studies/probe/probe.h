// What the parts of `simtlab probe` share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/board/board.h"
#include "probe/analysis/finding.h"
#include "probe/kinds.h"
#include "probe/thesis.h"
#include "result/metrics.h"
#include "studies/common/options.h"
#include "studies/common/outcome.h"

namespace simtlab::studies {

struct ProbeOptions {
  // A curve.
  std::string analyse;
  std::optional<std::string> detector;  // default: rank
  std::optional<double> significance, step, confidence;
  // A board.
  RunOptions given;
  std::optional<std::string> device, method, correction;  // default method and correction: slope
  std::string base, curves;
  std::vector<std::string> only, compare;
  bool quick = false;
  std::vector<std::string> histograms;  // launches: "11x896"
  // Samples.
  std::string samples, cost;
  std::optional<std::uint64_t> one_in;  // default: a warp
  std::vector<double> boundaries, counters;
  OutputOptions output;
};

Outcome probe_curve(ProbeOptions options);  // curve.cpp
Outcome probe_board(ProbeOptions options);  // board.cpp
// The same: throws Error(usage) for a name that no probe has
void check_kinds(const std::vector<std::string>& only);
Outcome probe_compare(ProbeOptions options);  // compare.cpp
Outcome probe_samples(ProbeOptions options);  // samples.cpp
// Launches by name, "BLOCKSxTHREADS": throws Error(usage) for what is none.
std::vector<probe::ThesisShape> launches_of(const std::vector<std::string>& names);
// A file a curve: x,y with a line that says what they are.
void write_curves(const std::string& folder, const probe::Findings& found);

// tables.cpp
void add_tables(result::KernelResult& to, const probe::Findings& findings);
std::string text_of(const probe::Findings& findings, const probe::Outcome& outcome, const std::string& board);

// thesis.cpp: tables 10 to 12 of the thesis whose method --method thesis repeats, with the slopes
// beside it and what was published.
std::string thesis_tables(const probe::Findings& findings, const gpu::BoardFacts& facts);

}  // namespace simtlab::studies
