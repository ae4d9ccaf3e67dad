#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/validate/areas/timing.h"
#include "studies/validate/rows.h"

namespace simtlab::studies {
namespace {

using studies::validate::Comparison;
using studies::validate::Quantity;

std::string size_text(double bytes) {
  if (bytes == 0) return "";
  const double kib = bytes / 1024;
  return kib < 1024 ? fmt::format("{:.4g} KiB", kib) : fmt::format("{:.4g} MiB", kib / 1024);
}

std::string value_text(Quantity quantity, double value) {
  return quantity == Quantity::latency ? fmt::format("{:.1f} cycles", value)
                                       : fmt::format("{:.0f} GB/s", value / 1e9);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

void plateaus(std::string& out, const ValidationReport& report) {
  out +=
      "| device | board | what | level | sizes | measured | simulated | median error | worst error "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  for (const Comparison& c : report.curves)
    for (const studies::validate::Plateau& p : c.plateaus)
      out +=
          fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", c.device, c.board, c.name,
                      name_of(p.level), p.points, value_text(c.quantity, p.measured),
                      value_text(c.quantity, p.simulated), percent(p.median_error), percent(p.worst_error));
}

void knees(std::string& out, const ValidationReport& report) {
  out += "\n| device | what | end of | measured | simulated | error |\n|---|---|---|---|---|---|\n";
  for (const Comparison& c : report.curves)
    for (const studies::validate::Knee& k : c.knees)
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", c.device, c.name, name_of(k.level),
                         size_text(k.measured), size_text(k.simulated), signed_percent(k.error()));
}

void points(std::string& out, const ValidationReport& report) {
  out += "\n| device | what | size | level | measured | simulated | error |\n|---|---|---|---|---|---|---|\n";
  for (const Comparison& c : report.curves)
    for (const studies::validate::Compared& p : c.points)
      out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", c.device, c.name, size_text(p.bytes),
                         name_of(p.level), value_text(c.quantity, p.measured),
                         value_text(c.quantity, p.simulated), signed_percent(p.error()));
}

void kernels(std::string& out, const ValidationReport& report) {
  out +=
      "\n| device | program | kernel | half | quantity | measured | simulated | error "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const studies::validate::KernelRow& k : report.kernels)
    out += fmt::format("| {} | {} | {} | {} | {} | {:.6g} | {:.6g} | {} |\n", k.device, k.app, k.kernel,
                       k.held_out ? "held out" : "tuned", k.quantity, k.measured, k.simulated,
                       signed_percent(k.error()));
  out +=
      "\n| device | quantity | kernels | mean absolute error | tuned half | held-out half "
      "|\n|---|---|---|---|---|---|\n";
  for (const studies::validate::KernelSummary& s : studies::validate::summarise(report.kernels)) {
    const std::size_t tuned = s.kernels - s.kernels_held_out;
    out += fmt::format(
        "| {} | {} | {} | {} | {} | {} |\n", s.device, s.quantity, s.kernels, percent(s.mean),
        tuned == 0 ? "-" : fmt::format("{} ({})", percent(s.mean_tuned), tuned),
        s.kernels_held_out == 0 ? "-" : fmt::format("{} ({})", percent(s.mean_held_out), s.kernels_held_out));
  }
}

void peers(std::string& out, const ValidationReport& report) {
  out += "\nBeside GPGPU-Sim (a cross-check of two models, not of a model with hardware):\n";
  out +=
      "\n| device | program | kernel | quantity | GPGPU-Sim | simtlab | difference "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const studies::validate::KernelRow& k : report.peers)
    out += fmt::format("| {} | {} | {} | {} | {:.6g} | {:.6g} | {} |\n", k.device, k.app, k.kernel,
                       k.quantity, k.measured, k.simulated, signed_percent(k.error()));
  out += "\n| device | quantity | kernels | mean absolute difference |\n|---|---|---|---|\n";
  for (const studies::validate::KernelSummary& s : studies::validate::summarise(report.peers))
    out += fmt::format("| {} | {} | {} | {} |\n", s.device, s.quantity, s.kernels, percent(s.mean));
}

