#include "studies/corun/whole_application.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/format.h"

namespace simtlab::studies {
namespace {

using Value = std::optional<double> corun::Profile::*;
constexpr Value weighted[] = {&corun::Profile::ipc, &corun::Profile::threads, &corun::Profile::l2_bandwidth,
                              &corun::Profile::dram_bandwidth, &corun::Profile::memory_stall};

// Of one that all kernels have.
std::optional<double> sum(const std::vector<LaunchedKernel>& kernels, Value value) {
  double out = 0;
  for (const LaunchedKernel& k : kernels) {
    const std::optional<double>& one = k.profile->*value;
    if (!one) return std::nullopt;
    out += k.launches * *one;
  }
  return out;
}

std::string cell(const std::optional<double>& value, std::string (*shown)(double)) {
  return value ? shown(*value) : std::string("-");
}
std::string plain(double v) { return fmt::format("{:.4g}", v); }

}  // namespace

WholeApplication whole_of(const std::vector<LaunchedKernel>& kernels) {
  WholeApplication out;
  for (const LaunchedKernel& k : kernels) out.launches += k.launches;
  out.all.instructions = sum(kernels, &corun::Profile::instructions);
  out.all.time_ns = sum(kernels, &corun::Profile::time_ns);
  if (!out.all.time_ns || *out.all.time_ns <= 0) return out;
  for (const LaunchedKernel& k : kernels)
    out.weights[k.name] += k.launches * *k.profile->time_ns / *out.all.time_ns;
  for (const Value value : weighted) {
    if (std::ranges::any_of(kernels, [&](const LaunchedKernel& k) { return !(k.profile->*value); })) continue;
    double mean = 0;
    for (const LaunchedKernel& k : kernels)
      mean += k.launches * *k.profile->time_ns / *out.all.time_ns * *(k.profile->*value);
    out.all.*value = mean;
  }
  return out;
}

WholeApplication whole_of(const corun::Profiles& profiles, const corun::Application& application) {
  std::map<std::string, double> launches;
  for (const std::string& step : application.sequence) ++launches[step];
  std::vector<LaunchedKernel> kernels;
  for (const auto& [name, times] : launches) {
    const corun::KernelProfile* const k = profiles.find(application.name, name);
    SIMTLAB_ASSERT(k != nullptr, "a sequence is of kernels of the file");
    kernels.push_back({name, times * static_cast<double>(application.iterations), &k->profile});
  }
  return whole_of(kernels);
}

std::string profile_cells(const corun::Profile& p) {
  return fmt::format("{} | {} | {} | {} | {} | {} | {}", cell(p.time_ns, report::format_time),
                     cell(p.instructions, report::format_count), cell(p.ipc, plain), cell(p.threads, plain),
                     cell(p.l2_bandwidth, report::format_rate), cell(p.dram_bandwidth, report::format_rate),
                     cell(p.memory_stall, report::format_share));
}

std::string weight_cell(const WholeApplication* whole, const std::string& kernel) {
  if (whole == nullptr) return "-";
  const auto at = whole->weights.find(kernel);
  return at == whole->weights.end() ? "-" : report::format_share(at->second);
}

void set_profile_metrics(const corun::Profile& p, result::Metrics& to) {
  for (const auto& [metric, value] : {std::pair{"gpu.time", p.time_ns},
                                      {"gpu.instructions.warp", p.instructions},
                                      {"dram.bandwidth", p.dram_bandwidth}})
    if (value) to.set(metric, *value);
}

}  // namespace simtlab::studies
