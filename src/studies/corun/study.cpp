#include "studies/corun/study.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/format.h"

namespace simtlab::studies {
namespace {

using corun::ApplicationResult;
using corun::Judged;
using corun::MixResult;

std::vector<double> slowdowns(const MixResult& mix, bool gpu) {
  std::vector<double> out;
  for (const ApplicationResult& a : mix.applications)
    out.push_back(gpu ? a.slowdown_gpu() : a.slowdown_turnaround());
  return out;
}

double speedup(const MixResult& reference, const MixResult& mix, bool gpu) {
  const std::vector<double> before = slowdowns(reference, gpu), after = slowdowns(mix, gpu);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) ratios.push_back(before[i] / after[i]);
  return corun::geometric_mean(ratios);
}

CorunFigures figures(const std::vector<MixResult>& mixes, const std::vector<double>& speedups, bool gpu) {
  CorunFigures out;
  const auto n = static_cast<double>(mixes.size());
  for (std::size_t i = 0; i < mixes.size(); ++i) {
    const Judged j = corun::judge(slowdowns(mixes[i], gpu));
    out.judged.antt += j.antt / n;
    out.judged.stp += j.stp / n;
    out.judged.gm += j.gm / n;
    out.judged.fairness += j.fairness / n;
    out.judged.jain += j.jain / n;
    out.speedup += speedups[i] / n;
  }
  return out;
}

void finish(CorunCell& cell, const std::vector<MixResult>& reference) {
  double waited = 0, share = 0;
  std::size_t applications = 0;
  for (std::size_t i = 0; i < cell.mixes.size(); ++i) {
    cell.speedups_gpu.push_back(speedup(reference[i], cell.mixes[i], true));
    cell.speedups_turnaround.push_back(speedup(reference[i], cell.mixes[i], false));
    for (const ApplicationResult& a : cell.mixes[i].applications) {
      waited += a.waited_ns;
      share += a.waited_ns / a.turnaround_ns;
      cell.wait_longest = std::max(cell.wait_longest, a.longest_wait_ns);
      cell.launches += a.launches;
      ++applications;
    }
  }
  cell.wait_mean = waited / static_cast<double>(cell.launches);
  cell.wait_share = share / static_cast<double>(applications);
  cell.gpu = figures(cell.mixes, cell.speedups_gpu, true);
  cell.turnaround = figures(cell.mixes, cell.speedups_turnaround, false);
}

std::vector<MixResult> run_all(const CorunStudy& study, const std::string& policy, std::uint32_t limit) {
  std::vector<MixResult> out;
  corun::FastOptions options = study.options;
  options.settings.limit = limit;
  for (const std::vector<std::string>& mix : study.mixes) {
    if (study.stop != nullptr && *study.stop)
      throw Error(ExitCode::interrupted, "interrupted", "stopped before all mixes had run");
    std::vector<corun::Workload> workloads =
        study.workloads ? study.workloads(mix) : corun::workloads(study.profiles, mix, study.shorten);
    for (corun::Workload& w : workloads)
      for (const auto& [name, priority] : study.priorities)
        if (w.name == name) w.priority = priority;
    out.push_back(study.host ? study.host(workloads, corun::policy(policy), options)
                             : corun::run_fast(workloads, corun::policy(policy), options));
    if (study.told) study.told();
  }
  return out;
}

}  // namespace

std::size_t runs_of(const CorunStudy& study) {
  // That is the reference in any case
  const auto others = std::ranges::count_if(study.policies, [](const std::string& p) { return p != "mps"; });
  return study.mixes.size() * study.limits.size() * (1 + static_cast<std::size_t>(others));
}

void run_study(const CorunStudy& study, std::vector<CorunCell>& out) {
  for (const std::uint32_t limit : study.limits) {
    CorunStudy silent = study;  // a log is of the policy that was asked for
    silent.options.log = {};
    const bool has_mps = std::ranges::find(study.policies, "mps") != study.policies.end();
    const std::vector<MixResult> reference =
        run_all(has_mps && study.policies.size() == 1 ? study : silent, "mps", limit);
    for (const std::string& policy : study.policies) {
      CorunCell cell;
      cell.policy = policy;
      cell.limit = limit;
      cell.size = study.mixes.front().size();
      cell.mixes = policy == "mps" ? reference : run_all(study, policy, limit);
      finish(cell, reference);
      out.push_back(std::move(cell));
    }
  }
}

