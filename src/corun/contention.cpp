#include "corun/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ptx/op.h"

namespace simtlab::corun {
namespace {

constexpr double fullest = 0.98;  // utilisation that a kernel alone is taken to reach at most
constexpr double most_blocks = 1e15, shortest_ns = 1e-3, longest_ns = 1e15;
constexpr int most_sweeps = 30;
constexpr double same = 1e-4;  // delays that differ by less are one

// Utilisation at which a server's delay is so long.
double utilisation(double delay, double steepness) { return (delay - 1) / (delay - 1 + steepness); }

// The delay of server k at which what the crowds ask for is what it gives at that delay; the delays of the
// others are kept. Newton from below converges: what is asked for is convex and falls with the delay, what is
// given is concave and rises.
double delay_of(const Servers& s, std::span<const Crowd> crowds,
                const std::array<double, Servers::count>& delays, std::size_t k, double y, double capacity) {
  double asked = 0;
  for (const Crowd& c : crowds) asked += c.blocks * c.grid->work[k] / c.grid->block_ns;
  if (asked <= 0) return 1;
  for (int i = 0; i < 3; ++i) {
    double sum = 0, slope = 0;
    for (const Crowd& c : crowds) {
      const GridWork& g = *c.grid;
      double stretch = g.share[k] * y;
      for (std::size_t o = 0; o < Servers::count; ++o)
        if (o != k) stretch += g.share[o] * c.delay(delays, o);
      const double load = c.blocks * g.work[k] / (g.block_ns * capacity * stretch);
      sum += load;
      slope -= load * g.share[k] / stretch;
    }
    const double over = y - 1 + s.steepness[k];
    const double step = (sum - utilisation(y, s.steepness[k])) / (slope - s.steepness[k] / (over * over));
    y = std::max(1.0, y - step);
    if (std::abs(step) < same) break;
  }
  return y;
}

// Waves of a grid of its own, as it is alone: full ones, and the rest.
double time_alone(const GridWork& g, const Servers& s, std::array<double, Servers::count>& full,
                  std::array<double, Servers::count>& part) {
  const std::uint64_t waves = g.blocks / g.most, rest = g.blocks % g.most;
  double out = 0;
  if (waves > 0) {
    Crowd c{&g, static_cast<double>(g.most)};
    settle(s, {&c, 1}, full);
    out += static_cast<double>(waves) * g.block_ns * c.stretch;
  }
  if (rest > 0) {
    Crowd c{&g, static_cast<double>(rest)};
    settle(s, {&c, 1}, part);
    out += g.block_ns * c.stretch;
  }
  return out;
}

// Warp instructions an SM takes in a cycle. Schedulers that issue two at once find lanes for the second only
// where there are more than they fill with the first: those of an access beside those of arithmetic
// (Maxwell), or more of arithmetic than schedulers (Kepler).
double issue_per_cycle(const device::Device& d) {
  const auto lanes = [&](ptx::OpClass c) { return d.throughput[static_cast<std::size_t>(c)] / 32; };
  const double one = d.sm.issuing_schedulers();
  return std::min(one * d.sm.issue_width,
                  std::max(one, lanes(ptx::OpClass::fp32) + lanes(ptx::OpClass::load)));
}

}  // namespace

Servers servers_of(const device::Device& d) {
  Servers out;
  const double cycles = d.sm_clock_hz * 1e-9;  // a nanosecond
  out.capacity[Servers::issue] = static_cast<double>(d.sm.count) * issue_per_cycle(d) * cycles;
  out.capacity[Servers::l2] = d.l2.bytes_per_cycle * cycles;
  out.capacity[Servers::dram] = d.dram.bandwidth * 1e-9;
  out.l2_latency = d.l2.latency;
  out.dram_latency = std::max(d.dram.latency - d.l2.latency, 0.0);
  return out;
}

void settle(const Servers& s, std::span<Crowd> crowds, std::array<double, Servers::count>& delays) {
  const auto shared = static_cast<std::size_t>(
      std::ranges::find_if(crowds, [](const Crowd& c) { return c.own > 0; }) - crowds.begin());
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double moved = 0;
    const auto set = [&](double& delay, std::span<const Crowd> of, std::size_t k, double capacity) {
      const double y = delay_of(s, of, delays, k, delay, capacity);
      moved = std::max(moved, std::abs(y - delay));
      delay = y;
    };
    set(delays[Servers::issue], crowds.first(shared), Servers::issue, s.capacity[Servers::issue]);
    for (Crowd& c : crowds.subspan(shared))
      set(c.issue_delay, {&c, 1}, Servers::issue, s.capacity[Servers::issue] * c.own);
    for (const std::size_t k : {Servers::l2, Servers::dram}) set(delays[k], crowds, k, s.capacity[k]);
    if (moved < same) break;
  }
  for (Crowd& c : crowds) {
    c.stretch = 0;
    for (std::size_t k = 0; k < Servers::count; ++k) c.stretch += c.grid->share[k] * c.delay(delays, k);
  }
}

