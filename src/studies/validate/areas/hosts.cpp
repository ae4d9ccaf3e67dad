#include "studies/validate/areas/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "device/catalogue.h"
#include "report/format.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/corun/cycle.h"
#include "studies/corun/study.h"
#include "studies/validate/areas/rank_correlation.h"

namespace simtlab::studies {
namespace {

using corun::ApplicationResult;

constexpr double same = 1e-3;  // slowdowns that differ by less are one

// What the rows are of. The model was made with the usual mixes in sight, and mended where those with
// programs from elsewhere showed it wrong (docs/lab/corun.md).
constexpr studies::validate::Role seen = studies::validate::Role::tuned;

std::string group_of(const HostComparison& o) {
  return o.applications.empty() ? "hosts"
                                : "mixes of " + std::filesystem::path(o.applications).stem().string();
}

// Slowdowns of the fast host over those of the cycle-level one.
struct Errors {
  double absolute = 0, sum = 0, worst = 0;
  std::size_t count = 0;
  void add(double fast, double cycle) {
    const double error = fast / cycle - 1;
    absolute += std::abs(error), sum += error, ++count;
    if (std::abs(error) > std::abs(worst)) worst = error;
  }
  double mean() const { return count == 0 ? 0 : absolute / static_cast<double>(count); }
  double bias() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

double slowdown(const ApplicationResult& a, bool gpu) {
  return gpu ? a.slowdown_gpu() : a.slowdown_turnaround();
}

double antt(const corun::MixResult& mix, bool gpu) {
  double sum = 0;
  for (const ApplicationResult& a : mix.applications) sum += slowdown(a, gpu);
  return sum / static_cast<double>(mix.applications.size());
}

class HostReport {
 public:
  HostReport(const std::vector<CorunCell>& fast, const std::vector<CorunCell>& cycle, std::string group)
      : fast_(fast), cycle_(cycle), group_(std::move(group)) {}

  void run() {
    text_ +=
        "\n## Slowdown of each application: fast host against cycle-level host\n\n| application | runs | "
        "cycle: GPU | fast | mean error | bias | worst | cycle: turnaround | fast | mean error | bias | "
        "worst |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    applications();
    text_ +=
        "\n## Policies: mean of ANTT over the mixes\n\n| policy | cycle: GPU | fast | cycle: turnaround | "
        "fast |\n|---|---|---|---|---|\n";
    policies();
    text_ += "\n| rank of the policies by ANTT | GPU | turnaround |\n|---|---|---|\n";
    ranks();
  }
  const std::string& text() const { return text_; }
  result::Result& result() { return result_; }
  const std::vector<studies::validate::Row>& rows() const { return rows_; }

 private:
  template <typename Each>
  void each(Each&& one) const {
    for (std::size_t c = 0; c < fast_.size(); ++c)
      for (std::size_t m = 0; m < fast_[c].mixes.size(); ++m)
        for (std::size_t a = 0; a < fast_[c].mixes[m].applications.size(); ++a)
          one(fast_[c].mixes[m].applications[a], cycle_[c].mixes[m].applications[a]);
  }

  void applications() {
    struct Row {
      Errors errors[2];  // turnaround, GPU
      double fast[2] = {}, cycle[2] = {};
    };
    std::map<std::string, Row> rows;
    Row all;
    each([&](const ApplicationResult& fast, const ApplicationResult& cycle) {
      for (Row* row : {&rows[fast.name], &all})
        for (const bool gpu : {false, true}) {
          row->errors[gpu].add(slowdown(fast, gpu), slowdown(cycle, gpu));
          row->fast[gpu] += slowdown(fast, gpu), row->cycle[gpu] += slowdown(cycle, gpu);
        }
    });
    const auto print = [&](const std::string& name, const Row& row) {
      text_ += fmt::format("| {} | {} |", name, row.errors[0].count);
      result::KernelResult& k = result_.kernels.emplace_back();
      k.name = k.demangled = name;
      for (const bool gpu : {true, false}) {
        const Errors& e = row.errors[gpu];
        const auto n = static_cast<double>(e.count);
        text_ += fmt::format(" {:.3f} | {:.3f} | {:.1f} % | {:+.1f} % | {:+.1f} % |", row.cycle[gpu] / n,
                             row.fast[gpu] / n, 100 * e.mean(), 100 * e.bias(), 100 * e.worst);
        k.metrics.set(gpu ? "corun.host.error.gpu_time" : "corun.host.error.turnaround", e.mean());
        studies::validate::Row& kept = rows_.emplace_back(studies::validate::value_row(
            group_, name, gpu ? "slowdown, time on the GPU" : "slowdown, turnaround", "times",
            row.cycle[gpu] / n, row.fast[gpu] / n));
        kept.error = e.mean(), kept.worst = std::abs(e.worst),
        kept.over = fmt::format("mean of {} runs", e.count);
        kept.role = seen, kept.source = "cycle-level host",
        kept.note = fmt::format("bias {:+.1f} %", 100 * e.bias());
        k.metrics.set(gpu ? "corun.host.bias.gpu_time" : "corun.host.bias.turnaround", e.bias());
        k.metrics.set(gpu ? "corun.slowdown.gpu_time" : "corun.slowdown.turnaround", row.cycle[gpu] / n);
      }
      text_ += "\n";
    };
    for (const auto& [name, row] : rows) print(name, row);
    print("all", all);
    result_.total = result_.kernels.back().metrics;
  }

