#include "result/totals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace simtlab::result {
namespace {

using Launches = std::vector<const KernelResult*>;

const Metrics::Value* value_of(const Metrics& metrics, std::string_view name) {
  const auto found = std::ranges::find(metrics.values(), name, &Metrics::Value::name);
  return found == metrics.values().end() ? nullptr : &*found;
}

void combine_sum(const Launches& kernels, std::string_view name, Metrics& out) {
  bool integer = true;
  std::uint64_t whole = 0;
  double real = 0;
  for (const KernelResult* k : kernels) {
    const Metrics::Value* v = value_of(k->metrics, name);
    if (v == nullptr) return;
    integer = integer && v->is_integer && !__builtin_add_overflow(whole, v->integer, &whole);
    real += v->real;
  }
  if (integer)
    out.set(name, whole);
  else if (std::isfinite(real))
    out.set(name, real);
}

void combine_max(const Launches& kernels, std::string_view name, Metrics& out) {
  const Metrics::Value* best = nullptr;
  for (const KernelResult* k : kernels) {
    const Metrics::Value* v = value_of(k->metrics, name);
    if (v == nullptr) return;
    if (best == nullptr || v->real > best->real) best = v;
  }
  if (best == nullptr) return;
  if (best->is_integer)
    out.set(name, best->integer);
  else
    out.set(name, best->real);
}

void combine_weighted(const Launches& kernels, std::string_view name, std::string_view weight, Metrics& out) {
  double total = 0, weights = 0;
  for (const KernelResult* k : kernels) {
    const Metrics::Value* w = value_of(k->metrics, weight);
    const Metrics::Value* v = value_of(k->metrics, name);
    if (w == nullptr) return;
    if (w->real == 0) continue;
    if (v == nullptr) return;
    total += v->real * w->real;
    weights += w->real;
  }
  if (weights > 0 && std::isfinite(total) && std::isfinite(weights)) out.set(name, total / weights);
}

// Every name any launch has, in declaration order (families in the order they were set).
std::vector<std::string_view> names_of(const Launches& kernels) {
  struct Found {
    std::size_t declared, seen;
    std::string_view name;
  };
  std::vector<Found> found;
  std::set<std::string_view> seen;
  for (const KernelResult* k : kernels)
    for (const Metrics::Value& v : k->metrics.values())
      if (seen.insert(v.name).second)
        found.push_back(
            {static_cast<std::size_t>(find_metric(v.name) - registry().data()), found.size(), v.name});
  std::ranges::sort(found, {}, [](const Found& f) { return std::pair(f.declared, f.seen); });
  std::vector<std::string_view> names;
  for (const Found& f : found) names.push_back(f.name);
  return names;
}

}  // namespace

Metrics combine(const Launches& kernels) {
  Metrics out;
  for (const std::string_view name : names_of(kernels)) {
    const MetricDeclaration& d = *find_metric(name);
    switch (d.combine) {
      case Combine::sum: combine_sum(kernels, name, out); break;
      case Combine::max: combine_max(kernels, name, out); break;
      case Combine::weighted: combine_weighted(kernels, name, d.weight, out); break;
      case Combine::none: break;
    }
  }
  return out;
}

Metrics combine(const std::vector<KernelResult>& kernels) {
  Launches pointers;
  for (const KernelResult& k : kernels) pointers.push_back(&k);
  return combine(pointers);
}

Metrics combine_totals(const Metrics& first, const Metrics& second,
                       const std::vector<KernelResult>& kernels) {
  Metrics out = combine(kernels);
  for (const Metrics* side : {&first, &second})
    for (const Metrics::Value& v : side->values()) {
      if (find_metric(v.name)->scope != "total") continue;
      const Metrics::Value* a = value_of(first, v.name);
      const Metrics::Value* b = value_of(second, v.name);
      const bool integer = (a == nullptr || a->is_integer) && (b == nullptr || b->is_integer);
      const double sum = (a == nullptr ? 0 : a->real) + (b == nullptr ? 0 : b->real);
      if (integer && sum < 0x1p63)
        out.set(v.name, (a == nullptr ? 0 : a->integer) + (b == nullptr ? 0 : b->integer));
      else if (std::isfinite(sum))
        out.set(v.name, sum);
    }
  return out;
}

std::vector<KernelResult> merge_by_name(const std::vector<KernelResult>& kernels) {
  std::vector<Launches> groups;
  std::map<std::string_view, std::size_t> index;
  for (const KernelResult& k : kernels) {
    const auto [at, added] = index.emplace(k.name, groups.size());
    if (added) groups.emplace_back();
    groups[at->second].push_back(&k);
  }
  std::vector<KernelResult> out;
  for (const Launches& group : groups) {
    const auto time = [](const KernelResult* k) { return k->metrics.get("gpu.time").value_or(0); };
    KernelResult merged = **std::ranges::max_element(group, {}, time);
    merged.metrics = combine(group);
    merged.launches = 0;
    merged.not_modelled.clear();
    merged.profile = {};
    for (const KernelResult* k : group) merge(merged.profile, k->profile);
    // They stand at the first launch, whichever is the longest.
    for (const KernelResult* k : group)
      if (const Table* warnings = find(k->tables, "warnings");
          warnings != nullptr && find(merged.tables, "warnings") == nullptr)
        merged.tables.push_back(*warnings);
    if (group.size() > 1) merged.series = {};
    for (const KernelResult* k : group) {
      merged.launches += k->launches;
      merged.partial = merged.partial || k->partial;
      for (const std::string& id : k->not_modelled)
        if (std::ranges::find(merged.not_modelled, id) == merged.not_modelled.end())
          merged.not_modelled.push_back(id);
    }
    out.push_back(std::move(merged));
  }
  return out;
}

}  // namespace simtlab::result
