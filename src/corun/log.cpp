#include "corun/log.h"

#include <fmt/format.h>

namespace simtlab::corun {

std::string policy_line(const Policy& policy, const Settings& s) {
  return fmt::format(
      "policy {} limit={} light={} aging={} quantum={} l2-cap={} dram-cap={} memory-class={} best-effort={}",
      policy.name, s.limit, s.light.value_or(s.limit - 1), s.aging, s.quantum, s.l2_cap, s.dram_cap,
      s.memory_class, s.best_effort);
}

std::string kernel_line(Time now, KernelId kernel, std::string_view name, const Profile* profile) {
  std::string out = fmt::format("{} kernel {}", now, kernel);
  if (profile != nullptr) {
    out += profile->nearest ? " known near" : " known";
    const auto value = [&](const char* key, const std::optional<double>& v) {
      if (v) out += fmt::format(" {}={}", key, *v);
    };
    value("time", profile->time_ns);
    value("ipc", profile->ipc);
    value("l2", profile->l2_bandwidth);
    value("dram", profile->dram_bandwidth);
    value("stall", profile->memory_stall);
    for (const auto& [more, v] : profile->more) out += fmt::format(" more.{}={}", more, v);
  }
  return out + fmt::format(" name={}", name);
}

}  // namespace simtlab::corun