  // Of one mix, or of all: the policies' ANTT on a host.
  static std::vector<double> antts(const std::vector<CorunCell>& cells, bool gpu, std::size_t mix) {
    std::vector<double> out;
    for (const CorunCell& c : cells) out.push_back(std::round(antt(c.mixes[mix], gpu) / same) * same);
    return out;
  }
  static std::vector<double> means(const std::vector<CorunCell>& cells, bool gpu) {
    std::vector<double> out;
    for (const CorunCell& c : cells) out.push_back((gpu ? c.gpu : c.turnaround).judged.antt);
    return out;
  }

  void policies() {
    for (std::size_t c = 0; c < fast_.size(); ++c)
      text_ += fmt::format("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n", cycle_[c].policy,
                           cycle_[c].gpu.judged.antt, fast_[c].gpu.judged.antt,
                           cycle_[c].turnaround.judged.antt, fast_[c].turnaround.judged.antt);
  }

  void ranks() {
    std::string means_row, each_row, best_row, cost_row;
    for (const bool gpu : {true, false}) {
      means_row += fmt::format(" {:.2f} |", rank_correlation(means(cycle_, gpu), means(fast_, gpu)));
      double sum = 0, cost = 0;
      std::size_t differ = 0, best = 0;
      const std::size_t mixes = fast_.front().mixes.size();
      for (std::size_t m = 0; m < mixes; ++m) {
        const std::vector<double> cycle = antts(cycle_, gpu, m), fast = antts(fast_, gpu, m);
        const double least = std::ranges::min(cycle);
        const double chosen = cycle[static_cast<std::size_t>(std::ranges::min_element(fast) - fast.begin())];
        cost += chosen / least - 1;
        if (least == std::ranges::max(cycle)) continue;
        ++differ;
        best += chosen <= least * 1.01 ? 1 : 0;
        sum += rank_correlation(cycle, fast);
      }
      const double mean = differ == 0 ? 0 : sum / static_cast<double>(differ);
      each_row += fmt::format(" {:.2f} ({} mixes) |", mean, differ);
      best_row += fmt::format(" {} of {} |", best, differ);
      cost_row += fmt::format(" {:.1f} % |", 100 * cost / static_cast<double>(mixes));
      result_.total.set(gpu ? "corun.host.rank.gpu_time" : "corun.host.rank.turnaround", mean);
      studies::validate::Row& kept = rows_.emplace_back(
          studies::validate::value_row(group_, "all",
                                       gpu ? "rank of the policies in a mix, time on the GPU"
                                           : "rank of the policies in a mix, turnaround",
                                       "1", 1, mean));
      kept.role = seen, kept.source = "cycle-level host", kept.note = "Spearman's correlation";
    }
    text_ += fmt::format(
        "| Spearman, of the means |{}\n| Spearman in a mix, mean over mixes where policies differ |{}\n| the "
        "fast host's best is best, or within 1 % |{}\n| what its choice costs: ANTT above the best, mean "
        "|{}\n",
        means_row, each_row, best_row, cost_row);
  }

  const std::vector<CorunCell>&fast_, &cycle_;
  const std::string group_;
  std::string text_;
  result::Result result_;
  std::vector<studies::validate::Row> rows_;
};

std::string heading(const HostComparison& o, const CycleApplications& cycle,
                    const std::vector<std::string>& policies) {
  return fmt::format(
      "{} random mixes of {} applications (seed {}), limit {}, {} policies, simulated {}; the fast host has "
      "{}, and the profiles that the simulator measured of each application alone.\n",
      o.mixes, o.size, o.seed, o.limit, policies.size(), cycle.device().device.name,
      o.model.empty() ? "the SMs of that GPU" : "the interference model");
}

// What each application is, alone.
std::string alone_table(const corun::Profiles& profiles) {
  std::string out =
      "\n| application | kernels | launches | time on the GPU | IPC | L2 | DRAM | memory stalls "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, a] : profiles.applications) {
    double time = 0, l2 = 0, dram = 0, instructions = 0, stall = 0, cycles = 0;
    for (const std::string& kernel : a.sequence) {
      const corun::Profile& p = profiles.find(name, kernel)->profile;
      const double t = p.time_ns.value_or(0);
      time += t, l2 += t * p.l2_bandwidth.value_or(0), dram += t * p.dram_bandwidth.value_or(0),
          stall += t * p.memory_stall.value_or(0), instructions += p.instructions.value_or(0);
      if (p.ipc.value_or(0) > 0) cycles += p.instructions.value_or(0) / *p.ipc;
    }
    std::vector<std::string> kernels = a.sequence;
    std::ranges::sort(kernels);
    const auto twice = std::ranges::unique(kernels);
    kernels.erase(twice.begin(), twice.end());
    out += fmt::format("| {} | {} | {} | {} | {:.2f} | {:.1f} GB/s | {:.1f} GB/s | {:.0f} % |\n", name,
                       kernels.size(), a.iterations * a.sequence.size(),
                       report::format_time(time * static_cast<double>(a.iterations)), instructions / cycles,
                       l2 / time / 1e9, dram / time / 1e9, 100 * stall / time);
  }
  return out;
}

}  // namespace

