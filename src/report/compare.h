// Two results side by side: what differs, by how much, and why.
//
// A kernel's time is divided by what its schedulers did: share of the slots x time. The parts add up to the
// time in both results, so their differences add up to the difference of the times, whatever the devices.
// What lies between configuration and slots (work, hit rates, latencies) is said in figures; it is evidence,
// no proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report.h"
#include "result/metrics.h"

namespace simtlab::report {

struct ComparedValue {
  std::string name;  // of a metric, a configuration key, a stall reason
  std::string unit;
  std::optional<double> before, after;
};

struct ComparedText {
  std::string key, before, after;  // empty: the result has none
  std::string origin;              // of the later value
};

struct ComparedKernel {
  std::string name;
  double before = 0, after = 0;        // ns
  std::vector<ComparedValue> parts;    // ns by what schedulers did; largest difference first
  std::vector<std::string> why;        // from the work to the slots, one sentence a step
  std::vector<ComparedValue> metrics;  // that differ, in the order of the registry
};

struct Comparison {
  std::string metric, unit;  // the headline
  double before = 0, after = 0;
  std::vector<ComparedText> configuration;  // settings and inputs that differ
  std::vector<ComparedValue> total;         // metrics of the total that differ, without the host's
  std::vector<ComparedKernel> kernels;      // that both have; longest first
  std::vector<std::string> only_before, only_after;
  double change() const { return before > 0 ? after / before - 1 : after > 0 ? 1 : 0; }
};

// metric: the headline; empty: the time, or what the results have instead. Throws Error(bad_input,
// "compare-metric") if one of them lacks it.
Comparison compare(const result::Result& before, const result::Result& after, const std::string& metric);

std::string compare_text(const Comparison& comparison, const TextOptions& options);
std::string compare_json(const Comparison& comparison);

}  // namespace simtlab::report
