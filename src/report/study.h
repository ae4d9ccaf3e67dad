// Printers of a study (a sweep's points and what they say).
#pragma once

#include <string>

#include "report/format.h"
#include "result/study.h"

namespace simtlab::report {

struct StudyTextOptions {
  Style style;
  bool all = false;  // every point
  std::string next_command;
};
// Headline, the points (the best first, all with `all`), the failed ones with their error, Pareto front, main
// effects.
std::string study_text(const result::Study& study, const StudyTextOptions& options);
// A row a point; of a metric that differs over repeats, median, spread, lowest and highest of the
// combination, too.
std::string study_csv(const result::Study& study);
std::string study_json(const result::Study& study);
std::string study_markdown(const result::Study& study);
std::string study_html(const result::Study& study);
// Which point ran when and where, in the Chrome trace format. Throws Error(bad_input, "report-timeline") if
// none ran.
std::string study_timeline(const result::Study& study);

// What the printers share.
std::string study_value(const result::StudyMetric& metric, double value);  // as people read it
// Whether the repeats of some combination have different values
bool study_differs(const result::Study& study, std::size_t metric);
std::string study_spread(const result::StudyFigure& figure);  // "1.3 %"
// What the figures are of a study with repeats; empty: it has none.
std::string study_repeats(const result::Study& study);
// Of a comparison: "Speed-up of gpu.time against ddr2"
std::string comparison_title(const result::Study& study, const result::StudyComparison& c);
std::string comparison_mean(const result::StudyComparison& c);  // name of the row of means
std::string ratio_text(double ratio);
// The comparisons with a baseline as a section of the page; empty: the study has none.
std::string study_comparisons_html(const result::Study& study);
// "gpu.time, the less the better"
std::string study_goal(const result::StudyMetric& metric);
std::string combination_label(const result::Study& study, const result::StudyCombination& c);
// Of the combinations in the order of the first goal or metric, at most `most`.
std::vector<const result::StudyCombination*> best_first(const result::Study& study, std::size_t most);

}  // namespace simtlab::report
