#include "studies/predict/occupancy_curves.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "device/catalogue.h"
#include "device/occupancy.h"

namespace simtlab::studies {
namespace {

using CurvePoint = report::OccupancyCurve::Point;

constexpr std::size_t most_kernels = 24;

std::optional<device::Device> device_of(const result::Manifest& m) {
  try {
    std::string name = m.device;
    for (const result::ConfigValue& c : m.configuration)
      if (c.key == "gpu") name = c.value;
    std::vector<device::Setting> settings;
    for (const device::Entry& e : device::load_device(name).entries) {
      const auto found = std::ranges::find(m.configuration, e.key, &result::ConfigValue::key);
      if (found != m.configuration.end() && found->value != e.value)
        settings.push_back({e.key, found->value, {"result", "", "", false}});
    }
    return device::load_device(name, settings).device;
  } catch (const Error&) {
    return std::nullopt;  // a file of another machine: the report has no curves then
  }
}

// A launch whose values nobody can believe (a hostile file) has no curve.
bool sensible(const device::Device& d, std::uint64_t threads, const result::KernelResult& k) {
  return threads > 0 && threads <= 1024 && k.registers > 0 && k.registers <= 255 &&
         k.shared_bytes <= (std::uint64_t{1} << 20) &&
         device::occupancy(d, static_cast<std::uint32_t>(threads), k.registers, k.shared_bytes)
                 .blocks_per_sm > 0;
}

report::OccupancyCurve curve(const device::Device& d, const result::KernelResult& k, std::uint32_t threads) {
  report::OccupancyCurve out{k.name, {}, {}, {}};
  const auto point = [&](double at, std::uint32_t t, std::uint32_t registers, std::uint64_t shared) {
    const device::Occupancy o = device::occupancy(d, t, registers, shared);
    return CurvePoint{at, o.ratio, std::string(device::name_of(o.limit))};
  };
  for (std::uint32_t t = 32; t <= 1024; t += 32)
    out.by_threads.push_back(point(t, t, k.registers, k.shared_bytes));
  for (std::uint32_t r = 16; r <= 255; r += 4)
    out.by_registers.push_back(point(r, threads, r, k.shared_bytes));
  constexpr std::uint64_t step = 2048;
  for (std::uint64_t s = 0; s <= 128 * 1024; s += step) {
    out.by_shared.push_back(point(static_cast<double>(s), threads, k.registers, s));
    if (out.by_shared.back().ratio == 0 && s > k.shared_bytes) break;
  }
  return out;
}

}  // namespace

std::vector<report::OccupancyCurve> occupancy_curves(const result::Result& result) {
  std::vector<report::OccupancyCurve> out;
  if (result.manifest.mode != "timing" || result.kernels.empty()) return out;
  const std::optional<device::Device> d = device_of(result.manifest);
  if (!d) return out;
  for (const result::KernelResult& k : result.kernels) {
    if (out.size() == most_kernels) break;
    if (std::ranges::find(out, k.name, &report::OccupancyCurve::kernel) != out.end()) continue;
    const std::uint64_t threads = std::uint64_t{std::min(k.block[0], 4096u)} * std::min(k.block[1], 4096u) *
                                  std::min(k.block[2], 4096u);
    if (sensible(*d, threads, k)) out.push_back(curve(*d, k, static_cast<std::uint32_t>(threads)));
  }
  return out;
}

}  // namespace simtlab::studies