result::KernelResult& entry(result::Result& result, std::string name) {
  result::KernelResult& k = result.kernels.emplace_back();
  k.name = k.demangled = std::move(name);
  return k;
}

void set_pair(result::Metrics& m, Quantity quantity, double measured, double simulated) {
  const bool latency = quantity == Quantity::latency;
  m.set(latency ? "validate.latency.measured" : "validate.bandwidth.measured", measured);
  m.set(latency ? "validate.latency.simulated" : "validate.bandwidth.simulated", simulated);
}

void add_curve(result::Result& result, const Comparison& c) {
  for (const studies::validate::Plateau& p : c.plateaus) {
    result::Metrics& m = entry(result, fmt::format("{}: {}: {}", c.device, c.name, name_of(p.level))).metrics;
    set_pair(m, c.quantity, p.measured, p.simulated);
    m.set("validate.error.median", p.median_error);
    m.set("validate.error.worst", p.worst_error);
  }
  for (const studies::validate::Knee& k : c.knees) {
    result::Metrics& m =
        entry(result, fmt::format("{}: {}: end of {}", c.device, c.name, name_of(k.level))).metrics;
    m.set("validate.knee.measured", k.measured);
    m.set("validate.knee.simulated", k.simulated);
    m.set("validate.error", k.error());
  }
  for (const studies::validate::Compared& p : c.points) {
    if (p.bytes == 0) continue;
    result::Metrics& m =
        entry(result, fmt::format("{}: {}: {}", c.device, c.name, size_text(p.bytes))).metrics;
    m.set("validate.size", p.bytes);
    set_pair(m, c.quantity, p.measured, p.simulated);
    m.set("validate.error", p.error());
  }
}

}  // namespace

std::string text_of(const ValidationReport& report, bool all) {
  std::string out;
  plateaus(out, report);
  knees(out, report);
  if (!report.kernels.empty()) kernels(out, report);
  if (!report.peers.empty()) peers(out, report);
  if (all) points(out, report);
  const std::vector<std::string> misses = missed_targets(report);
  out += misses.empty() ? "\nAll targets are met.\n" : fmt::format("\nTargets missed: {}\n", misses.size());
  for (const std::string& miss : misses) out += "- " + miss + "\n";
  return out;
}

result::Result result_of(const ValidationReport& report) {
  result::Result result;
  for (const Comparison& c : report.curves) add_curve(result, c);
  for (const studies::validate::KernelRow& k : report.kernels) {
    result::Metrics& m =
        entry(result, fmt::format("{}: {}: {}: {}", k.device, k.app, k.kernel, k.quantity)).metrics;
    m.set("validate.kernel.measured", k.measured);
    m.set("validate.kernel.simulated", k.simulated);
    m.set("validate.error", k.error());
  }
  for (const studies::validate::KernelRow& k : report.peers) {
    result::Metrics& m =
        entry(result, fmt::format("{}: GPGPU-Sim: {}: {}: {}", k.device, k.app, k.kernel, k.quantity))
            .metrics;
    m.set("validate.peer.value", k.measured);
    m.set("validate.kernel.simulated", k.simulated);
    m.set("validate.peer.difference", k.error());
  }
  std::vector<double> medians;
  double worst = 0;
  for (const Comparison& c : report.curves)
    for (const studies::validate::Plateau& p : c.plateaus) {
      medians.push_back(p.median_error);
      worst = std::max(worst, p.worst_error);
    }
  if (!medians.empty()) {
    result.total.set("validate.error.median", studies::validate::median(medians));
    result.total.set("validate.error.worst", worst);
  }
  result.total.set("validate.targets.missed", std::uint64_t{missed_targets(report).size()});
  return result;
}

