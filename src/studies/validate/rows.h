// What validations find, as one kind of row: a reference, ours, the error, and what the reference was used
// for. Rows are kept as CSV (data/validation/), which a later run is held against.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result/table.h"

namespace simtlab::studies::validate {

// What a row says of the model.
enum class Role : std::uint8_t {
  tuned,            // constants or rules of the model were chosen with this reference in sight
  held_out,         // nobody looked at it when they were
  independent,      // nothing of the model can be tuned on it: a law, a specification, another model
  by_construction,  // holds if the code computes what it says
};
std::string_view name_of(Role role);  // "held out"

struct Row {
  std::string group;             // of its area, "plateaus"
  std::string device, quantity;  // with the group: its name; unique
  // What the error is of, "median of 11 sizes"; empty: of the value itself
  std::string over;
  std::string unit;    // "cycles", "bytes", "bytes/s", "share" (printed as per cent), "1"
  std::string source;  // of the reference: a file of data/measured, or what made it
  // The reference: equal, an interval, or one bound; none where there is only an error
  std::optional<double> low, high;
  std::optional<double> ours;
  double error = 0;                            // relative, signed where it is of one value
  std::optional<double> worst;                 // of several values, the greatest absolute error
  std::optional<double> target, worst_target;  // of the absolute errors
  Role role = Role::independent;
  std::string note;

  std::string name() const { return group + ": " + device + ": " + quantity; }
  bool met() const;  // true without a target
  bool operator==(const Row&) const = default;
};

// The error of one value: its distance from the reference relative to it (to 1 where it is 0), 0 inside of an
// interval.
double error_of(double ours, std::optional<double> low, std::optional<double> high);
// Fills ours and error. target: as in Row.
Row value_row(std::string group, std::string device, std::string quantity, std::string unit, double reference,
              double ours);
Row bounded_row(std::string group, std::string device, std::string quantity, std::string unit,
                std::optional<double> low, std::optional<double> high, double ours);

// The rows as a table of a result ("validation") and back.
result::Table table_of(const std::vector<Row>& rows);
std::vector<Row> rows_of(const result::Table& table);

// CSV: comment lines with '#', column names, rows; numbers with fewer digits than they have, so that a row
// equals itself on other hosts. Throws Error(bad_input, "validation-rows") with the place.
std::string to_csv(const std::vector<Row>& rows, std::string_view comment);
std::vector<Row> parse_csv(const std::string& file, std::string_view text);
std::vector<Row> read_rows(const std::filesystem::path& file);
// As it would be after writing and reading it.
Row rounded(const Row& row);

// What became worse, as sentences: an absolute error, or a worst one, that grew by more than `tolerance`, and
// rows of `before` that `now` lacks.
std::vector<std::string> worse(const std::vector<Row>& before, const std::vector<Row>& now, double tolerance);

struct Summary {
  std::size_t rows = 0, targets = 0, missed = 0;
  double median = 0, worst = 0;  // of the absolute errors of rows
};
Summary summarise(const std::vector<Row>& rows);

// For people.
std::string reference_text(const Row& row);  // "28.0 cycles", "above 1.4"; "-"
std::string ours_text(const Row& row);
std::string error_text(const Row& row);   // "+1.2 %"
std::string target_text(const Row& row);  // "5 %, worst 15 %"; "inside" of an interval, "equal"; "-"

}  // namespace simtlab::studies::validate
