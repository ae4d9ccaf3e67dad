// What the text reports have in common: lines, headings, what makes a result incomplete, the list of all
// metrics.
#pragma once

#include <string>
#include <string_view>

#include "report/cells.h"
#include "report/report.h"

namespace simtlab::report {

class TextWriter {
 protected:
  TextWriter(const result::Result& result, const TextOptions& options)
      : result_(result), options_(options), style_(options.style) {}

  void line(std::string_view text);  // without blanks at its end
  void heading(std::string_view text, std::string_view more = {});
  void state_line();  // says first that the numbers below are incomplete, if they are
  void every_metric(const result::Metrics& metrics);
  std::string configured(std::string_view key) const { return printable(report::configured(result_, key)); }

  const result::Result& result_;
  const TextOptions& options_;
  const Style& style_;
  std::string out_;
};

}  // namespace simtlab::report
