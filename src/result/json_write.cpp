// Writes the result file directly, member by member: the order is fixed here and nothing depends on a
// container.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/shell.h"
#include "base/shown.h"
#include "base/utf8.h"
#include "result/beside.h"
#include "result/json.h"
#include "result/json_findings.h"
#include "result/json_profile.h"
#include "result/json_tables.h"

namespace simtlab::result {
namespace {

// Shortest text that reads back as the same double; always recognisable as a real number.
std::string real(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string number(const Metrics::Value& value) {
  return value.is_integer ? fmt::format("{}", value.integer) : real(value.real);
}

void append_metrics(std::string& out, const Metrics& metrics, std::string_view indent) {
  out += "{";
  bool first = true;
  for (const Metrics::Value& v : metrics.values()) {
    out += fmt::format("{}\n{}  {}: {{\"value\": {}, \"unit\": {}}}", first ? "" : ",", indent,
                       json_string(v.name), number(v), json_string(find_metric(v.name)->unit));
    first = false;
  }
  out += first ? "}" : fmt::format("\n{}}}", indent);
}

std::string manifest(const Manifest& m) {
  std::string out = fmt::format(
      "{{\n    \"tool\": \"simtlab\",\n    \"version\": {},\n    \"command\": {},\n    "
      "\"working_directory\": {},\n"
      "    \"start_time\": {},\n    \"wall_time_s\": {},\n    \"host\": {},\n    \"device\": {},\n    "
      "\"mode\": {},\n    \"seed\": {},\n"
      "    \"interrupted\": {},\n",
      json_string(m.tool_version), json_string(m.command_line), json_string(path_text(m.working_directory)),
      json_string(m.start_time), real(m.wall_seconds), json_string(m.host), json_string(m.device),
      json_string(m.mode), m.seed, m.interrupted);
  if (!m.stopped_at.empty()) out += fmt::format("    \"stopped_at\": {},\n", json_string(m.stopped_at));
  if (!m.failure.empty())
    out += fmt::format("    \"failure\": {{\"id\": {}, \"exit_code\": {}, \"text\": {}}},\n",
                       json_string(m.failure_id), m.failure_code, json_string(m.failure));
  if (m.program_exit_status)
    out += fmt::format("    \"program\": {{\"exit_status\": {}}},\n", *m.program_exit_status);
  out += "    \"inputs\": [";
  for (std::size_t i = 0; i < m.inputs.size(); ++i)
    out += fmt::format("{}\n      {{\"path\": {}, \"xxh64\": {}}}", i == 0 ? "" : ",",
                       json_string(path_text(m.inputs[i].path)), json_string(m.inputs[i].xxh64));
  out += m.inputs.empty() ? "],\n" : "\n    ],\n";
  out += "    \"configuration\": [";
  for (std::size_t i = 0; i < m.configuration.size(); ++i) {
    const ConfigValue& c = m.configuration[i];
    out += fmt::format("{}\n      {{\"key\": {}, \"value\": {}, \"origin\": {}, \"source\": {}}}",
                       i == 0 ? "" : ",", json_string(c.key), json_string(c.value), json_string(c.origin),
                       json_string(c.source));
  }
  out += m.configuration.empty() ? "]\n  }" : "\n    ]\n  }";
  return out;
}

// prefix: of the names of its columns beside the file.
std::string kernel(const KernelResult& k, const std::string& prefix, Beside* beside) {
  std::string out = fmt::format(
      "    {{\n      \"name\": {},\n      \"demangled\": {},\n"
      "      \"launch\": {{\"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], \"shared_bytes\": {}, "
      "\"registers\": {}, \"launches\": {}}},\n"
      "      \"limiter\": {},\n      \"bottleneck\": {},\n      \"not_modelled\": [",
      json_string(k.name), json_string(k.demangled), k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1],
      k.block[2], k.shared_bytes, k.registers, k.launches, json_string(k.limiter), json_string(k.bottleneck));
  for (std::size_t i = 0; i < k.not_modelled.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", json_string(k.not_modelled[i]));
  out += "],\n      \"metrics\": ";
  append_metrics(out, k.metrics, "      ");
  if (k.partial) out += ",\n      \"partial\": true";
  if (!k.order.empty()) out += fmt::format(",\n      \"order\": {}", json_string(k.order));
  return out + profile_json(k.profile) + series_json(k.series, prefix + ".series", beside) +
         tables_json(k.tables, prefix + ".tables", beside) + "\n    }";
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const Utf8 c = utf8_at(text, i);
    const std::size_t length = std::max<std::size_t>(c.length, 1);
    if (c.length == 0)
      out += "\xef\xbf\xbd";
    else if (c.code == '"' || c.code == '\\')
      out += {'\\', text[i]};
    else if (c.code == '\n')
      out += "\\n";
    else if (c.code == '\t')
      out += "\\t";
    else if (c.code == '\r')
      out += "\\r";
    else if (is_command(c.code))  // none of them is beyond U+FFFF
      out += fmt::format("\\u{:04x}", c.code);
    else
      out += text.substr(i, length);
    i += length;
  }
  return out + "\"";
}

std::string to_json(const Result& result) { return to_files(result, "").json; }

ResultFiles to_files(const Result& result, const std::string& name) {
  ResultFiles out;
  std::optional<Beside> beside;
  if (!name.empty()) beside.emplace();
  out.json = fmt::format("{{\n  \"schema\": {},\n  \"manifest\": {},\n  \"total\": ", json_schema,
                         manifest(result.manifest));
  append_metrics(out.json, result.total, "  ");
  out.json += ",\n  \"kernels\": [";
  for (std::size_t i = 0; i < result.kernels.size(); ++i)
    out.json += (i == 0 ? "\n" : ",\n") +
                kernel(result.kernels[i], fmt::format("kernels.{}", i), beside ? &*beside : nullptr);
  out.json += result.kernels.empty() ? "]" : "\n  ]";
  if (result.check) out.json += ",\n  \"check\": " + check_json(*result.check);
  if (beside) out.columns = beside->finish();
  if (!out.columns.empty()) {
    const std::string hash = hash_bytes(out.columns);
    out.columns_name = fmt::format("{}.{}.npz", name, hash);
    out.json += fmt::format(",\n  \"beside\": {{\"file\": {}, \"bytes\": {}, \"xxh64\": {}}}",
                            json_string(out.columns_name), out.columns.size(), json_string(hash));
  }
  out.json += "\n}\n";
  return out;
}

}  // namespace simtlab::result
