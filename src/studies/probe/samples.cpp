// simtlab probe --samples: the distribution behind intervals that were timed elsewhere (Sanchez, thesis, 6.1
// and 6.3).
#include "probe/analysis/samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "studies/common/manifest.h"
#include "studies/probe/probe.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t warp = 32, most_one_in = 1024;

[[noreturn]] void refuse(std::string what, std::string hint) {
  throw Error(ExitCode::usage, "probe-options", std::move(what), std::move(hint));
}

void check(const ProbeOptions& o) {
  if (o.correction == "slope")
    refuse("samples have no slope: they are of one length", "difference, deconvolve, subtract or none");
  if (o.cost.empty() && o.correction && *o.correction != "none")
    refuse(fmt::format("--correction {} takes out a cost that is not there", *o.correction),
           "add --cost CLOCK: samples of two readings with nothing between them");
  if (!o.cost.empty() && o.correction == "none")
    refuse("--cost has no effect with --correction none", "leave out one of them");
  if (!o.boundaries.empty() && !o.counters.empty())
    refuse("--boundary and --counters both part the distribution", "leave out one of them");
  if (o.one_in && (*o.one_in == 0 || *o.one_in > most_one_in))
    refuse(fmt::format("--one-in {} is not 1 to {}", *o.one_in, most_one_in),
           "the threads of a warp, or 1 where there is one sample for each");
  for (std::size_t i = 0; i < o.boundaries.size(); ++i) {
    if (!(std::abs(o.boundaries[i]) <= probe::largest_sample))
      refuse(fmt::format("--boundary {:g} is no number of cycles", o.boundaries[i]), "such as 683");
    if (i > 0 && !(o.boundaries[i] > o.boundaries[i - 1]))
      refuse(fmt::format("--boundary {:g} does not follow {:g}", o.boundaries[i], o.boundaries[i - 1]),
             "boundaries rise");
  }
  double total = 0;
  for (const double count : o.counters) {
    if (!(count >= 0) || !(count <= probe::largest_sample))
      refuse(fmt::format("--counters {:g} is no count", count), "how many accesses each level served");
    total += count;
  }
  if (!o.counters.empty() && (o.counters.size() < 2 || total == 0))
    refuse("--counters needs the counts of two levels or more, and one above 0",
           "such as --counters 9000,1000");
}

struct Read {
  probe::Processed processed;
  std::vector<probe::Piece> parts;
  std::vector<double> boundaries;
  std::uint64_t one_in = warp;
  std::string correction;
};

Read read(const ProbeOptions& o) {
  Read out;
  out.one_in = o.one_in.value_or(warp);
  out.correction = o.cost.empty() ? "none" : o.correction.value_or("difference");
  const std::vector<double> measured = probe::read_samples(o.samples);
  const std::vector<double> cost = o.cost.empty() ? std::vector<double>{0} : probe::read_samples(o.cost);
  out.processed = probe::process(measured, cost, out.one_in, *probe::correction_of(out.correction));
  out.boundaries =
      o.counters.empty() ? o.boundaries : probe::boundaries_by(out.processed.latency, o.counters);
  if (!out.boundaries.empty()) out.parts = probe::split_at(out.processed.latency, out.boundaries);
  return out;
}

void set_piece(result::KernelResult& to, const std::string& name, const probe::Piece& p) {
  to.name = to.demangled = name;
  to.metrics.set("probe.sample.share", p.share);
  to.metrics.set("probe.sample.mean", p.mean);
  to.metrics.set("probe.sample.deviation", p.deviation);
  to.metrics.set("probe.sample.mode", static_cast<double>(p.mode));
  to.metrics.set("probe.sample.first", static_cast<double>(p.first));
  to.metrics.set("probe.sample.last", static_cast<double>(p.last));
}

probe::Series histogram_of(const std::string& name, const probe::Distribution& d) {
  probe::Series out{name, "cycles", "share", {}, {}};
  for (const auto& [cycles, mass] : d.masses()) out.points.push_back({static_cast<double>(cycles), mass});
  return out;
}

// Measured, clock and latency, as far as there is a cost.
probe::Findings histograms_of(const Read& r) {
  probe::Findings out;
  out.series(histogram_of("histogram.measured", probe::Distribution(r.processed.measured)));
  if (r.correction == "none") return out;
  out.series(histogram_of("histogram.clock", probe::Distribution(r.processed.cost)));
  out.series(histogram_of("histogram.latency", r.processed.latency));
  return out;
}

