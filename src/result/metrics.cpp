#include "result/metrics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/error.h"

namespace simtlab::result {
namespace {

bool in_family(std::string_view family, std::string_view name) {
  if (!family.ends_with(".*")) return false;
  family.remove_suffix(1);
  return name.size() > family.size() && name.starts_with(family);
}

Metrics::Value& slot(std::vector<Metrics::Value>& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &Metrics::Value::name);
  if (found != values.end()) return *found;
  if (find_metric(name) == nullptr)
    throw std::logic_error("internal error: metric '" + std::string(name) +
                           "' is not declared in result/registry.cpp");
  values.push_back({.name = std::string(name)});
  return values.back();
}

}  // namespace

const MetricDeclaration* find_metric(std::string_view name) {
  const std::vector<MetricDeclaration>& all = registry();
  const auto exact = std::ranges::find(all, name, &MetricDeclaration::name);
  if (exact != all.end()) return &*exact;
  const auto family =
      std::ranges::find_if(all, [&](const MetricDeclaration& m) { return in_family(m.name, name); });
  return family == all.end() ? nullptr : &*family;
}

void Metrics::set(std::string_view name, double value) {
  if (!std::isfinite(value))
    throw std::logic_error("internal error: metric '" + std::string(name) + "' is not a finite number");
  Value& v = slot(values_, name);
  v.is_integer = false;
  v.real = value;
}

void Metrics::set(std::string_view name, std::uint64_t value) {
  Value& v = slot(values_, name);
  v.is_integer = true;
  v.integer = value;
  v.real = static_cast<double>(value);
}

std::optional<double> Metrics::get(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Value::name);
  if (found == values_.end()) return std::nullopt;
  return found->real;
}

}  // namespace simtlab::result
