// The pages of `simtlab view`: all results, several side by side, a run under way. home: address of the first
// one.
#pragma once

#include <string>
#include <vector>

#include "report/viewer/collection.h"
#include "report/viewer/live.h"
#include "result/metrics.h"

namespace simtlab::report::viewer {

// metric: one more column, empty: none. sort: "path", "time", "started" or the name of a metric; descending
// with a '-' before it.
struct IndexWish {
  std::string metric, sort;
};
// Throws Error(usage, "view-request") for what is no metric.
std::string index_page(const Collection& collection, const IndexWish& wish);

// Of results that were read whole, at least two; the first is what the others are measured by.
struct Compared {
  std::string label;
  result::Result result;
};
std::string compare_page(const std::vector<Compared>& results, const std::string& metric,
                         const std::string& home);

std::string live_page(const Entry& entry, const LiveRun& run, const std::string& home);
// Rows from number `from` on, and what the page says beside them.
std::string live_json(const LiveRun& run, std::size_t from);

std::string error_page(const std::string& title, const std::string& message, const std::string& home);

// A result's own page with a way back.
std::string with_way_back(std::string page, const std::string& home);

}  // namespace simtlab::report::viewer
