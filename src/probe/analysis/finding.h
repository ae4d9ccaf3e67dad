// What was found out of a board: one value each, how, and how sure that is; or why it is not known.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/analysis/bootstrap.h"
#include "probe/analysis/histogram.h"

namespace simtlab::probe {

struct Finding {
  // Of a device file ("l1.latency"), or of a measurement that no device file has ("departure.uncoalesced")
  std::string key;
  std::string unit;  // "cycles", "B", "/cycle", "Hz", "ns", "B/s", "" (a count or a word)
  double value = 0;
  std::string word;   // a value that is no number: "lru"
  Interval interval;  // of the value; both equal to it where it is exact
  // That the value lies in the interval; 1: it was queried or follows exactly; 0: it was measured once, and
  // there is no interval
  double confidence = 0;
  std::uint64_t samples = 0;
  std::string method;  // "slope of dependent chains"
  std::string curve;   // name of the curve that it was read from; may be empty
  // What was measured, repetition by repetition, where it was repeated as a whole: value and how often
  std::vector<Histogram::Bin> raw = {};
  // How the cost of reading the clock was taken out: slope, difference, deconvolve, subtract, none; empty: it
  // is not in what was measured
  std::string correction = {};
  std::string unknown = {};  // why there is no value; empty: there is one
  bool known() const { return unknown.empty(); }
  bool has_interval() const { return known() && word.empty() && confidence > 0; }
};

// What was measured for a finding, point by point.
struct Series {
  struct Point {
    double x = 0, y = 0;
  };
  struct Knee {
    double x = 0, low = 0, high = 0;
    std::string what;
  };
  // P: that chance alone parts it from the one before
  struct Level {
    double first = 0, last = 0, y = 0, low = 0, high = 0, confidence = 0;
    std::size_t points = 0;
    std::optional<double> p;
  };
  std::string name;  // "l1.latency"
  std::string x, y;  // "bytes", "cycles"
  std::vector<Point> points;
  std::vector<Knee> knees = {};    // detected
  std::vector<Level> levels = {};  // the same
};

struct Estimate;

class Findings {
 public:
  // The same key again replaces the earlier finding.
  void add(Finding finding);
  void exact(std::string key, double value, std::string unit, std::string method, std::uint64_t samples = 1);
  void word(std::string key, std::string value, std::string method, std::uint64_t samples = 1);
  // One sample alone has no interval either.
  void measured(std::string key, double value, std::string unit, Interval interval, std::string method,
                std::uint64_t samples, std::string curve = {});
  void measured(std::string key, const Estimate& estimate, std::string unit, std::string method,
                std::string curve = {});
  // Not repeated as a whole (a line through one curve): nobody knows how far the next one would be.
  void once(std::string key, double value, std::string unit, std::string method, std::uint64_t samples,
            std::string curve = {});
  void unknown(std::string key, std::string why);
  // Says of what was found how the clock's cost was taken out.
  void correct(std::string_view key, std::string correction);
  void series(Series series);

  const Finding* find(std::string_view key) const;          // null: nobody looked
  std::optional<double> value(std::string_view key) const;  // of what is known
  // A latency by its slope, whatever correction was asked for: by which other probes size themselves.
  std::optional<double> by_slope(const std::string& key) const;
  double value_or(std::string_view key, double otherwise) const { return value(key).value_or(otherwise); }
  const std::deque<Finding>& all() const { return findings_; }  // in the order in which they were found
  const std::vector<Series>& curves() const { return series_; }

 private:
  std::deque<Finding> findings_;
  std::vector<Series> series_;
};

}  // namespace simtlab::probe
