// A result in the forms of other tools: Markdown for a page, SQLite for queries, the Chrome trace format for
// a timeline.
#pragma once

#include <string>

#include "result/metrics.h"

namespace simtlab::report {

// A page with headline, kernels, stalls and every metric.
std::string markdown(const result::Result& result);

// A database as the bytes of its file (docs/reference/json.md lists the tables). Throws Error(failure,
// "report-sqlite") if the library refuses.
std::string sqlite_database(const result::Result& result);

// Kernels as slices, their series as counters. Throws Error(bad_input, "report-timeline") if the result has
// no times.
std::string timeline(const result::Result& result);

}  // namespace simtlab::report
