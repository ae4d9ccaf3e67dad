#include "validate/kernels.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace simtlab::validate {
namespace {

// Of one launch, in the unit of the quantity; nullopt: the result lacks it.
std::optional<double> value_of(const result::Metrics& m, const std::string& quantity) {
  const auto ratio = [&](double scale, const char* over, const char* under) -> std::optional<double> {
    const auto a = m.get(over), b = m.get(under);
    if (!a || !b || *b == 0) return std::nullopt;
    return scale * *a / *b;
  };
  // What a profiler counts is machine code; results of versions that did not lower have PTX alone.
  const char* instructions = m.get("gpu.instructions.machine") ? "gpu.instructions.machine" : "gpu.instructions.warp";
  if (quantity == "cycles") return m.get("gpu.cycles");
  if (quantity == "instructions") return m.get(instructions);
  if (quantity == "ipc") return ratio(1, instructions, "gpu.cycles");
  if (quantity == "time_us") {
    const auto time = m.get("gpu.time");
    return time ? std::optional(*time / 1000) : std::nullopt;
  }
  return std::nullopt;
}

// The kernel's own name or, for C++ names, the mangled one.
bool is_kernel(const result::KernelResult& k, const std::string& name) {
  return k.name == name || k.demangled == name || k.demangled.starts_with(name + "(");
}

}  // namespace

bool held_out(const std::string& app, const std::string& kernel) {
  std::uint64_t hash = 0xcbf29ce484222325ull;   // FNV-1a
  for (const char c : app + "/" + kernel) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  hash ^= hash >> 29;   // the last letters reach the upper bits by this
  hash *= 0xbf58476d1ce4e5b9ull;
  return (hash >> 63) != 0;
}

std::vector<KernelRow> compare_kernels(const Table& reference, const std::string& device, const std::string& app, const result::Result& run) {
  std::vector<KernelRow> out;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (reference.text(i, "device") != device || reference.text(i, "app") != app) continue;
    KernelRow row{.device = device, .app = app, .kernel = reference.text(i, "kernel"), .quantity = reference.text(i, "quantity"),
                  .measured = reference.number(i, "value")};
    row.held_out = held_out(app, row.kernel);
    double sum = 0, launches = 0;
    for (const result::KernelResult& k : run.kernels) {
      if (!is_kernel(k, row.kernel)) continue;
      const auto value = value_of(k.metrics, row.quantity);
      if (!value) continue;
      // Merged launches: counters are sums, ratios are means.
      const bool counter = row.quantity != "ipc";
      sum += counter ? *value : *value * k.launches;
      launches += k.launches;
    }
    if (launches == 0) continue;
    row.simulated = sum / launches;
    out.push_back(row);
  }
  return out;
}

std::vector<KernelSummary> summarise(const std::vector<KernelRow>& rows) {
  std::vector<KernelSummary> out;
  for (const KernelRow& row : rows) {
    auto found = std::ranges::find_if(out, [&](const KernelSummary& s) { return s.device == row.device && s.quantity == row.quantity; });
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
    const auto tuned = static_cast<double>(s.kernels - s.kernels_held_out), held = static_cast<double>(s.kernels_held_out);
    s.mean /= static_cast<double>(s.kernels);
    s.mean_tuned /= std::max(tuned, 1.0);
    s.mean_held_out /= std::max(held, 1.0);
  }
  return out;
}

}  // namespace simtlab::validate
