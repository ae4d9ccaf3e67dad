// What the areas of `simtlab validate` have in common: their rows, where these go, and what they are held
// against.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "result/metrics.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/options.h"
#include "studies/common/outcome.h"
#include "studies/common/output.h"
#include "studies/validate/rows.h"

namespace simtlab::studies {

// What one area found.
struct AreaReport {
  std::string area;  // "timing"; its rows are kept in FOLDER/timing.csv
  std::string text;  // Markdown
  result::Result result;
  std::vector<std::string> misses;  // of targets, as sentences
  std::vector<studies::validate::Row> rows;
};

struct ValidationOptions {
  bool check = false, quick = false, gate = false, update = false;
  std::string rows;  // folder; empty: validation/ beside the devices
  // Of programs that are not part of simtlab (--results, --applications): the other rows of their file stay
  bool recorded = false;
  // Then: what stands above them, of programs that were run before if empty
  std::string recorded_how;
  // Then: rows of their groups that this run does not have go, for it was of other programs
  bool whole_groups = false;
  // Groups of rows that are then not kept, for they were computed at once
  std::vector<std::string> computed;
  std::string html;
  double tolerance = 0.005;  // of --gate
  OutputOptions output;
};
// Options of every area. quick: what it leaves out; null: the area is quick.
void add_validation_options(Command& command, ValidationOptions& options, const char* quick);
// Before anything is run: what does not go together, and kept rows of the areas that can't be read. chosen:
// the first option, if any, that changes what is computed: rows are held against others only as the area is
// by default.
void check_validation(ValidationOptions& options, const std::vector<std::string>& areas,
                      const std::optional<std::string>& chosen = {});

// The kept rows of an area. Rows that no command computes at once are in AREA.recorded.csv: those that
// --results compares, and of other simulators.
std::filesystem::path rows_folder(const ValidationOptions& options);
std::filesystem::path rows_file(const ValidationOptions& options, const std::string& area);
// Areas with fewer rows with --quick; the others are the same.
bool has_quick(const std::string& area);

// The rows as an entry of a result, and the figures of all of them in its total.
void add_rows(result::Result& result, const std::string& area,
              const std::vector<studies::validate::Row>& rows);
// Markdown: areas with their number of rows and errors; the rows of one group.
std::string summary_table(const std::vector<AreaReport>& reports);
std::string rows_table(const std::vector<studies::validate::Row>& rows);
std::string missed_list(const std::vector<studies::validate::Row>& rows);
std::string misses_text(const std::vector<std::string>& misses);

// In words for the user, if it is of an interruption.
Error interrupted_validation(const Error& error);
// Result, text and page; keeps the rows, or holds them against the kept ones. Its failure is
// Error(check_failed): "validate-target" with --check and a missed target, "validate-gate" with --gate and a
// row that is worse or gone. stopped: these are the areas that were done before it; rows are then neither
// kept nor compared.
Outcome end_validation(std::vector<AreaReport> reports, const RunClock& clock,
                       const ValidationOptions& options, const std::optional<Error>& stopped = {});
// Runs an area, which looks at `stop`, and ends with its report alone.
Outcome validated(const ValidationOptions& options, const RunClock& clock,
                  const std::function<AreaReport(const volatile bool* stop)>& area);

// Of rows that were kept, with their page as the text.
Outcome end_page(std::vector<AreaReport> areas, const std::string& page, const RunClock& clock,
                 const ValidationOptions& options);

}  // namespace simtlab::studies