std::vector<CorunCell> run_study(const CorunStudy& study) {
  std::vector<CorunCell> out;
  run_study(study, out);
  return out;
}

namespace {

// Of all that a mix moved.
struct Moved {
  double l2 = 0, dram = 0;
};

Moved moved_by(const MixResult& mix) {
  Moved out;
  for (const ApplicationResult& a : mix.applications)
    for (const corun::KernelShare& k : a.kernels)
      if (k.together) out.l2 += k.together->l2_bytes, out.dram += k.together->dram_bytes;
  return out;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }
double miss_rate(const corun::Traffic& t) { return share(t.l2_misses, t.l2_reads); }

// A kernel's name without its parameters, but with its shape if that is part of it.
std::string short_name(const std::string& kernel) {
  const std::size_t shape = kernel.find(" <<<");
  const std::string plain = kernel.substr(0, std::min(kernel.find('('), shape)) +
                            (shape == std::string::npos ? "" : kernel.substr(shape));
  return plain.starts_with("void ") ? plain.substr(5) : plain;
}

void set_kernel(const corun::KernelShare& k, const Moved& moved, result::Metrics& m) {
  m.set("corun.launches", k.launches);
  m.set("corun.time.alone", k.solo_ns);
  m.set("corun.time.together", k.gpu_ns);
  m.set("corun.slowdown.gpu_time", k.slowdown());
  m.set("corun.wait.mean", k.waited_ns / static_cast<double>(k.launches));
  if (!k.together) return;
  m.set("corun.l2.share", share(k.together->l2_bytes, moved.l2));
  m.set("corun.dram.share", share(k.together->dram_bytes, moved.dram));
  m.set("corun.l2.miss_rate.together", miss_rate(*k.together));
  if (k.alone) m.set("corun.l2.miss_rate.alone", miss_rate(*k.alone));
}

void add_kernel_rows(const CorunCell& cell, const std::string& cell_name, result::Result& out) {
  for (std::size_t mix = 0; mix < cell.mixes.size(); ++mix) {
    const Moved moved = moved_by(cell.mixes[mix]);
    for (std::size_t i = 0; i < cell.mixes[mix].applications.size(); ++i) {
      const ApplicationResult& a = cell.mixes[mix].applications[i];
      for (const corun::KernelShare& k : a.kernels) {
        result::KernelResult& row = out.kernels.emplace_back();
        row.name = row.demangled =
            fmt::format("{}, mix {}: {} {}/{}", cell_name, mix + 1, i + 1, a.name, short_name(k.name));
        set_kernel(k, moved, row.metrics);
      }
    }
  }
}

std::string corun_kernel_table(const std::vector<CorunCell>& cells) {
  std::string out =
      "\n| mix | application | kernel | limit | policy | launches | alone | together | slowdown | wait, mean "
      "| of L2 traffic | of DRAM traffic | L2 read misses alone | together |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const CorunCell& c : cells)
    for (std::size_t mix = 0; mix < c.mixes.size(); ++mix) {
      const Moved moved = moved_by(c.mixes[mix]);
      for (const ApplicationResult& a : c.mixes[mix].applications)
        for (const corun::KernelShare& k : a.kernels)
          out += fmt::format(
              "| {} | {} | {} | {} | {} | {} | {} | {} | {:.3f} | {} | {:.1f} % | {:.1f} % | {:.1f} % | "
              "{:.1f} % |\n",
              mix + 1, a.name, short_name(k.name), c.limit, c.policy, k.launches,
              report::format_time(k.solo_ns / static_cast<double>(k.launches)),
              report::format_time(k.gpu_ns / static_cast<double>(k.launches)), k.slowdown(),
              report::format_time(k.waited_ns / static_cast<double>(k.launches)),
              100 * share(k.together->l2_bytes, moved.l2), 100 * share(k.together->dram_bytes, moved.dram),
              100 * miss_rate(*k.alone), 100 * miss_rate(*k.together));
    }
  return out +
         "\nalone, together: time on the GPU of a launch, mean; shares are of all that the mix moved.\n";
}

// The first launches of each mix, and how many more there were.
void add_launches(const CorunCell& c, result::KernelResult& k) {
  result::Table table{"launches", {}};
  for (std::size_t mix = 0; mix < c.mixes.size(); ++mix)
    for (const corun::LaunchRecord& l : c.mixes[mix].launches) {
      const ApplicationResult& a = c.mixes[mix].applications[l.process];
      table.rows.push_back({static_cast<std::uint64_t>(mix + 1), static_cast<std::uint64_t>(l.process + 1),
                            a.name, std::uint64_t{1}, short_name(a.kernels[l.kernel].name), l.asked,
                            l.granted, l.ended});
    }
  if (table.rows.empty()) return;
  k.metrics.set("corun.launches.left_out", c.launches - table.rows.size());
  k.tables.push_back(std::move(table));
}

// What the thesis' script writes of each mix: its time, and the figures of it alone.
void add_mix_row(const CorunCell& c, std::size_t mix, const std::string& cell_name, result::Result& out) {
  const MixResult& m = c.mixes[mix];
  result::KernelResult& row = out.kernels.emplace_back();
  row.name = row.demangled = fmt::format("{}, mix {}", cell_name, mix + 1);
  row.metrics.set("corun.makespan", m.makespan_ns);
  const Judged gpu = corun::judge(slowdowns(m, true)), turnaround = corun::judge(slowdowns(m, false));
  row.metrics.set("corun.antt.gpu_time", gpu.antt);
  row.metrics.set("corun.antt.turnaround", turnaround.antt);
  row.metrics.set("corun.stp.gpu_time", gpu.stp);
  row.metrics.set("corun.stp.turnaround", turnaround.stp);
  row.metrics.set("corun.speedup_gm.gpu_time", c.speedups_gpu[mix]);
  row.metrics.set("corun.speedup_gm.turnaround", c.speedups_turnaround[mix]);
  row.metrics.set("corun.speedup_solo.gpu_time", gpu.gm);
  row.metrics.set("corun.speedup_solo.turnaround", turnaround.gm);
}

std::string mix_table(const std::vector<CorunCell>& cells) {
  std::string out =
      "\n| mix | applications | limit | policy | time | ANTT | STP | speed-up | turnaround: ANTT | STP | "
      "speed-up |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const CorunCell& c : cells)
    for (std::size_t mix = 0; mix < c.mixes.size(); ++mix) {
      const MixResult& m = c.mixes[mix];
      const Judged gpu = corun::judge(slowdowns(m, true)), turnaround = corun::judge(slowdowns(m, false));
      out += fmt::format("| {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n",
                         mix + 1, c.size, c.limit, c.policy, report::format_time(m.makespan_ns), gpu.antt,
                         gpu.stp, c.speedups_gpu[mix], turnaround.antt, turnaround.stp,
                         c.speedups_turnaround[mix]);
    }
  return out;
}

// Only the cycle-level host counts what kernels move.
bool counts_traffic(const CorunCell& cell) {
  return cell.mixes.front().applications.front().kernels.front().together.has_value();
}

}  // namespace