GridWork grid_work(const Profile& p, const device::Device& d, const Servers& s) {
  GridWork g;
  const auto& grid = *p.grid;
  const auto& block = *p.block;
  const double threads = static_cast<double>(block[0]) * block[1] * block[2],
               blocks = static_cast<double>(grid[0]) * grid[1] * grid[2];
  const double registers = p.registers.value_or(0), shared = p.shared_bytes.value_or(0), time = *p.time_ns;
  if (blocks > most_blocks || time < shortest_ns || time > longest_ns)
    throw Error(
        ExitCode::bad_input, "corun-profiles",
        fmt::format("a kernel of {:g} blocks that takes {:g} ns is none that runs on SMs", blocks, time),
        fmt::format("at most {:g} blocks, {:g} to {:g} ns", most_blocks, shortest_ns, longest_ns));
  if (threads <= d.sm.max_threads_per_block && registers <= d.sm.registers &&
      shared <= static_cast<double>(d.sm.shared_bytes))
    g.occupancy =
        device::occupancy(d, static_cast<std::uint32_t>(threads), static_cast<std::uint32_t>(registers),
                          static_cast<std::uint64_t>(shared));
  if (g.occupancy.blocks_per_sm == 0)
    throw Error(ExitCode::bad_input, "corun-profiles",
                fmt::format("a block of {:g} threads, {:g} registers a thread and {:g} bytes of shared "
                            "memory fits on no SM of {}",
                            threads, registers, shared, d.name));
  g.blocks = static_cast<std::uint64_t>(blocks);
  g.block_warps = (static_cast<std::uint32_t>(threads) + 31) / 32;
  g.most = std::min(g.blocks, std::uint64_t{g.occupancy.blocks_per_sm} * d.sm.count);
  const double rate[] = {*p.ipc * d.sm_clock_hz * 1e-9, *p.l2_bandwidth * 1e-9, *p.dram_bandwidth * 1e-9};
  std::array<double, Servers::count> used{};
  for (std::size_t k = 0; k < Servers::count; ++k) {
    used[k] = std::min(rate[k] / s.capacity[k], fullest);
    g.work[k] = used[k] * s.capacity[k] * time / blocks;
  }
  // A kernel that fills a server by itself waits for it, whatever the reasons of its stalls say.
  const double memory = std::max({*p.memory_stall, used[Servers::l2], used[Servers::dram]});
  const double misses = rate[Servers::l2] > 0 ? std::min(1.0, rate[Servers::dram] / rate[Servers::l2]) : 1;
  const double far = std::max(misses * s.dram_latency / (s.l2_latency + misses * s.dram_latency),
                              used[Servers::dram] >= used[Servers::l2] ? used[Servers::dram] : 0.0);
  g.share = {1 - memory, memory * (1 - far), memory * far};
  // The shortest block_ns is 0, the longest that of a launch that nothing delays.
  double low = 0, high = time / std::ceil(blocks / static_cast<double>(g.most));
  std::array<double, Servers::count> full{1, 1, 1}, part{1, 1, 1};
  for (int i = 0; i < 40; ++i) {
    g.block_ns = (low + high) / 2;
    (time_alone(g, s, full, part) < time ? low : high) = g.block_ns;
  }
  return g;
}

Profile cold_profile(const Profile& warm) {
  Profile out = warm;
  const double before = *warm.time_ns, after = std::max(before, *warm.cold_time_ns);
  out.time_ns = after;
  out.ipc = *warm.ipc * before / after;
  out.l2_bandwidth = *warm.l2_bandwidth * before / after;
  out.dram_bandwidth = std::max(*warm.dram_bandwidth * before, *warm.footprint * 1e9) / after;
  // What it takes longer it waits for memory.
  out.memory_stall = (*warm.memory_stall * before + after - before) / after;
  return out;
}

GridWork between(const GridWork& warm, const GridWork& cold, double missing) {
  GridWork out = warm;
  const auto mean = [&](double a, double b) { return a + missing * (b - a); };
  out.block_ns = mean(warm.block_ns, cold.block_ns);
  for (std::size_t k = 0; k < Servers::count; ++k) {
    out.work[k] = mean(warm.work[k], cold.work[k]);
    out.share[k] = mean(warm.share[k], cold.share[k]);
  }
  return out;
}

}  // namespace simtlab::corun
