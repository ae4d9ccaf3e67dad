// simtlab validate cache: the cache study beside a published one, and beside the cycle-level model.
#include "studies/validate/areas/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "device/catalogue.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/validate/areas/cache_runs.h"
#include "studies/validate/reference.h"

namespace simtlab::studies {
namespace {

using studies::validate::CacheCase;
using studies::validate::CacheKernel;
using studies::validate::CacheVariant;

struct Published {
  std::string hardware, simulated;
  double low = 0, high = 0;
};

// The rows of the table that a case belongs to: its name, a range of names (16x8..16x10) or all.
bool covers(const std::string& config, const CacheCase& c) {
  if (config == "*" || config == c.name()) return true;
  const std::size_t dots = config.find("..");
  if (dots == std::string::npos) return false;
  const auto groups = [](const std::string& name) { return std::stoul(name.substr(name.find('x') + 1)); };
  const auto width = [](const std::string& name) { return std::stoul(name); };
  return width(config) == c.width && groups(config.substr(0, dots)) <= c.groups &&
         c.groups <= groups(config.substr(dots + 2));
}

class Validation {
 public:
  explicit Validation(const volatile bool* stop)
      : stop_(stop),
        published_(studies::validate::Table::read(device::data_directory() / "measured" / "crawford.csv")) {}

  // quick: without what is not known of the hardware, and beside the cycle level only where there is one
  // schedule.
  void run(bool quick) {
    published();
    if (!quick) band();
    beside_timing(quick);
  }

  std::string text() const { return text_; }
  const result::Result& result() const { return result_; }
  const std::vector<std::string>& misses() const { return misses_; }
  const std::vector<studies::validate::Row>& rows() const { return rows_; }

 private:
  static double get(const result::Metrics& m, const char* name) { return m.get(name).value_or(0); }

  result::KernelResult run(const CacheCase& c, const CacheVariant& variant) const {
    if (stop_ != nullptr && *stop_) throw Error(ExitCode::interrupted, "interrupted", "validate cache");
    return studies::validate::run_case(c, variant);
  }
  result::KernelResult keep(result::KernelResult r, const CacheCase& c, const std::string& variant) {
    r.name = fmt::format("{} {}{}", studies::validate::name_of(c.kernel), c.name(),
                         variant.empty() ? "" : ", " + variant);
    r.demangled = r.name;
    result_.kernels.push_back(r);
    return r;
  }

  Published published_of(const CacheCase& c, const char* quantity) {
    for (std::size_t i = 0; i < published_.size(); ++i) {
      if (published_.text(i, "kernel") != studies::validate::name_of(c.kernel) ||
          published_.text(i, "quantity") != quantity || !covers(published_.text(i, "config"), c))
        continue;
      return {published_.text(i, "hardware"), published_.text(i, "simulated"), published_.number(i, "low"),
              published_.number(i, "high")};
    }
    return {};
  }

  // Beside what the profiler of a GTX 480 said and what the dissertation's own simulation said.
  void published() {
    text_ +=
        "## Published counters of one SM of a GTX 480, 16 KiB of L1\n\n"
        "| kernel | groups | reads: hardware | simulation | ours, median SM | range | miss rate: hardware | "
        "simulation | ours, median SM | range | target |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const CacheCase& c : studies::validate::published_cases()) {
      const result::Metrics m = keep(run(c, {}), c, "").metrics;
      const Published reads = published_of(c, "l1.read.accesses"),
                      rate = published_of(c, "l1.read.miss_rate");
      const double our_reads = get(m, "l1.read.accesses.median"),
                   our_rate = get(m, "l1.read.miss_rate.median");
      std::string target;
      const auto judge = [&](const Published& p, double ours, const char* what) {
        if (p.high == 0) return;
        published_row(c, p, ours, what == std::string_view("rate"));
        const bool met = ours >= p.low - 1e-9 && ours <= p.high + 1e-9;
        target += fmt::format("{}{} {}", target.empty() ? "" : ", ", what, met ? "met" : "missed");
        if (!met)
          misses_.push_back(fmt::format("{} {}: {} {:.4g}, not {:.4g} to {:.4g}",
                                        studies::validate::name_of(c.kernel), c.name(), what, ours, p.low,
                                        p.high));
      };
      judge(reads, our_reads, "reads");
      judge(rate, our_rate, "rate");
      const auto share = [](const std::string& text) {
        return text.empty() || text == "-" ? std::string("-")
                                           : fmt::format("{:.4g} %", std::stod(text) * 100);
      };
      text_ += fmt::format(
          "| {} | {} | {} | {} | {:.0f} | {:.0f} to {:.0f} | {} | {} | {:.2f} % | {:.2f} to {:.2f} % | {} "
          "|\n",
          studies::validate::name_of(c.kernel), c.name(), reads.hardware.empty() ? "-" : reads.hardware,
          reads.simulated.empty() ? "-" : reads.simulated, our_reads, get(m, "l1.read.accesses.min"),
          get(m, "l1.read.accesses.max"), share(rate.hardware), share(rate.simulated), our_rate * 100,
          get(m, "l1.read.miss_rate.min") * 100, get(m, "l1.read.miss_rate.max") * 100,
          target.empty() ? "-" : target);
    }
  }

