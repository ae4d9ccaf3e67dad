#include "models/loops/choose.h"

#include <algorithm>
#include <cmath>

#include "models/loops/description.h"
#include "stream/coalescer.h"

namespace simtlab::models::loops {
namespace {

constexpr std::uint32_t warp = 32;
constexpr double worth_staging = 1.5;  // reuse below that is not worth the barrier

std::uint32_t blocks_per_sm(const Code& code, std::uint32_t threads, const device::Device& device) {
  return device::occupancy(device, threads, std::max(code.registers, 16u), 0).blocks_per_sm;
}

// Accesses to one array with the same reuse read parts of one tile.
std::vector<Staging> merged(const Description& nest, std::vector<Staging> all) {
  std::vector<Staging> out;
  for (const Staging& s : all) {
    const auto same = std::ranges::find_if(out, [&](const Staging& x) {
      return nest.accesses[at(x.access)].input == nest.accesses[at(s.access)].input && x.reuse == s.reuse;
    });
    if (same == out.end()) {
      out.push_back(s);
    } else {
      same->saved += s.saved;
      same->bytes = std::max(same->bytes, s.bytes);
    }
  }
  return out;
}

}  // namespace

std::vector<std::vector<int>> mappings(const Description& nest, const Parallelism& parallel,
                                       bool assume_parallel) {
  std::vector<int> usable;
  const std::vector<int> prefix = nest.prefix();
  for (std::size_t i = 0; i < prefix.size(); ++i)
    if (parallel.loops[i] == Verdict::parallel || assume_parallel) usable.push_back(prefix[i]);
  std::vector<std::vector<int>> out;
  for (const int x : usable) out.push_back({x});
  for (const int x : usable)
    for (const int y : usable)
      if (x != y) out.push_back({x, y});
  for (const int x : usable)
    for (const int y : usable)
      for (const int z : usable)
        if (x != y && y != z && x != z) out.push_back({x, y, z});
  return out;
}

BlockSizes block_sizes(const Code& code, std::uint64_t threads, const device::Device& device) {
  BlockSizes out;
  // Warps that hide a latency: as many as can be issued while one waits (CUDA Programming Guide 5.2.3), fewer
  // by what a warp has ready itself.
  const double per_cycle = std::max(1.0, device.sm.issuing_schedulers() * device.sm.issue_width);
  out.warps_for_compute = per_cycle * code.latency / std::max(1.0, code.ilp);
  const double between = code.memory > 0 ? code.instructions / code.memory : 0;
  out.warps_for_memory =
      between > 0 ? per_cycle * device.dram.latency / between / std::max(1.0, code.memory_parallelism) : 0;
  const double wanted =
      std::min<double>(std::max(out.warps_for_compute, out.warps_for_memory), device.sm.max_warps);
  double best_warps = 0, best_balance = -1, most = 0;
  for (std::uint32_t t = warp; t <= device.sm.max_threads_per_block; t += warp) {
    const std::uint32_t blocks = blocks_per_sm(code, t, device);
    if (blocks == 0) break;
    const double warps = static_cast<double>(blocks) * (t / warp);
    if (out.latency == 0 && warps >= wanted) out.latency = t;
    if (warps > most) {
      most = warps;
      best_warps = t;
    }
    if (warps > best_warps || out.occupancy == 0) out.occupancy = t;
  }
  out.occupancy = static_cast<std::uint32_t>(best_warps);
  if (out.latency == 0) out.latency = out.occupancy;
  for (std::uint32_t t = warp; t <= device.sm.max_threads_per_block; t += warp) {
    if (blocks_per_sm(code, t, device) == 0) break;
    const double blocks = std::ceil(static_cast<double>(threads) / t),
                 rounds = std::ceil(blocks / device.sm.count);
    const double balance =
        blocks / (rounds * device.sm.count) * (static_cast<double>(threads) / (blocks * t));
    // The first that is as even as any, from a size on that keeps the SM busy.
    if (t >= std::min(out.latency, out.occupancy) && balance > best_balance + 0.005) {
      best_balance = balance;
      out.even = t;
    }
  }
  if (out.even == 0) out.even = out.occupancy;
  out.chosen = std::max(warp, std::min({out.latency, out.occupancy, out.even}));
  return out;
}

std::array<std::uint32_t, 3> block_shape(std::uint32_t threads, std::size_t dimensions) {
  if (dimensions < 2) return {threads, 1, 1};
  return {warp, std::max(1u, threads / warp), 1};
}

std::vector<Staging> stagings(const Description& nest, const NestCounts& counts,
                              const device::Device& device) {
  std::vector<Staging> out;
  const double warps = std::ceil(counts.mapping.threads() / 32.0);
  for (const Pattern& p : counts.patterns) {
    const Access& a = nest.accesses[at(p.access)];
    // What all lanes read at one address is one transaction already; what is read out of order would be read
    // in order.
    const double ideal = std::max(1.0, a.bytes * 32.0 / stream::sector_bytes);
    const double scattered = p.sectors / ideal;
    const double reuse = std::max(p.block_reuse, 1.0) * std::max(scattered, 1.0);
    if (a.store || !p.evaluable || reuse < worth_staging) continue;
    Staging s;
    s.access = p.access;
    s.reuse = reuse;
    s.bytes = static_cast<std::uint64_t>(std::ceil(p.sectors * warps / std::max(p.block_reuse, 1.0))) *
              stream::sector_bytes;
    s.saved = p.requests * p.sectors * (1 - 1 / reuse);
    s.passes = p.passes;
    out.push_back(s);
  }
  out = merged(nest, std::move(out));
  std::ranges::stable_sort(out, [](const Staging& x, const Staging& y) {
    return x.saved / static_cast<double>(x.bytes) > y.saved / static_cast<double>(y.bytes);
  });
  std::uint64_t room = device.sm.shared_bytes_per_block;
  for (Staging& s : out)
    if (s.bytes <= room) {
      s.chosen = true;
      room -= s.bytes;
    }
  return out;
}

}  // namespace simtlab::models::loops
