// What the HTML report carries with it, compiled in: our page and Debian's Vega.
#pragma once

#include <string_view>

namespace simtlab::report {

extern const std::string_view page_style, modules_script, charts_script, page_script, vega;

}  // namespace simtlab::report