result::Result result_of(const Read& r, const probe::Findings& histograms) {
  result::Result out;
  const probe::Distribution measured(r.processed.measured);
  set_piece(out.kernels.emplace_back(), "measured", probe::piece_of(measured));
  out.kernels.back().metrics.set("probe.sample.count", r.processed.measured.count());
  if (r.correction != "none") {
    set_piece(out.kernels.emplace_back(), "clock", probe::piece_of(probe::Distribution(r.processed.cost)));
    out.kernels.back().metrics.set("probe.sample.count", r.processed.cost.count());
    set_piece(out.kernels.emplace_back(), "latency", probe::piece_of(r.processed.latency));
  }
  for (std::size_t i = 0; i < r.parts.size(); ++i)
    set_piece(out.kernels.emplace_back(), fmt::format("part {}", i + 1), r.parts[i]);
  add_tables(out.kernels.front(), histograms);
  return out;
}

std::string row(const std::string& name, const probe::Piece& p, const std::string& samples) {
  return fmt::format("| {} | {} | {:.2f} % | {:.2f} | {:.2f} | {} | {} | {} |\n", name, samples,
                     100 * p.share, p.mean, p.deviation, p.mode, p.first, p.last);
}

std::string text_of(const Read& r) {
  std::string out = fmt::format(
      "{} samples, one in {} of those in the file; the clock's cost {}\n\n| | samples | share | mean, cycles "
      "| deviation | "
      "mode | from | to |\n|---|---|---|---|---|---|---|---|\n",
      r.processed.measured.count(), r.one_in,
      r.correction == "none" ? "is in them" : "taken out by " + r.correction);
  out += row("measured", probe::piece_of(probe::Distribution(r.processed.measured)),
             fmt::format("{}", r.processed.measured.count()));
  if (r.correction != "none") {
    out += row("clock", probe::piece_of(probe::Distribution(r.processed.cost)),
               fmt::format("{}", r.processed.cost.count()));
    out += row("latency", probe::piece_of(r.processed.latency), "");
  }
  for (std::size_t i = 0; i < r.parts.size(); ++i) out += row(fmt::format("part {}", i + 1), r.parts[i], "");
  if (r.parts.empty()) return out;
  out += fmt::format("\nBoundaries: {:g} cycles.\n", fmt::join(r.boundaries, ", "));
  // As the thesis takes L1's hits: as wide on both sides of the mode (figure 33)
  const auto bound = static_cast<std::int64_t>(std::floor(r.boundaries.front()));
  if (const auto piece = probe::around_mode(r.processed.latency, bound))
    out += fmt::format(
        "Part 1 as wide on both sides of its mode: mean {:.2f}, deviation {:.2f}, {:.2f} % of all.\n",
        piece->mean, piece->deviation, 100 * piece->share);
  return out;
}

}  // namespace

std::vector<probe::ThesisShape> launches_of(const std::vector<std::string>& names) {
  std::vector<probe::ThesisShape> out;
  for (const std::string& name : names) {
    probe::ThesisShape shape;
    const char* const end = name.data() + name.size();
    const auto blocks = std::from_chars(name.data(), end, shape.blocks);
    const bool x = blocks.ec == std::errc{} && blocks.ptr != end && *blocks.ptr == 'x';
    const auto threads = x ? std::from_chars(blocks.ptr + 1, end, shape.threads) : blocks;
    if (!x || threads.ec != std::errc{} || threads.ptr != end || shape.blocks == 0 || shape.threads == 0 ||
        shape.threads > 1024 || shape.blocks > 65535)
      refuse(fmt::format("--histogram '{}' is no launch", name),
             "blocks and threads of a block, such as 11x896: up to 65535 and 1024");
    out.push_back(shape);
  }
  return out;
}

Outcome probe_samples(ProbeOptions o) {
  const RunClock clock;
  check(o);
  check_outputs(o.output);
  std::vector<std::filesystem::path> inputs{o.samples};
  if (!o.cost.empty()) inputs.emplace_back(o.cost);
  check_inputs(o.output, inputs);
  const auto r = std::make_shared<const Read>(read(o));
  const probe::Findings histograms = histograms_of(*r);
  result::Result result = result_of(*r, histograms);
  result.manifest.mode = "probe";
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& file : inputs)
    if (std::filesystem::is_regular_file(file, ignored)) files.push_back(file);
  result.manifest.inputs = hash_inputs(files);
  clock.finish(result);
  Outcome out(std::move(result), o.output);
  out.text = [r](const report::Style&) { return text_of(*r); };
  Writing writing;
  if (!o.curves.empty()) writing([&] { write_curves(o.curves, histograms); });
  if (writing.failed()) out.unwritten.push_back(*writing.failed());
  return out;
}

}  // namespace simtlab::studies
