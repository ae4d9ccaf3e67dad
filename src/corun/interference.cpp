#include "corun/interference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/toml_reader.h"
#include "base/units.h"

namespace simtlab::corun {

namespace {

// The part of a demand above the capacity.
double excess(double demand, double capacity, double power) {
  const double over = std::max(0.0, demand / capacity - 1);
  return power == 1 || over == 0 ? over : std::pow(over, power);
}

}  // namespace

void slowdowns(const InterferenceModel& m, std::span<const Demand> together, std::span<double> out) {
  Demand sum;
  for (const Demand& d : together)
    sum.l2 += d.l2, sum.dram += d.dram, sum.ipc += d.ipc,
        sum.threads += std::min(d.threads, m.residency_threads);
  const double l2 = excess(sum.l2, m.l2_capacity, m.l2_power), dram = excess(sum.dram, m.dram_capacity, 1);
  const double crowd = m.residency_weight * std::max(0.0, sum.threads / m.residency_threads - 1);
  for (std::size_t i = 0; i < together.size(); ++i) {
    const Demand& d = together[i];
    const double others = std::min(1.0, (sum.dram - d.dram) / m.dram_capacity);
    const double issue = std::max(0.0, sum.ipc - d.ipc) / m.compute_ipc;
    // A kernel's own excess is in its time alone already.
    const double more_l2 = l2 - excess(d.l2, m.l2_capacity, m.l2_power),
                 more_dram = dram - excess(d.dram, m.dram_capacity, 1);
    out[i] = 1 + d.stall * (more_l2 + m.dram_latency * others * others + more_dram) +
             (1 - d.stall) * m.compute_weight * issue;
    if (together.size() > 1) out[i] *= 1 + crowd;
  }
}

std::string_view name_of(Disturbance kind) {
  static constexpr std::string_view names[] = {"l2", "dram", "compute"};
  return names[static_cast<std::size_t>(kind)];
}

Demand disturbance(const InterferenceModel& m, Disturbance kind, unsigned step) {
  const double share = static_cast<double>(step) / (intensities - 1);
  Demand out;
  if (kind == Disturbance::l2) out.l2 = m.l2_lowest + share * (m.l2_capacity - m.l2_lowest);
  if (kind == Disturbance::dram) out.dram = m.dram_lowest + share * (m.dram_capacity - m.dram_lowest);
  if (kind == Disturbance::compute) out.ipc = share * m.compute_ipc;
  return out;
}

std::string missing_figures(const Profile& p) {
  std::string out;
  const auto need = [&](const char* name, bool there) {
    if (!there) out += (out.empty() ? "" : ", ") + std::string(name);
  };
  need("time", p.time_ns.has_value());
  need("ipc", p.ipc.has_value());
  need("l2", p.l2_bandwidth.has_value());
  need("dram", p.dram_bandwidth.has_value());
  need("memory_stall", p.memory_stall.has_value());
  return out;
}

Demand demand_of(const Profile& p) {
  return {p.l2_bandwidth.value(), p.dram_bandwidth.value(), p.ipc.value(), p.threads.value_or(0),
          p.memory_stall.value()};
}

namespace {

constexpr TomlText::Form form{"corun-model", "corun-model", "data/corun/model-titanx.toml is a complete one",
                              4096};

class ModelReader {
 public:
  ModelReader(const TomlText& source, const toml::table& root) : source_(source), root_(root) {}

  InterferenceModel read() {
    InterferenceModel m;
    value("l2", "capacity", Unit::bytes_per_second, m.l2_capacity);
    value("l2", "lowest", Unit::bytes_per_second, m.l2_lowest);
    value("l2", "power", Unit::none, m.l2_power);
    value("dram", "capacity", Unit::bytes_per_second, m.dram_capacity);
    value("dram", "lowest", Unit::bytes_per_second, m.dram_lowest);
    value("dram", "latency", Unit::none, m.dram_latency);
    value("compute", "ipc", Unit::none, m.compute_ipc);
    value("compute", "weight", Unit::none, m.compute_weight);
    value("residency", "threads", Unit::none, m.residency_threads);
    value("residency", "weight", Unit::none, m.residency_weight);
    check_keys();
    for (const double capacity :
         {m.l2_capacity, m.dram_capacity, m.compute_ipc, m.residency_threads, m.l2_power})
      if (capacity <= 0) fail({}, "capacities and the power are above 0");
    return m;
  }

 private:
  [[noreturn]] void fail(const toml::source_region& at, const std::string& message) const {
    source_.fail(at.begin.line, at.begin.column, message, form.hint);
  }

  void value(const char* section, const char* key, Unit unit, double& out) {
    known_.emplace_back(section, key);
    const toml::node* node = root_[section][key].node();
    if (node == nullptr) fail({}, fmt::format("{}.{} is missing", section, key));
    try {
      if (const auto text = node->value_exact<std::string>()) {
        out = parse_quantity(*text, unit);
        return;
      }
    } catch (const Error& e) { fail(node->source(), e.diagnostics().front().message); }
    const auto number = node->value<double>();
    if (!number || unit != Unit::none || !std::isfinite(*number) || *number < 0)
      fail(node->source(), fmt::format("{}.{} is no quantity that is possible", section, key));
    out = *number;
  }

  // Words (sources) may stand beside the values; anything else is a mistake.
  void check_keys() const {
    for (const auto& [section, node] : root_) {
      const toml::table* table = node.as_table();
      if (table == nullptr)
        fail(node.source(), fmt::format("\"{}\" is no section of the model", shown(section.str())));
      for (const auto& [key, inner] : *table) {
        const bool source = key == "source" || key.str().ends_with("_source");
        const bool is_known = std::ranges::any_of(
            known_, [&](const auto& k) { return k.first == section.str() && k.second == key.str(); });
        if (!source && !is_known)
          fail(inner.source(), fmt::format("the model has no {}.{}", shown(section.str()), shown(key.str())));
      }
    }
  }

  const TomlText& source_;
  const toml::table& root_;
  std::vector<std::pair<std::string, std::string>> known_;
};

}  // namespace

InterferenceModel load_model(const std::filesystem::path& path) {
  const std::string file = path.string(), text = read_file(path, 1 << 20, "interference model");
  const TomlText source(text, file, form);
  const toml::table root = parse(source);
  return ModelReader(source, root).read();
}

}  // namespace simtlab::corun
