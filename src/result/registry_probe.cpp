#include "result/registry_probe.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"probe.sample.count", "1", "Measured samples that were taken from a file, one a warp.", "kernel", "", "",
     none, ""},
    {"probe.sample.share", "1", "Share of the distribution of measured samples that a part of it has.",
     "kernel", "", "", none, ""},
    {"probe.sample.mean", "cycles", "Mean of a distribution of measured samples, or of a part of it.",
     "kernel", "", "", none, ""},
    {"probe.sample.deviation", "cycles",
     "Standard deviation of a distribution of measured samples, or of a part of it.", "kernel", "", "", none,
     ""},
    {"probe.sample.mode", "cycles",
     "Most frequent value of a distribution of measured samples, or of a part of it.", "kernel", "", "", none,
     ""},
    {"probe.sample.first", "cycles",
     "Smallest value of a distribution of measured samples, or of a part of it.", "kernel", "", "", none, ""},
    {"probe.sample.last", "cycles",
     "Largest value of a distribution of measured samples, or of a part of it.", "kernel", "", "", none, ""},
};

}  // namespace

std::span<const MetricDeclaration> probe_metrics() { return rows; }

std::vector<TableDeclaration> probe_tables() {
  return {
      {"findings",
       "What a probe found out of a board, a row a value.",
       {{"key", "", "Key of a device file, or name of a measurement that no device file has"},
        {"value", "1", "The value, in `unit`"},
        {"word", "", "The value, where it is no number"},
        {"unit", "", "Unit of the value"},
        {"low", "1",
         "Lower end of the value's confidence interval; absent: the measurement was not repeated"},
        {"high", "1", "Upper end of the value's confidence interval"},
        {"confidence", "1",
         "Probability that the interval holds the value; 1: the value was told or follows exactly; absent: "
         "the measurement was not repeated"},
        {"samples", "1", "Number of measurements behind the value"},
        {"method", "", "How the value was found"},
        {"curve", "", "Name of the curve that the value was read from"},
        {"unknown", "", "Reason why there is no value"},
        {"correction", "",
         "How the cost of reading the clock was taken out: slope, difference, deconvolve, subtract or none; "
         "absent: the cost is not in the measurement"}}},
      {"curves",
       "What was measured for the findings, a row a point.",
       {{"curve", "", "Name of the curve"},
        {"x.name", "", "Meaning of x"},
        {"y.name", "", "Meaning of y"},
        {"x", "1", "Horizontal place of the point"},
        {"y", "1", "Vertical place of the point"}}},
      {"knees",
       "Places of curves where a finding was read off.",
       {{"curve", "", "Name of the curve"},
        {"x", "1", "Place on the curve"},
        {"low", "1", "Lower end of the place's interval"},
        {"high", "1", "Upper end of the place's interval"},
        {"what", "", "Meaning of the place"}}},
      {"levels",
       "Where curves stay level, a row a level.",
       {{"curve", "", "Name of the curve"},
        {"first", "1", "First x of the level"},
        {"last", "1", "Last x of the level"},
        {"y", "1", "Median of the points on the level"},
        {"low", "1", "Lower end of the median's confidence interval"},
        {"high", "1", "Upper end of the median's confidence interval"},
        {"confidence", "1", "Probability that the interval holds the median"},
        {"points", "1", "Points on the level"},
        {"p", "1", "Probability that chance alone parts it so well from the level before"}}},
      {"samples",
       "Histogram of each finding that was measured several times as a whole, a row a value that came up.",
       {{"key", "", "The finding"},
        {"value", "1", "Measured value, in the finding's unit"},
        {"count", "1", "How often the value came up"}}},
      {"comparison",
       "Two measurements or device files side by side, a row a key.",
       {{"key", "", "Key of a device file, or name of a measurement"},
        {"unit", "", "Unit of the numbers"},
        {"a", "1", "Value of the first, in `unit`"},
        {"a.word", "", "Value of the first, where it is no number"},
        {"a.low", "1", "Lower end of the first value's confidence interval"},
        {"a.high", "1", "Upper end of the first value's confidence interval"},
        {"b", "1", "Value of the second"},
        {"b.word", "", "Value of the second, where it is no number"},
        {"b.low", "1", "Lower end of the second value's confidence interval"},
        {"b.high", "1", "Upper end of the second value's confidence interval"},
        {"difference", "1", "b / a - 1"},
        {"intervals", "", "Whether the confidence intervals overlap or are apart, where both have one"},
        {"state", "", "Outcome: equal, differs, only a, only b, unknown, units"},
        {"a.note", "", "Why the first has no value, or that its value is an estimate"},
        {"b.note", "", "Why the second has no value, or that its value is an estimate"}}},
  };
}

}  // namespace simtlab::result
