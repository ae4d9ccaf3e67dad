#include "result/json_profile.h"

#include <fmt/format.h>

#include "result/json.h"

namespace simtlab::result {
namespace {

// Reasons that cost nothing are left out.
std::string slots(const std::vector<std::string>& reasons, const std::vector<std::uint64_t>& counts) {
  std::string out = "{";
  for (std::size_t i = 0; i < counts.size() && i < reasons.size(); ++i)
    if (counts[i] != 0)
      out += fmt::format("{}{}: {}", out.size() == 1 ? "" : ", ", json_string(reasons[i]), counts[i]);
  return out + "}";
}

std::string line(const LineProfile& l, const std::vector<std::string>& reasons) {
  std::string out = fmt::format("          {{\"function\": {}, \"ptx_line\": {}, \"ptx\": {}",
                                json_string(l.function), l.ptx_line, json_string(l.ptx));
  if (!l.code.empty()) out += fmt::format(", \"code\": {}", json_string(l.code));
  if (!l.file.empty()) out += fmt::format(", \"file\": {}, \"line\": {}", json_string(l.file), l.line);
  if (!l.text.empty()) out += fmt::format(", \"text\": {}", json_string(l.text));
  out += fmt::format(", \"instructions\": {}, \"threads\": {}, \"slots\": {}", l.instructions, l.threads,
                     slots(reasons, l.slots));
  if (l.requests != 0) out += fmt::format(", \"requests\": {}, \"sectors\": {}", l.requests, l.sectors);
  if (l.shared_passes != 0)
    out +=
        fmt::format(", \"shared_passes\": {}, \"shared_conflicts\": {}", l.shared_passes, l.shared_conflicts);
  if (l.loads != 0) out += fmt::format(", \"loads\": {}, \"load_cycles\": {}", l.loads, l.load_cycles);
  return out + "}";
}

}  // namespace

std::string profile_json(const Profile& profile) {
  if (profile.empty()) return {};
  std::string out = ",\n      \"profile\": {\n        \"launches\": " +
                    fmt::format("{},\n        \"reasons\": [", profile.launches);
  for (std::size_t i = 0; i < profile.reasons.size(); ++i)
    out += (i == 0 ? "" : ", ") + json_string(profile.reasons[i]);
  out +=
      fmt::format("],\n        \"slots\": {},\n        \"lines\": [", slots(profile.reasons, profile.slots));
  for (std::size_t i = 0; i < profile.lines.size(); ++i)
    out += (i == 0 ? "\n" : ",\n") + line(profile.lines[i], profile.reasons);
  return out + (profile.lines.empty() ? "]\n      }" : "\n        ]\n      }");
}

std::string rows_beside(const std::string& prefix, std::size_t rows) {
  return fmt::format("{{\"beside\": {}, \"count\": {}}}", json_string(prefix), rows);
}

std::string series_json(const Series& series, const std::string& prefix, Beside* beside) {
  if (series.empty()) return {};
  std::string out = fmt::format(",\n      \"series\": {{\n        \"interval\": {},\n        \"columns\": [",
                                series.interval);
  for (std::size_t i = 0; i < series.columns.size(); ++i)
    out += (i == 0 ? "" : ", ") + json_string(series.columns[i]);
  if (beside != nullptr && beside->take(prefix, series))
    return out + "],\n        \"rows\": " + rows_beside(prefix, series.rows.size()) + "\n      }";
  out += "],\n        \"rows\": [";
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    out += i == 0 ? "\n          [" : ",\n          [";
    for (std::size_t k = 0; k < series.rows[i].size(); ++k)
      out += fmt::format("{}{:.9g}", k == 0 ? "" : ", ", series.rows[i][k]);
    out += "]";
  }
  return out + (series.rows.empty() ? "]\n      }" : "\n        ]\n      }");
}

}  // namespace simtlab::result
