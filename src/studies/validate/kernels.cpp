#include "studies/validate/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace simtlab::studies::validate {
namespace {

// A quantity as a profiler defines it over several launches: the sum of some metrics over that of another, or
// over the number of launches.
struct ProfiledQuantity {
  std::string_view name;
  std::vector<const char*> over;
  const char* under;  // nullptr: per launch
  double scale;
};

const ProfiledQuantity* quantity_of(std::string_view name) {
  // What a profiler counts is machine code.
  static const std::vector<ProfiledQuantity> all = {
      {"cycles", {"gpu.cycles"}, nullptr, 1},
      {"time_us", {"gpu.time"}, nullptr, 1e-3},
      {"instructions", {"gpu.instructions.machine"}, nullptr, 1},
      {"ipc", {"gpu.instructions.machine"}, "gpu.cycles", 1},
      {"l2_gbs", {"l2.bytes"}, "gpu.time", 1},  // bytes a nanosecond
      {"dram_gbs", {"dram.read.bytes", "dram.write.bytes"}, "gpu.time", 1},
  };
  const auto found = std::ranges::find(all, name, &ProfiledQuantity::name);
  return found == all.end() ? nullptr : &*found;
}

// nullopt: the result lacks it.
std::optional<double> metric(const result::Metrics& m, std::string_view name) {
  // Results of versions that did not lower have PTX alone.
  if (name == "gpu.instructions.machine" && !m.get(name)) name = "gpu.instructions.warp";
  return m.get(name);
}

// Sums over launches.
struct Sums {
  double over = 0, under = 0;
  std::size_t launches = 0;
};

void add(Sums& sums, const ProfiledQuantity& quantity, const result::Metrics& m) {
  double over = 0;
  for (const char* name : quantity.over) {
    const auto value = metric(m, name);
    if (!value) return;
    over += *value;
  }
  const auto under = quantity.under != nullptr ? metric(m, quantity.under) : std::optional(1.0);
  if (!under) return;
  sums.over += over;
  sums.under += *under;
  ++sums.launches;
}

// The kernel's own name or, for C++ names, the mangled one.
bool is_kernel(const result::KernelResult& k, const std::string& name) {
  return k.name == name || k.demangled == name || k.demangled.starts_with(name + "(");
}

}  // namespace

bool held_out(const std::string& app, const std::string& kernel) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : app + "/" + kernel) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  hash ^= hash >> 29;  // the last letters reach the upper bits by this
  hash *= 0xbf58476d1ce4e5b9ull;
  return (hash >> 63) != 0;
}

std::vector<KernelRow> compare_kernels(const Table& reference, const std::string& device,
                                       const std::string& app, const result::Result& run) {
  std::vector<KernelRow> out;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (reference.text(i, "device") != device || reference.text(i, "app") != app) continue;
    KernelRow row{.device = device,
                  .app = app,
                  .kernel = reference.text(i, "kernel"),
                  .quantity = reference.text(i, "quantity"),
                  .measured = reference.number(i, "value")};
    row.held_out = held_out(app, row.kernel);
    const ProfiledQuantity* quantity = quantity_of(row.quantity);
    if (quantity == nullptr)
      throw Error(ExitCode::bad_input, "measured-quantity",
                  fmt::format("no profiler's quantity '{}' is known (kernel {} of {})", row.quantity,
                              row.kernel, app),
                  "quantities are cycles, time_us, instructions, ipc, l2_gbs and dram_gbs");
    const double first = reference.has("first") ? reference.number(i, "first") : 1;
    Sums sums;
    std::size_t launch = 0;
    for (const result::KernelResult& k : run.kernels)
      if (is_kernel(k, row.kernel) && static_cast<double>(++launch) >= first) add(sums, *quantity, k.metrics);
    if (sums.launches == 0 || sums.under == 0) continue;
    row.simulated = quantity->scale * sums.over / sums.under;
    out.push_back(row);
  }
  return out;
}

std::vector<KernelSummary> summarise(const std::vector<KernelRow>& rows) {
  std::vector<KernelSummary> out;
  for (const KernelRow& row : rows) {
    auto found = std::ranges::find_if(
        out, [&](const KernelSummary& s) { return s.device == row.device && s.quantity == row.quantity; });
    if (found == out.end()) found = out.insert(out.end(), {row.device, row.quantity});
    ++found->kernels;
    found->mean += std::abs(row.error());
    if (row.held_out) {
      ++found->kernels_held_out;
      found->mean_held_out += std::abs(row.error());
    } else {
      found->mean_tuned += std::abs(row.error());
    }
  }
  for (KernelSummary& s : out) {
    const auto tuned = static_cast<double>(s.kernels - s.kernels_held_out),
               held = static_cast<double>(s.kernels_held_out);
    s.mean /= static_cast<double>(s.kernels);
    s.mean_tuned /= std::max(tuned, 1.0);
    s.mean_held_out /= std::max(held, 1.0);
  }
  return out;
}

}  // namespace simtlab::studies::validate