namespace {

std::vector<std::filesystem::path> inputs_of(const HostComparison& o, const CycleApplications& cycle) {
  std::vector<std::filesystem::path> out = {cycle.file()};
  if (!o.model.empty()) out.emplace_back(o.model);
  return out;
}

// Runs the applications once, each with its own handling of signals.
CorunStudy prepared(CycleApplications& cycle, const HostComparison& o) {
  CorunStudy study;
  study.policies = o.policies;
  if (study.policies.empty())
    for (const corun::Policy* p : corun::policies()) study.policies.emplace_back(p->name);
  for (const std::string& p : study.policies) corun::policy(p);  // throws
  study.limits = {o.limit};
  study.shorten = 1;
  if (!o.model.empty()) study.options.model = corun::load_model(o.model);
  study.mixes = corun::random_mixes(cycle.names(), o.mixes, o.size, o.seed);
  cycle.record(study.mixes, o.keep.output);
  return study;
}

AreaReport compared(CycleApplications& cycle, CorunStudy study, const HostComparison& o,
                    const volatile bool* stop) {
  study.stop = stop;
  const Progress progress("simulating", o.keep.output);
  cycle.run_alone(stop, study);
  const std::vector<CorunCell> slow = run_study(study);
  study.host = {};
  if (o.model.empty()) study.options.device = &cycle.device().device;
  study.options.sharing = sm_sharing(cycle.configuration(), cycle.device().device);
  const std::vector<CorunCell> fast = run_study(study);
  HostReport report(fast, slow, group_of(o));
  report.run();
  AreaReport out{"corun-hosts",
                 heading(o, cycle, study.policies) + alone_table(study.profiles) + report.text(),
                 report.result(),
                 {},
                 report.rows()};
  result::Manifest& m = out.result.manifest;
  m.mode = "corun";
  m.seed = o.seed;
  m.device = cycle.device().device.name;
  m.configuration = configuration_of(cycle.configuration(), cycle.device());
  m.inputs = hash_inputs(inputs_of(o, cycle));
  return out;
}

// What changes what is compared. Rows of other applications are kept beside those of the examples, for as
// many mixes as one likes.
std::optional<std::string> chosen_option(const HostComparison& o) {
  const HostComparison usual;
  const std::pair<const char*, bool> all[] = {{"--mixes", o.mixes != usual.mixes && !o.keep.recorded},
                                              {"--size", o.size != usual.size},
                                              {"--limit", o.limit != usual.limit},
                                              {"--seed", o.seed != usual.seed},
                                              {"--policy", !o.policies.empty()},
                                              {"--applications", !o.applications.empty() && !o.keep.recorded},
                                              {"--model", !o.model.empty()},
                                              {"--gpu", o.given.get("gpu") != "titanx-maxwell"},
                                              {"--set", o.given.has("set")},
                                              {"--config", o.given.has("config")},
                                              {"--sharing", o.given.has("sharing")}};
  for (const auto& [name, given] : all)
    if (given) return name;
  return std::nullopt;
}

}  // namespace

AreaReport host_area(const Command& app, const HostComparison& o, const volatile bool* stop) {
  CycleApplications cycle(app, o.applications, o.given);
  return compared(cycle, prepared(cycle, o), o, stop);
}

Outcome compare_hosts(const Command& app, HostComparison o) {
  const RunClock clock;
  o.keep.recorded = o.keep.whole_groups = o.keep.update && !o.applications.empty();
  o.keep.recorded_how =
      "Rows of mixes of applications that are not part of simtlab: `simtlab validate corun --host cycle "
      "--applications FILE.toml --update` replaces those of \"mixes of FILE\".";
  check_validation(o.keep, {"corun-hosts"}, chosen_option(o));
  CycleApplications cycle(app, o.applications, o.given);
  check_inputs(o.keep.output, inputs_of(o, cycle));
  check_inputs(o.keep.output, files_of(cycle.configuration(), cycle.device()));
  CorunStudy study = prepared(cycle, o);
  std::vector<AreaReport> reports;
  const Signals signals(cycle.configuration().options.max_time_ns * 1e-9);
  try {
    reports.push_back(compared(cycle, std::move(study), o, signals.flag()));
  } catch (const Error& e) {
    if (e.code() == ExitCode::interrupted && signals.timed_out())
      throw time_limit(cycle.configuration().options, "");
    throw;
  }
  return end_validation(std::move(reports), clock, o.keep);
}

}  // namespace simtlab::studies
