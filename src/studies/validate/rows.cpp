#include "studies/validate/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "studies/validate/curves.h"

namespace simtlab::studies::validate {
namespace {

struct RoleName {
  Role role;
  std::string_view name;
};
constexpr RoleName roles[] = {{Role::tuned, "tuned"},
                              {Role::held_out, "held out"},
                              {Role::independent, "independent"},
                              {Role::by_construction, "by construction"}};

Role role_of(std::string_view name) {
  const auto found = std::ranges::find(roles, name, &RoleName::name);
  if (found == std::end(roles))
    throw Error(ExitCode::bad_input, "validation-rows", fmt::format("there is no role '{}'", name),
                "tuned, held out, independent or by construction");
  return found->role;
}

std::string plain(double v) {
  return std::abs(v) >= 1e5 && std::abs(v) < 1e15 ? fmt::format("{:.0f}", v) : fmt::format("{:.5g}", v);
}

std::string in_unit(const std::string& unit, double v) {
  if (unit == "bytes/s") return fmt::format("{:.4g} GB/s", v / 1e9);
  if (unit == "share") return fmt::format("{:.4g} %", 100 * v);
  if (unit == "bytes")
    return v < 1 << 20 ? fmt::format("{:.4g} KiB", v / 1024) : fmt::format("{:.4g} MiB", v / 1048576);
  if (unit == "1") return plain(v);
  return plain(v) + " " + unit;
}

result::Cell cell_of(const std::optional<double>& v) { return v ? result::Cell(*v) : result::Cell(); }

std::string percents(double share) {
  const std::string text = fmt::format("{:.1f}", 100 * share);
  return (text == "-0.0" ? "0.0" : text) + " %";
}

}  // namespace

std::string_view name_of(Role role) { return std::ranges::find(roles, role, &RoleName::role)->name; }

bool Row::met() const {
  constexpr double rounding = 1e-12;  // of an error that is exactly its target
  return (!target || std::abs(error) <= *target + rounding) &&
         (!worst || !worst_target || *worst <= *worst_target + rounding);
}

double error_of(double ours, std::optional<double> low, std::optional<double> high) {
  const auto from = [&](double bound) { return (ours - bound) / (bound == 0 ? 1 : std::abs(bound)); };
  if (low && ours < *low) return from(*low);
  if (high && ours > *high) return from(*high);
  return 0;
}

Row bounded_row(std::string group, std::string device, std::string quantity, std::string unit,
                std::optional<double> low, std::optional<double> high, double ours) {
  Row row;
  row.group = std::move(group), row.device = std::move(device), row.quantity = std::move(quantity),
  row.unit = std::move(unit);
  row.low = low, row.high = high, row.ours = ours;
  row.error = error_of(ours, low, high);
  return row;
}

Row value_row(std::string group, std::string device, std::string quantity, std::string unit, double reference,
              double ours) {
  return bounded_row(std::move(group), std::move(device), std::move(quantity), std::move(unit), reference,
                     reference, ours);
}

result::Table table_of(const std::vector<Row>& rows) {
  result::Table table{"validation", {}};
  for (const Row& r : rows)
    table.rows.push_back({r.group, r.device, r.quantity, r.over, r.unit, r.source, cell_of(r.low),
                          cell_of(r.high), cell_of(r.ours), r.error, cell_of(r.worst), cell_of(r.target),
                          cell_of(r.worst_target),
                          std::string(!r.target && !r.worst_target ? ""
                                      : r.met()                    ? "met"
                                                                   : "missed"),
                          std::string(name_of(r.role)), r.note});
  return table;
}

std::vector<Row> rows_of(const result::Table& table) {
  std::vector<Row> out;
  for (const auto& cells : table.rows) {
    const auto text = [&](const char* name) {
      const auto* t = std::get_if<std::string>(&cells[result::column("validation", name)]);
      return t == nullptr ? std::string() : *t;
    };
    const auto number = [&](const char* name) -> std::optional<double> {
      const result::Cell& c = cells[result::column("validation", name)];
      if (std::holds_alternative<std::monostate>(c)) return std::nullopt;
      return result::number(c);
    };
    out.push_back({text("group"), text("device"), text("quantity"), text("over"), text("unit"),
                   text("source"), number("low"), number("high"), number("ours"), number("error").value_or(0),
                   number("worst"), number("target"), number("worst_target"), role_of(text("role")),
                   text("note")});
  }
  return out;
}

std::vector<std::string> worse(const std::vector<Row>& before, const std::vector<Row>& now,
                               double tolerance) {
  std::vector<std::string> out;
  for (const Row& then : before) {
    const auto found = std::ranges::find_if(now, [&](const Row& r) { return r.name() == then.name(); });
    if (found == now.end()) {
      out.push_back(fmt::format("{}: the row is gone", then.name()));
      continue;
    }
    const double was = std::abs(then.error), is = std::abs(found->error);
    if (is > was + tolerance)
      out.push_back(fmt::format("{}: error {}, was {}", then.name(), percents(is), percents(was)));
    if (then.worst && !found->worst)
      out.push_back(fmt::format("{}: its worst error is gone", then.name()));
    else if (then.worst && *found->worst > *then.worst + tolerance)
      out.push_back(fmt::format("{}: worst error {}, was {}", then.name(), percents(*found->worst),
                                percents(*then.worst)));
  }
  return out;
}

Summary summarise(const std::vector<Row>& rows) {
  Summary out;
  std::vector<double> errors;
  for (const Row& r : rows) {
    errors.push_back(std::abs(r.error));
    out.worst = std::max({out.worst, errors.back(), r.worst.value_or(0)});
    if (r.target || r.worst_target) ++out.targets;
    if (!r.met()) ++out.missed;
  }
  out.rows = rows.size();
  if (!errors.empty()) out.median = median(errors);
  return out;
}

std::string reference_text(const Row& r) {
  if (!r.low && !r.high) return "-";
  if (!r.high) return "at least " + in_unit(r.unit, *r.low);
  if (!r.low) return "at most " + in_unit(r.unit, *r.high);
  if (*r.low == *r.high) return in_unit(r.unit, *r.low);
  return in_unit(r.unit, *r.low) + " to " + in_unit(r.unit, *r.high);
}

std::string ours_text(const Row& r) { return r.ours ? in_unit(r.unit, *r.ours) : "-"; }

std::string error_text(const Row& r) {
  const std::string text = percents(r.error);
  return r.over.empty() && r.error > 0 && text != "0.0 %" ? "+" + text : text;
}

std::string target_text(const Row& r) {
  std::string out;
  if (r.target && *r.target == 0)
    out = r.low && r.high && *r.low == *r.high ? "equal" : "inside";
  else if (r.target)
    out = fmt::format("{:g} %", 100 * *r.target);
  if (r.worst && r.worst_target)
    out += fmt::format("{}worst {:g} %", out.empty() ? "" : ", ", 100 * *r.worst_target);
  return out.empty() ? "-" : out;
}

}  // namespace simtlab::studies::validate
