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

ResiosBlock resios_block(const Code& code, double intensity, double threads, const device::Device& device) {
  ResiosBlock out;
  out.even = threads / (std::max(1u, device.sm.count) * static_cast<double>(warp));
  out.resident = std::min<double>(
      device.sm.max_warps, static_cast<double>(device.sm.registers) / (warp * std::max(1u, code.registers)));
  const double per_cycle = std::max(1.0, device.sm.issuing_schedulers() * device.sm.issue_width);
  double longest = 0;
  for (std::size_t c = 0; c < code.mix.size(); ++c)
    if (code.mix[c] > 0 && !device::accesses_memory(static_cast<device::OpClass>(c)))
      longest = std::max(longest, device.latency[c]);
  out.latency = per_cycle * longest;
  if (code.memory > 0) out.latency = std::max(out.latency, per_cycle * device.dram.latency / intensity);
  const double least = std::min({out.even, out.resident, out.latency});
  out.threads = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::ceil(least)) * warp, warp,
                                          device.sm.max_threads_per_block / warp * warp);
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

std::vector<Staging> stagings(const Description& nest, const Shape& shape, const NestCounts& counts,
                              const device::Device& device) {
  std::vector<Staging> out;
  for (Tile& t : tiles_of(nest, shape, counts.mapping, counts.patterns, device)) {
    // What all lanes read at one address is one transaction already; what is read out of order would be read
    // in order.
    if (t.asked_sectors < worth_staging * static_cast<double>(t.sectors)) continue;
    Staging s;
    s.saved =
        (t.asked_sectors - static_cast<double>(t.sectors)) * static_cast<double>(counts.mapping.blocks());
    s.fits = t.shared_bytes <= device.sm.shared_bytes_per_block;
    s.tile = std::move(t);
    out.push_back(std::move(s));
  }
  std::ranges::stable_sort(out, [](const Staging& x, const Staging& y) {
    return x.saved / static_cast<double>(x.tile.shared_bytes) >
           y.saved / static_cast<double>(y.tile.shared_bytes);
  });
  return out;
}

double choose(std::vector<Staging>& all, const device::Device& device, double time_ns,
              const std::function<double(const std::vector<Tile>&)>& time) {
  std::uint64_t room = device.sm.shared_bytes_per_block;
  std::vector<Tile> tiles;
  // Loads that wait together wait for the slowest: a tile may gain something only beside another one.
  for (bool more = true; more;) {
    more = false;
    for (Staging& s : all) {
      if (s.chosen || s.tile.shared_bytes > room) continue;
      tiles.push_back(s.tile);
      s.time_ns = time(tiles);
      if (s.time_ns > 0 && s.time_ns < time_ns) {
        s.chosen = more = true;
        time_ns = s.time_ns;
        room -= s.tile.shared_bytes;
      } else {
        tiles.pop_back();
      }
    }
  }
  if (!tiles.empty()) return time_ns;
  // None by itself: all that there is room for, together
  for (const Staging& s : all)
    if (s.tile.shared_bytes <= room) {
      tiles.push_back(s.tile);
      room -= s.tile.shared_bytes;
    }
  const double together = tiles.size() > 1 ? time(tiles) : 0;
  if (!(together > 0) || together >= time_ns) return time_ns;
  room = device.sm.shared_bytes_per_block;
  for (Staging& s : all)
    if (s.tile.shared_bytes <= room) {
      s.chosen = true;
      s.time_ns = together;
      room -= s.tile.shared_bytes;
    }
  return together;
}

std::vector<Tile> chosen(const std::vector<Staging>& all) {
  std::vector<Tile> out;
  for (const Staging& s : all)
    if (s.chosen) out.push_back(s.tile);
  return out;
}

}  // namespace simtlab::models::loops
