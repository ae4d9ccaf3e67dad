// The findings of a sweep as plain data: the reader of its database fills them, the reports print them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace simtlab::result {

inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

struct StudyMetric {
  std::string name, unit;
  enum class Goal : std::uint8_t { none, minimise, maximise } goal = Goal::none;
  bool is_axis = false;  // an objective that is an axis, as the number of SMs
};

struct StudyPoint {
  std::uint64_t id = 0, combination = 0, repeat = 0, seed = 0, attempts = 0;
  std::vector<std::string> values;  // one an axis
  std::string state;                // pending, running, done, failed
  int exit_code = 0;
  std::string error_id, error;
  double begun = 0, ended = 0;  // seconds since 1970; 0: not known
  std::string host, worker;
  std::vector<double> metrics;  // one a metric of the study; NaN: it has none
};

// A metric over the repeats of one combination. What is reported is the median: one odd seed does not move
// it.
struct StudyFigure {
  double median = no_value, mean = no_value, low = no_value, high = no_value;
  double deviation = no_value;  // standard; NaN below two repeats

  bool differs() const { return low < high; }
  // Standard deviation over median; NaN of a median of 0 with others beside it
  double spread() const;
};
StudyFigure figure_of(std::vector<double> repeats);  // values that are NaN don't count

// All repeats of one combination.
struct StudyCombination {
  std::uint64_t first_point = 0, repeats = 0;  // repeats that are done
  std::vector<std::string> values;
  std::vector<StudyFigure> figures;  // one a metric
  bool on_front = false;

  double value(std::size_t metric) const { return figures[metric].median; }
};

// The effect of one axis on one metric.
struct StudyEffect {
  std::size_t axis = 0, metric = 0;
  struct Level {
    std::string label;
    std::uint64_t count = 0;  // combinations
    double mean = no_value, low = no_value, high = no_value;
  };
  std::vector<Level> levels;  // its values, or parts of its range with equally many combinations
  // Of the metric's variance between combinations that lies between the levels, 0 to 1
  double share = no_value;
  double rank_correlation = no_value;  // Spearman's, of axes that are numbers
  // Per cent of the metric for a per cent of the axis: slope of the logarithms
  double elasticity = no_value;
  // Of studies with several kernels: the metric counts as a multiple of its mean for the kernel, so that
  // kernels of different length weigh the same
  bool of_kernel_mean = false;
};

// One metric of each kernel under each choice of the other axes, beside a baseline.
struct StudyComparison {
  std::size_t metric = 0, baseline = 0;  // baseline: its column
  bool speed_up = false;  // baseline / value, of a metric that is to be small; else value / baseline
  std::vector<std::string> columns;
  // The axes that tell the columns apart, and their values in each column; number: NaN where it is none
  struct Value {
    std::string text;
    double number = no_value;
  };
  std::vector<std::size_t> axes;
  std::vector<std::vector<Value>> choices;
  struct Row {
    std::string kernel;
    double base = no_value;      // the metric itself
    std::vector<double> ratios;  // one a column; NaN: no value, or none of the baseline
    std::vector<double> values;  // the metric itself
  };
  std::vector<Row> rows;
  std::vector<double> mean;  // geometric, of the rows without a gap
  std::size_t in_mean = 0;   // rows
};

struct Study {
  std::string name, created, database;
  std::vector<std::string> axes;
  std::vector<StudyMetric> metrics;
  std::vector<StudyPoint> points;
  std::vector<StudyCombination> combinations;  // combinations that have a result
  std::vector<StudyEffect> effects;            // by metric, the largest share first
  std::vector<StudyComparison> comparisons;    // by metric; of studies with kernels or a baseline
  // Warnings for a reader: inputs that changed, points that are missing
  std::vector<std::string> notes;
  std::uint64_t pending = 0, running = 0, done = 0, failed = 0;
  bool cluster = false;  // workers are tasks of jobs
};

}  // namespace simtlab::result