std::vector<std::string> missed_targets(const ValidationReport& report) {
  std::vector<std::string> out;
  for (const Comparison& c : report.curves)
    for (std::string& miss : studies::validate::missed(c)) out.push_back(std::move(miss));
  for (const studies::validate::KernelSummary& s : studies::validate::summarise(report.kernels))
    if ((s.quantity == "cycles" || s.quantity == "time_us") && s.mean > studies::validate::target_kernels)
      out.push_back(fmt::format("{}, kernels, {}: mean absolute error {} above {}", s.device, s.quantity,
                                percent(s.mean), percent(studies::validate::target_kernels)));
  return out;
}

namespace {

using studies::validate::Role;
using studies::validate::Row;

std::string unit_of(Quantity q) { return q == Quantity::latency ? "cycles" : "bytes/s"; }

std::vector<Row> rows_of(const Comparison& c) {
  std::vector<Row> out;
  for (const studies::validate::Plateau& p : c.plateaus) {
    Row row =
        studies::validate::value_row("plateaus", c.device, fmt::format("{}, {}", c.name, name_of(p.level)),
                                     unit_of(c.quantity), p.measured, p.simulated);
    row.error = p.median_error;
    row.over = fmt::format("median of {} sizes", p.points);
    if (p.points == 1) row.over = "one size";
    row.worst = p.worst_error;
    row.target = studies::validate::target_median;
    row.worst_target = studies::validate::target_worst;
    row.role = Role::tuned;  // the device files take their figures from these curves
    row.source = c.source;
    row.note = "board " + c.board;
    out.push_back(std::move(row));
  }
  for (const studies::validate::Knee& k : c.knees) {
    Row row = studies::validate::value_row("ends of levels", c.device,
                                           fmt::format("{}, end of {}", c.name, name_of(k.level)), "bytes",
                                           k.measured, k.simulated);
    row.target = studies::validate::target_knee;
    row.role = Role::independent;
    row.source = c.source;
    row.note = "board " + c.board;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

std::vector<Row> rows_of(const ValidationReport& report) {
  std::vector<Row> out;
  for (const Comparison& c : report.curves)
    for (Row& row : rows_of(c)) out.push_back(std::move(row));
  const auto add = [&](const studies::validate::KernelRow& k, const char* group, const char* source) -> Row& {
    const char* unit = k.quantity == "cycles"         ? "cycles"
                       : k.quantity == "time_us"      ? "us"
                       : k.quantity.ends_with("_gbs") ? "GB/s"
                                                      : "1";
    Row row =
        studies::validate::value_row(group, k.device, fmt::format("{}: {}: {}", k.app, k.kernel, k.quantity),
                                     unit, k.measured, k.simulated);
    row.source = source;
    return out.emplace_back(std::move(row));
  };
  for (const studies::validate::KernelRow& k : report.kernels)
    add(k, "kernels", "data/measured/kernels.csv").role = k.held_out ? Role::held_out : Role::tuned;
  for (const studies::validate::KernelSummary& k : studies::validate::summarise(report.kernels)) {
    Row& row = out.emplace_back();
    row.group = "kernels", row.device = k.device, row.quantity = "all: " + k.quantity;
    row.over = fmt::format("mean of {} kernels", k.kernels);
    row.source = "data/measured/kernels.csv";
    row.error = k.mean;
    if (k.quantity == "cycles" || k.quantity == "time_us") row.target = studies::validate::target_kernels;
    double worst = 0;
    for (const studies::validate::KernelRow& one : report.kernels)
      if (one.device == k.device && one.quantity == k.quantity)
        worst = std::max(worst, std::abs(one.error()));
    row.worst = worst;
    const std::size_t tuned = k.kernels - k.kernels_held_out;
    if (tuned > 0) row.note = fmt::format("tuned half ({}): {}", tuned, percent(k.mean_tuned));
    if (k.kernels_held_out > 0)
      row.note += fmt::format("{}held-out half ({}): {}", tuned > 0 ? "; " : "", k.kernels_held_out,
                              percent(k.mean_held_out));
  }
  for (const studies::validate::KernelRow& k : report.peers)
    add(k, "beside GPGPU-Sim", "data/measured/gpgpusim.csv").role = Role::independent;
  return out;
}

}  // namespace simtlab::studies