void set_metrics(const CorunCell& c, result::Metrics& m) {
  m.set("corun.mixes", static_cast<std::uint64_t>(c.mixes.size()));
  m.set("corun.applications", static_cast<std::uint64_t>(c.size));
  m.set("corun.limit", static_cast<std::uint64_t>(c.limit));
  m.set("corun.launches", c.launches);
  const auto both = [&](const std::string& name, double gpu, double turnaround) {
    m.set("corun." + name + ".gpu_time", gpu);
    m.set("corun." + name + ".turnaround", turnaround);
  };
  both("antt", c.gpu.judged.antt, c.turnaround.judged.antt);
  both("stp", c.gpu.judged.stp, c.turnaround.judged.stp);
  both("speedup_gm", c.gpu.speedup, c.turnaround.speedup);
  both("speedup_solo", c.gpu.judged.gm, c.turnaround.judged.gm);
  both("fairness", c.gpu.judged.fairness, c.turnaround.judged.fairness);
  both("jain", c.gpu.judged.jain, c.turnaround.judged.jain);
  m.set("corun.wait.mean", c.wait_mean);
  m.set("corun.wait.longest", c.wait_longest);
  m.set("corun.wait.share", c.wait_share);
}

result::Result result_of(const std::vector<CorunCell>& cells, bool applications) {
  result::Result out;
  for (const CorunCell& c : cells) {
    result::KernelResult& k = out.kernels.emplace_back();
    k.name = k.demangled = fmt::format("{} of {}, limit {}", c.policy, c.size, c.limit);
    set_metrics(c, k.metrics);
    if (cells.size() == 1) out.total = k.metrics;
    add_launches(c, k);
    if (!applications) continue;
    const std::string cell_name = k.name;
    for (std::size_t mix = 0; mix < c.mixes.size(); ++mix) {
      add_mix_row(c, mix, cell_name, out);
      for (std::size_t i = 0; i < c.mixes[mix].applications.size(); ++i) {
        const ApplicationResult& a = c.mixes[mix].applications[i];
        result::KernelResult& row = out.kernels.emplace_back();
        row.name = row.demangled = fmt::format("{}, mix {}: {} {}", cell_name, mix + 1, i + 1, a.name);
        row.metrics.set("corun.time.alone", a.solo_ns);
        row.metrics.set("corun.time.together", a.gpu_ns);
        row.metrics.set("corun.launches", a.launches);
        row.metrics.set("corun.slowdown.gpu_time", a.slowdown_gpu());
        row.metrics.set("corun.slowdown.turnaround", a.slowdown_turnaround());
        row.metrics.set("corun.wait.mean", a.waited_ns / static_cast<double>(a.launches));
        row.metrics.set("corun.wait.longest", a.longest_wait_ns);
        row.metrics.set("corun.wait.share", a.waited_ns / a.turnaround_ns);
        if (a.copied_alone_ns > 0)
          row.metrics.set("corun.copies.alone", a.copied_alone_ns),
              row.metrics.set("corun.copies.together", a.copied_ns);
      }
    }
    if (counts_traffic(c)) add_kernel_rows(c, cell_name, out);
  }
  return out;
}

