#include "probe/analysis/finding.h"

#include <algorithm>

#include "probe/analysis/sampling.h"

namespace simtlab::probe {

void Findings::add(Finding finding) {
  const auto at = std::ranges::find(findings_, finding.key, &Finding::key);
  if (at != findings_.end())
    *at = std::move(finding);
  else
    findings_.push_back(std::move(finding));
}

void Findings::exact(std::string key, double value, std::string unit, std::string method,
                     std::uint64_t samples) {
  Finding f;
  f.key = std::move(key), f.unit = std::move(unit), f.value = value, f.interval = {value, value},
  f.confidence = 1, f.samples = samples, f.method = std::move(method);
  add(std::move(f));
}

void Findings::word(std::string key, std::string value, std::string method, std::uint64_t samples) {
  Finding f;
  f.key = std::move(key), f.word = std::move(value), f.confidence = 1, f.samples = samples,
  f.method = std::move(method);
  add(std::move(f));
}

void Findings::measured(std::string key, double value, std::string unit, Interval interval,
                        std::string method, std::uint64_t samples, std::string curve) {
  Finding f;
  f.key = std::move(key), f.unit = std::move(unit), f.value = value, f.interval = interval,
  f.confidence = samples > 1 ? 0.95 : 0, f.samples = samples, f.method = std::move(method);
  f.curve = std::move(curve);
  add(std::move(f));
}

void Findings::measured(std::string key, const Estimate& e, std::string unit, std::string method,
                        std::string curve) {
  Finding f;
  f.key = std::move(key), f.unit = std::move(unit), f.value = e.value, f.interval = e.interval,
  f.confidence = e.samples > 1 ? 0.95 : 0, f.samples = e.samples, f.method = std::move(method);
  f.curve = std::move(curve), f.raw = e.histogram.bins();
  add(std::move(f));
}

void Findings::once(std::string key, double value, std::string unit, std::string method,
                    std::uint64_t samples, std::string curve) {
  Finding f;
  f.key = std::move(key), f.unit = std::move(unit), f.value = value, f.interval = {value, value},
  f.samples = samples, f.method = std::move(method), f.curve = std::move(curve);
  add(std::move(f));
}

void Findings::unknown(std::string key, std::string why) {
  Finding f;
  f.key = std::move(key), f.unknown = std::move(why);
  add(std::move(f));
}

void Findings::correct(std::string_view key, std::string correction) {
  const auto at = std::ranges::find(findings_, key, &Finding::key);
  if (at != findings_.end()) at->correction = std::move(correction);
}

void Findings::series(Series series) {
  const auto at = std::ranges::find(series_, series.name, &Series::name);
  if (at != series_.end())
    *at = std::move(series);
  else
    series_.push_back(std::move(series));
}

std::optional<double> Findings::by_slope(const std::string& key) const {
  const std::string slope = "slope." + key;
  return find(slope) != nullptr ? value(slope) : value(key);
}

const Finding* Findings::find(std::string_view key) const {
  const auto at = std::ranges::find(findings_, key, &Finding::key);
  return at == findings_.end() ? nullptr : &*at;
}

std::optional<double> Findings::value(std::string_view key) const {
  const Finding* f = find(key);
  return f != nullptr && f->known() && f->word.empty() ? std::optional(f->value) : std::nullopt;
}

}  // namespace simtlab::probe
