#include "corun/cycle/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace simtlab::corun::cycle {
namespace {

// Of the slots that are lost to a reason, those lost to memory: what nvprof's reasons "memory dependency" and
// "memory throttle" add up to.
std::optional<double> memory_stall(const result::Metrics& m) {
  double memory = 0, all = 0;
  bool any = false;
  for (const result::Metrics::Value& v : m.values()) {
    if (!v.name.starts_with("stall.")) continue;
    const std::string reason = v.name.substr(6);
    if (reason == "selected" || reason == "no_warp") continue;
    any = true;
    all += v.real;
    for (const char* name : {"long_scoreboard", "lg_throttle", "tex_throttle", "membar", "drain"})
      if (reason == name) memory += v.real;
  }
  if (!any) return std::nullopt;
  return all > 0 ? std::clamp(memory / all, 0.0, 1.0) : 0;
}

}  // namespace

ShapedKernel shape_of(const result::KernelResult& k) {
  return {k.name, {{k.grid[0], k.grid[1], k.grid[2]}, {k.block[0], k.block[1], k.block[2]}, k.shared_bytes}};
}

std::vector<std::string> step_names(std::span<const ShapedKernel> launches) {
  std::map<std::string, const ShapedKernel*> first;
  std::map<std::string, bool> several;
  for (const ShapedKernel& l : launches) {
    const auto [at, is_new] = first.try_emplace(l.kernel, &l);
    if (!is_new && !(*at->second == l)) several[l.kernel] = true;
  }
  std::vector<std::string> out;
  for (const ShapedKernel& l : launches)
    out.push_back(several.contains(l.kernel) ? fmt::format("{} {}", l.kernel, corun::text_of(l.shape))
                                             : l.kernel);
  return out;
}

corun::Profile profile_of(const result::KernelResult& k, const device::Device& device) {
  corun::Profile p;
  p.grid = {k.grid[0], k.grid[1], k.grid[2]};
  p.block = {k.block[0], k.block[1], k.block[2]};
  p.registers = k.registers;
  p.shared_bytes = static_cast<double>(k.shared_bytes);
  const result::Metrics& m = k.metrics;
  const double launches = k.launches;
  const auto time = m.get("gpu.time"), cycles = m.get("gpu.cycles"),
             instructions = m.get("gpu.instructions.warp"), l2 = m.get("l2.bytes");
  if (instructions) p.instructions = *instructions / launches;
  if (time && *time > 0) {
    p.time_ns = *time / launches;
    if (l2) p.l2_bandwidth = *l2 / (*time * 1e-9);
    const auto read = m.get("dram.read.bytes"), written = m.get("dram.write.bytes");
    if (read && written) p.dram_bandwidth = (*read + *written) / (*time * 1e-9);
  }
  if (instructions && cycles && *cycles > 0) p.ipc = *instructions / *cycles;
  const auto occupancy = m.get("occupancy.achieved"), active = m.get("gpu.sm.active");
  if (occupancy && active) p.threads = *occupancy * *active * device.sm.count * device.sm.max_threads;
  p.memory_stall = memory_stall(m);
  return p;
}

void add_cold(const result::KernelResult& k, const device::Device& device, corun::Profile& p) {
  const result::Metrics& m = k.metrics;
  if (const auto time = m.get("gpu.time"); time && *time > 0) p.cold_time_ns = *time;
  const auto reads = m.get("l2.read.misses"), writes = m.get("l2.write.misses");
  if (reads && writes) p.footprint = (*reads + *writes) * device.l2.sector_bytes;  // both count sectors
}

}  // namespace simtlab::corun::cycle