std::string text_of(const std::vector<CorunCell>& cells, bool applications) {
  std::string out =
      "First by time on the GPU (what the thesis counts: waiting is free), then by turnaround (what users "
      "feel).\n\n"
      "| size | limit | policy | ANTT | STP | speed-up | max/min | Jain | turnaround: ANTT | STP | speed-up "
      "| "
      "max/min | Jain | wait, mean | longest | share |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const auto figures = [](const CorunFigures& f) {
    return fmt::format("{:.2f} | {:.2f} | {:.3f} | {:.2f} | {:.3f}", f.judged.antt, f.judged.stp, f.speedup,
                       f.judged.fairness, f.judged.jain);
  };
  for (const CorunCell& c : cells)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.1f} % |\n", c.size, c.limit, c.policy,
                       figures(c.gpu), figures(c.turnaround), report::format_time(c.wait_mean),
                       report::format_time(c.wait_longest), c.wait_share * 100);
  out +=
      "\nspeed-up: geometric mean over the applications against mps with the same limit; figures are means "
      "over the mixes.\n";
  if (!applications) return out;
  out += mix_table(cells);
  out +=
      "\n| mix | application | limit | policy | on the GPU | slowdown | of turnaround | launches | wait, "
      "mean "
      "| longest |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const CorunCell& c : cells)
    for (std::size_t mix = 0; mix < c.mixes.size(); ++mix)
      for (const ApplicationResult& a : c.mixes[mix].applications)
        out += fmt::format("| {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {} | {} | {} |\n", mix + 1, a.name,
                           c.limit, c.policy, report::format_time(a.gpu_ns), a.slowdown_gpu(),
                           a.slowdown_turnaround(), a.launches,
                           report::format_time(a.waited_ns / static_cast<double>(a.launches)),
                           report::format_time(a.longest_wait_ns));
  if (counts_traffic(cells.front())) out += corun_kernel_table(cells);
  return out;
}

}  // namespace simtlab::studies