  // The multiplication was not looked at when jitter, skew and the order of loads were chosen.
  void published_row(const CacheCase& c, const Published& p, double ours, bool rate) {
    studies::validate::Row row =
        studies::validate::bounded_row("published counters", "gtx480",
                                       fmt::format("{} {}: {}", studies::validate::name_of(c.kernel),
                                                   c.name(), rate ? "miss rate" : "reads"),
                                       rate ? "share" : "1", p.low, p.high, ours);
    row.target = 0.0;
    row.role =
        c.kernel == CacheKernel::matmul ? studies::validate::Role::held_out : studies::validate::Role::tuned;
    row.source = "data/measured/crawford.csv";
    row.note = fmt::format("hardware {}, published simulation {}", p.hardware.empty() ? "-" : p.hardware,
                           p.simulated.empty() ? "-" : p.simulated);
    rows_.push_back(std::move(row));
  }

  // What nobody knows of the hardware, varied: how far the answer depends on it.
  void band() {
    struct Variant {
      const char* name;
      CacheVariant what;
    };
    const std::string dissertation = "order=round_robin,warp_size=32,alternate_blocks=1";
    const std::vector<Variant> variants = {
        {"as `simtlab cache` runs it", {}},
        {"loop not unrolled", {.build = {"-unroll=1"}}},
        {"loop unrolled twice", {.build = {"-unroll=2"}}},
        {"20 registers a thread", {.registers = "20"}},
        {"unrolled twice, 20 registers", {.registers = "20", .build = {"-unroll=2"}}},
        {"20 registers, loose round-robin", {.study = "order=lrr", .registers = "20"}},
        {"16 MSHRs", {.settings = {{"l1.mshr_entries", "16"}}}},
        {"32 MSHRs", {.settings = {{"l1.mshr_entries", "32"}}}},
        {"128 MSHRs", {.settings = {{"l1.mshr_entries", "128"}}}},
        {"line modulo sets", {.settings = {{"l1.set_index", "modulo"}}}},
        {"exclusive-or set index", {.settings = {{"l1.set_index", "xor"}}}},
        {"fully associative", {.settings = {{"l1.ways", "128"}, {"l1.set_index", "modulo"}}}},
        {"oldest warp first", {.study = "order=oldest"}},
        {"loose round-robin", {.study = "order=lrr"}},
        {"place on fill", {.study = "allocate=on-fill"}},
        {"turns of one access", {.study = "turn=access"}},
        {"no jitter", {.study = "jitter=0"}},
        {"another seed", {.seed = "2"}},
        {"SMs start together", {.study = "skew=0"}},
        {"wait at the first use", {.study = "wait=use"}},
        {"DRAM 350 cycles far", {.settings = {{"dram.latency", "350 cycles"}}}},
        {"DRAM 1000 cycles far", {.settings = {{"dram.latency", "1000 cycles"}}}},
        {"no latencies", {.study = "zero_latency=1"}},
        {"the dissertation's order", {.study = dissertation}},
        {"the same, line modulo sets", {.settings = {{"l1.set_index", "modulo"}}, .study = dissertation}},
    };
    text_ +=
        "\n## What is not known of the hardware, varied: miss rate of the median SM\n\n| | matmul 16x8 | "
        "matmul 16x9 | matmul 16x10 | stencil |\n|---|---|---|---|---|\n";
    for (const Variant& v : variants) {
      text_ += fmt::format("| {} |", v.name);
      for (const CacheCase& c :
           {CacheCase{CacheKernel::matmul, 16, 8}, CacheCase{CacheKernel::matmul, 16, 9},
            CacheCase{CacheKernel::matmul, 16, 10}, CacheCase{CacheKernel::stencil, 64, 2}}) {
        const auto r = keep(run(c, v.what), c, v.name);
        text_ += fmt::format(" {:.2f} % |", get(r.metrics, "l1.read.miss_rate.median") * 100);
      }
      text_ += "\n";
    }
  }

