// What the pages of this folder share.
#pragma once

#include <string>
#include <string_view>

#include "report/html_writer.h"

namespace simtlab::report::viewer {

// body: header and main. script: of this page alone.
std::string page_shell(const std::string& title, const std::string& body, const char* script = "",
                       const report::ChartData& words = report::ChartData::object());

// Foreign text as HTML.
std::string safe(std::string_view text);

// The registry's declarations of what some of these have, in its order.
std::vector<const result::MetricDeclaration*> declared(const std::vector<const result::Metrics*>& all);

}  // namespace simtlab::report::viewer
