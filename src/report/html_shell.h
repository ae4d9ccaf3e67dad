// What every page of ours has around its content: head, style, tips, the charts' library.
#pragma once

#include <string>

#include "report/html_writer.h"

namespace simtlab::report {

struct HtmlShell {
  std::string title;  // text
  std::string generator = "simtlab";
  ChartData words = ChartData::object();  // of metrics: {doc, unit, formula, aliases}, by name
  std::string footer;                     // HTML; before the line on the charts' library
  std::string style, script;              // of this page alone
  // It asks the server that it comes from for more; else it loads nothing at all
  bool fetches = false;
};

// body: HTML of header and main.
std::string html_document(const HtmlShell& shell, const std::string& body);

// What the registry says of metrics, for HtmlShell::words.
ChartData html_words(const std::vector<const result::MetricDeclaration*>& declarations);

}  // namespace simtlab::report