  // With one SM that holds one warp at a time there is one schedule: the same reads exactly, the miss rates
  // within a point. With all of them each model has a schedule of its own: the same reads exactly.
  void beside_timing(bool quick) {
    text_ +=
        "\n## Beside the cycle-level model of the same device, all SMs\n\n| kernel | groups | SMs hold | "
        "reads | cycle level | miss rate | cycle level | target |\n|---|---|---|---|---|---|---|---|\n";
    std::vector<CacheCase> single = {{CacheKernel::transpose, 16, 10, true},
                                     {CacheKernel::matmul, 16, 6, true},
                                     {CacheKernel::matmul, 16, 9, true},
                                     {CacheKernel::stencil, 64, 2, true}};
    for (const CacheCase& c : single) beside_timing(c, true);
    if (quick) return;
    for (const CacheCase& c : studies::validate::published_cases())
      if (c.kernel != CacheKernel::transpose || c.groups == 10) beside_timing(c, false);
  }

  void beside_timing(const CacheCase& c, bool one_schedule) {
    CacheVariant variant;
    if (one_schedule) variant.settings = {{"sm.count", "1"}, {"sm.max_blocks", "1"}};
    const auto timed = studies::validate::time_case(c, variant);
    variant.study = "allocate=on-fill,wait=use,jitter=0,skew=0";
    const auto ours = keep(run(c, variant), c, "beside the cycle level");
    const double reads = get(ours.metrics, "l1.read.accesses"),
                 timed_reads = get(timed.metrics, "l1.read.accesses");
    const double rate = get(ours.metrics, "l1.read.miss_rate"),
                 timed_rate = get(timed.metrics, "l1.read.miss_rate");
    timing_rows(c, one_schedule, {reads, timed_reads, rate, timed_rate});
    const bool met = reads == timed_reads && (!one_schedule || std::abs(rate - timed_rate) <= 0.01);
    if (!met)
      misses_.push_back(fmt::format(
          "{} {} beside the cycle-level model: {:.0f} and {:.0f} reads, {:.2f} and {:.2f} % misses",
          studies::validate::name_of(c.kernel), c.name(), reads, timed_reads, rate * 100, timed_rate * 100));
    text_ += fmt::format("| {} | {} | {} | {:.0f} | {:.0f} | {:.2f} % | {:.2f} % | {} |\n",
                         studies::validate::name_of(c.kernel), c.name(),
                         one_schedule ? "one warp, one SM" : "all that fit", reads, timed_reads, rate * 100,
                         timed_rate * 100, met ? "met" : "missed");
  }

  struct Beside {
    double reads, timed_reads, rate, timed_rate;
  };
  void timing_rows(const CacheCase& c, bool one_schedule, const Beside& b) {
    const std::string what =
        one_schedule ? fmt::format("{} of {} groups of one warp, one SM",
                                   studies::validate::name_of(c.kernel), c.groups)
                     : fmt::format("{} {}, all that fit", studies::validate::name_of(c.kernel), c.name());
    for (const bool rate : {false, true}) {
      // With a schedule of its own each model misses as it does: shown, without a target.
      const double share = one_schedule ? 0.01 : 0;
      studies::validate::Row row =
          !rate ? studies::validate::value_row("beside the cycle level", "gtx480", what + ": reads", "1",
                                               b.timed_reads, b.reads)
          : one_schedule
              ? studies::validate::bounded_row("beside the cycle level", "gtx480", what + ": miss rate",
                                               "share", b.timed_rate - share, b.timed_rate + share, b.rate)
              : studies::validate::value_row("beside the cycle level", "gtx480", what + ": miss rate",
                                             "share", b.timed_rate, b.rate);
      if (!rate || one_schedule) row.target = 0.0;
      row.role = studies::validate::Role::independent;
      row.source = "cycle-level model";
      rows_.push_back(std::move(row));
    }
  }

  const volatile bool* stop_;
  studies::validate::Table published_;
  std::vector<studies::validate::Row> rows_;
  std::string text_;
  result::Result result_;
  std::vector<std::string> misses_;
};

Outcome validate_cache(ValidationOptions o) {
  const RunClock clock;
  check_validation(o, {"cache"});
  return validated(o, clock, [&](const volatile bool* stop) { return cache_area(o.quick, stop); });
}

}  // namespace

AreaReport cache_area(bool quick, const volatile bool* stop) {
  Validation validation(stop);
  validation.run(quick);
  AreaReport out{"cache", validation.text() + misses_text(validation.misses()), validation.result(),
                 validation.misses(), validation.rows()};
  out.result.manifest.mode = "cache";
  out.result.manifest.device = "gtx480";
  return out;
}

void add_validate_cache(Command& validate) {
  Command* sub =
      validate.add_subcommand("cache", "The cache study: counters of a GTX 480, and the cycle-level model");
  const auto o = std::make_shared<ValidationOptions>();
  add_validation_options(*sub, *o,
                         "Without what is varied because it is not known of the hardware, and beside the "
                         "cycle-level model only where there is one schedule");
  sub->action([o](const Call&) { return validate_cache(*o); });
}

}  // namespace simtlab::studies
