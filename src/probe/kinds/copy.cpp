// Copies between host and device by size: t = a + s / B (latency and bandwidth), and
// Resios' form of the bandwidth, min(peak, k s + c) (thesis, equation 4.2).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

struct Fit {
  double latency_ns = 0, bandwidth = 0;
};

// Least squares of the relative error: small copies count as much as large ones.
Fit fit(const std::vector<Series::Point>& points) {
  double sw = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
  for (const auto& p : points) {
    const double w = 1 / (p.y * p.y);
    sw += w, sx += w * p.x, sxx += w * p.x * p.x, sy += w * p.y, sxy += w * p.x * p.y;
  }
  const double determinant = sw * sxx - sx * sx;
  if (determinant <= 0) return {};
  const double per_byte = (sw * sxy - sx * sy) / determinant, latency = (sy - per_byte * sx) / sw;
  return {latency, per_byte > 0 ? 1e9 / per_byte : 0};
}

// The straight part of the bandwidth by size, below half of its peak.
void thesis_form(Bench& bench, const std::string& name, const std::vector<Series::Point>& points) {
  double peak = 0;
  for (const auto& p : points) peak = std::max(peak, p.x / p.y * 1e9);
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& p : points) {
    const double rate = p.x / p.y * 1e9;
    if (rate > peak / 2) continue;
    n += 1, sx += p.x, sy += rate, sxx += p.x * p.x, sxy += p.x * rate;
  }
  const double determinant = n * sxx - sx * sx;
  if (n < 3 || determinant <= 0) return;
  const double k = (n * sxy - sx * sy) / determinant;
  const std::string method =
      "bandwidth by size as min(peak, k s + c), Resios' equation 4.2: least squares below half of the "
      "peak";
  const auto count = static_cast<std::uint64_t>(points.size());
  bench.found.once(name + ".peak", peak, "B/s", method, count, name);
  bench.found.once(name + ".k", k, "1/s", method, count, name);
  bench.found.once(name + ".c", (sy - k * sx) / n, "B/s", method, count, name);
}

void measure(Bench& bench, bool in, bool pinned) {
  gpu::Board& board = bench.board;
  const std::uint64_t most = bench.options.quick ? 8 << 20 : 64 << 20;
  const Bench::Buffer device(bench, most);
  void* host = board.allocate_host(most, pinned);
  // The pages are there
  std::fill_n(static_cast<unsigned char*>(host), most, static_cast<unsigned char>(1));
  const std::string name = fmt::format("copy.{}.{}", in ? "h2d" : "d2h", pinned ? "pinned" : "pageable");
  Series curve{name, "bytes", "ns", {}, {}};
  for (std::uint64_t bytes = 1; bytes <= most; bytes *= 4) {
    const Estimate e = estimate(sample(
        [&] {
          const double start = board.host_now_ns();
          if (in)
            board.copy_in(device.address(), host, bytes);
          else
            board.copy_out(host, device.address(), bytes);
          return board.host_now_ns() - start;
        },
        7));
    curve.points.push_back({static_cast<double>(bytes), e.value});
  }
  board.release_host(host);
  const Fit f = fit(curve.points);
  const auto count = static_cast<std::uint64_t>(curve.points.size());
  const std::string method =
      fmt::format("t = a + s / B, least squares of the relative error over {} sizes of {} copies", count,
                  pinned ? "pinned" : "pageable");
  bench.found.once(name + ".bandwidth", f.bandwidth, "B/s", method, count, name);
  bench.found.once(name + ".latency", f.latency_ns, "ns", method, count, name);
  if (pinned)
    bench.found.once(in ? "host.copy_bandwidth_h2d" : "host.copy_bandwidth_d2h", f.bandwidth, "B/s", method,
                     count, name);
  if (pinned && in) bench.found.once("host.copy_latency", f.latency_ns, "ns", method, count, name);
  thesis_form(bench, name, curve.points);
  bench.found.series(std::move(curve));
}

void probe_copy(Bench& bench) {
  for (const bool pinned : {true, false})
    for (const bool in : {true, false}) measure(bench, in, pinned);
}

}  // namespace

extern constinit const Kind kind_copy{"copy", "Copies between host and device, pinned and pageable",
                                      probe_copy, "device", 160};

}  // namespace simtlab::probe
