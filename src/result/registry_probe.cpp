#include "result/registry_probe.h"

namespace simtlab::result {

std::vector<TableDeclaration> probe_tables() {
  return {
      {"findings",
       "What a probe found out of a board, a row a value.",
       {{"key", "", "Key of a device file, or name of a measurement that no device file has"},
        {"value", "1", "The value, in `unit`"},
        {"word", "", "The value, where it is no number"},
        {"unit", "", "Its unit"},
        {"low", "1", "Lower end of its confidence interval; absent: it was not repeated"},
        {"high", "1", "Upper end"},
        {"confidence", "1", "That the interval holds the value; 1: it was told or follows exactly; absent: it was not repeated"},
        {"samples", "1", "Measurements behind it"},
        {"method", "", "How it was found"},
        {"curve", "", "Name of the curve that it was read from"},
        {"unknown", "", "Why there is no value"}}},
      {"curves",
       "What was measured for the findings, a row a point.",
       {{"curve", "", "Its name"}, {"x.name", "", "What x is"}, {"y.name", "", "What y is"}, {"x", "1", "Horizontal"}, {"y", "1", "Vertical"}}},
      {"knees",
       "Places of curves where a finding was read off.",
       {{"curve", "", "Name of the curve"}, {"x", "1", "Where"}, {"low", "1", "Lower end of the interval"}, {"high", "1", "Upper end"}, {"what", "", "What it is"}}},
      {"comparison",
       "Two measurements or device files side by side, a row a key.",
       {{"key", "", "Key of a device file, or name of a measurement"},
        {"unit", "", "Unit of the numbers"},
        {"a", "1", "Value of the first, in `unit`"},
        {"a.word", "", "The same, where it is no number"},
        {"a.low", "1", "Lower end of its confidence interval"},
        {"a.high", "1", "Upper end"},
        {"b", "1", "Value of the second"},
        {"b.word", "", "The same, where it is no number"},
        {"b.low", "1", "Lower end of its confidence interval"},
        {"b.high", "1", "Upper end"},
        {"difference", "1", "b / a - 1"},
        {"intervals", "", "overlap or apart, where both have one"},
        {"state", "", "equal, differs, only a, only b, unknown, units"},
        {"a.note", "", "Why the first has no value, or that it is an estimate"},
        {"b.note", "", "The same of the second"}}},
  };
}

}  // namespace simtlab::result
