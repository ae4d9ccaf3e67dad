// A command at the points of its axes, one after the other (--sweep): the table, CSV and JSON of what came of
// them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "report/format.h"
#include "result/metrics.h"
#include "studies/common/axes.h"
#include "studies/common/outcome.h"

namespace simtlab::studies {

// What was found, or why the point cannot be: a row of the table in any case.
struct SweptPoint {
  result::Metrics total;
  std::string problem, hint;
};

// What is shown of each point, behind the values of its axes.
struct SweptColumns {
  std::size_t axis_width = 14;  // of the text, at least
  std::string head;
  std::function<std::string(const result::Metrics&, const report::Style&)> row;
  std::vector<std::string> csv;  // metrics
  std::function<std::optional<double>(const result::Metrics&, const std::string&)> value;
  bool all_in_json = false;  // else those of the CSV
};

struct Swept {
  std::vector<Axis> axes;
  const char* error_id;  // of too many points
  const char* doing;     // "predicting"
  // The result at the values of a point, in the order of the axes
  std::function<result::Result(const std::vector<std::string>&)> at;
  std::function<bool(const Error&)> is_row;  // the point alone is impossible: the sweep goes on
  std::function<SweptColumns(const std::vector<SweptPoint>&)> columns;
};
// An interrupt leaves the points that are done. Exit code 3 if every point is impossible. Throws Error.
Outcome sweep_points(const Swept& what, OutputOptions output);

}  // namespace simtlab::studies
