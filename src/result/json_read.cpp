// Reads a result file. The parser's nesting is bounded and every member is checked; nothing of the file is
// trusted.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/hash.h"
#include "base/shell.h"
#include "base/shown.h"
#include "result/beside.h"
#include "result/json.h"
#include "result/json_findings.h"
#include "result/json_node.h"

namespace simtlab::result {
namespace {

using Json = ReadJson;
using Node = JsonNode;
constexpr int max_depth = 16;
constexpr std::size_t max_metrics = 4096;

SourcePos position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t last = before.rfind('\n');
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return {"", static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(std::max<std::size_t>(column, 1))};
}

Metrics metrics(const Node& node) {
  Metrics out;
  if (node.object().json.size() > max_metrics) node.bad("a set of metrics (too many members)");
  for (const auto& [name, value] : node.json.items()) {
    const Node entry{value, node.path + "." + name, node.file};
    if (find_metric(name) == nullptr || name.ends_with(".*"))
      json_fail(node.file, fmt::format("'{}' is not a metric of this version", entry.path));
    const Node number = entry.object().at("value");
    if (entry.at("unit").string() != find_metric(name)->unit)
      json_fail(node.file, fmt::format("'{}' has the unit '{}', expected '{}'", entry.path,
                                       entry.at("unit").string(), find_metric(name)->unit));
    if (number.json.is_number_unsigned())
      out.set(name, number.whole());
    else
      out.set(name, number.real());
  }
  return out;
}

Manifest manifest(const Node& node) {
  Manifest m;
  node.object();
  m.tool_version = node.at("version").string();
  m.command_line = node.at("command").string();
  m.working_directory = path_of(node.at("working_directory").string());
  m.start_time = node.at("start_time").string();
  m.wall_seconds = node.at("wall_time_s").real();
  m.host = node.at("host").string();
  m.device = node.at("device").string();
  m.mode = node.at("mode").string();
  m.seed = node.at("seed").whole();
  m.interrupted = node.at("interrupted").boolean();
  if (node.has("stopped_at")) m.stopped_at = node.at("stopped_at").string();
  if (node.has("failure")) {
    const Node failure = node.at("failure");
    failure.object();
    m.failure = failure.at("text").string();
    m.failure_id = failure.at("id").string();
    m.failure_code = failure.at("exit_code").integer();
  }
  if (node.has("program")) m.program_exit_status = node.at("program").object().at("exit_status").integer();
  const Node inputs = node.at("inputs");
  for (std::size_t i = 0; i < inputs.array_size(); ++i)
    m.inputs.push_back(
        {path_of(inputs.at(i).object().at("path").string()), inputs.at(i).at("xxh64").string()});
  const Node configuration = node.at("configuration");
  for (std::size_t i = 0; i < configuration.array_size(); ++i) {
    const Node c = configuration.at(i);
    c.object();
    m.configuration.push_back(
        {c.at("key").string(), c.at("value").string(), c.at("origin").string(), c.at("source").string()});
  }
  return m;
}

void dimensions(const Node& node, std::uint32_t (&out)[3]) {
  if (node.array_size() != 3) node.bad("three numbers");
  for (std::size_t i = 0; i < 3; ++i) out[i] = node.at(i).whole32();
}

constexpr std::size_t max_reasons = 256, max_columns = 256;

std::vector<std::string> names(const Node& node, std::size_t most) {
  if (node.array_size() > most) node.bad("a list of names (too many)");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < node.array_size(); ++i) out.push_back(node.at(i).string());
  return out;
}

// Counts by name, in the order of `reasons`.
std::vector<std::uint64_t> slots(const Node& node, const std::vector<std::string>& reasons) {
  std::vector<std::uint64_t> out(reasons.size(), 0);
  for (const auto& [name, value] : node.object().json.items()) {
    const Node entry{value, node.path + "." + name, node.file};
    const auto found = std::ranges::find(reasons, name);
    if (found == reasons.end()) entry.bad("a slot of one of the reasons");
    out[static_cast<std::size_t>(found - reasons.begin())] = entry.whole();
  }
  return out;
}

LineProfile line_profile(const Node& node, const std::vector<std::string>& reasons) {
  LineProfile l;
  node.object();
  const auto optional = [&](const char* key) { return node.has(key) ? node.at(key).whole() : 0; };
  l.function = node.at("function").string();
  l.ptx_line = node.at("ptx_line").whole32();
  l.ptx = node.at("ptx").string();
  if (node.has("code")) l.code = node.at("code").string();
  if (node.has("file")) {
    l.file = node.at("file").string();
    l.line = node.at("line").whole32();
  }
  if (node.has("text")) l.text = node.at("text").string();
  l.instructions = node.at("instructions").whole();
  l.threads = node.at("threads").whole();
  l.slots = slots(node.at("slots"), reasons);
  l.requests = optional("requests");
  l.sectors = optional("sectors");
  l.shared_passes = optional("shared_passes");
  l.shared_conflicts = optional("shared_conflicts");
  l.loads = optional("loads");
  l.load_cycles = optional("load_cycles");
  return l;
}

Profile profile(const Node& node) {
  Profile p;
  node.object();
  p.launches = node.at("launches").whole32();
  p.reasons = names(node.at("reasons"), max_reasons);
  p.slots = slots(node.at("slots"), p.reasons);
  const Node lines = node.at("lines");
  for (std::size_t i = 0; i < lines.array_size(); ++i)
    p.lines.push_back(line_profile(lines.at(i), p.reasons));
  return p;
}

// How many rows stand beside the file, by the name `prefix`; none: they stand here.
std::optional<std::uint64_t> rows_beside_file(const Node& rows, const std::string& prefix,
                                              const BesideReader* beside) {
  if (!rows.json.is_object()) return {};
  if (rows.at("beside").string() != prefix) rows.at("beside").bad("the name of these rows");
  if (beside == nullptr) rows.bad("a list of rows (the file names nothing beside it)");
  return rows.at("count").whole(most_column_rows);
}

Series series(const Node& node, const std::string& prefix, BesideReader* beside) {
  Series s;
  s.interval = node.object().at("interval").whole();
  if (s.interval == 0) node.at("interval").bad("a number of cycles above 0");
  s.columns = names(node.at("columns"), max_columns);
  const Node rows = node.at("rows");
  if (const auto count = rows_beside_file(rows, prefix, beside)) {
    beside->give(prefix, *count, s);
    return s;
  }
  for (std::size_t i = 0; i < rows.array_size(); ++i) {
    const Node row = rows.at(i);
    if (row.array_size() != s.columns.size()) row.bad("a row with a number for each column");
    std::vector<double> values;
    for (std::size_t k = 0; k < row.array_size(); ++k) values.push_back(row.at(k).real());
    s.rows.push_back(std::move(values));
  }
  return s;
}

Cell cell(const Node& node) {
  if (node.json.is_null()) return {};
  if (node.json.is_string()) return node.string();
  if (node.json.is_number_unsigned()) return node.whole();
  if (node.json.is_number_integer()) return node.json.get<std::int64_t>();
  return node.real();
}

const TableDeclaration& declaration(const std::string& name, const Node& node) {
  const TableDeclaration* found = find_table(name);
  if (found == nullptr) node.bad("a table that this version knows");
  return *found;
}

// Rows as lists; the columns are those of the declaration. Columns that came later are the last ones: files
// of before have fewer, and empty cells there.
Table table(const std::string& name, const Node& node, const std::string& prefix, BesideReader* beside) {
  Table out{.name = name, .rows = {}};
  const TableDeclaration& known = declaration(name, node);
  const Node columns = node.object().at("columns");
  const std::size_t had = columns.array_size();
  bool same = had > 0 && had <= known.columns.size();
  for (std::size_t i = 0; same && i < had; ++i) same = columns.at(i).string() == known.columns[i].name;
  if (!same) columns.bad("the columns of the table");
  const Node rows = node.at("rows");
  if (const auto count = rows_beside_file(rows, prefix, beside)) {
    beside->give(prefix, *count, out, known);
    return out;
  }
  for (std::size_t i = 0; i < rows.array_size(); ++i) {
    const Node row = rows.at(i);
    if (row.array_size() != had) row.bad("a row with a value for each column");
    std::vector<Cell> cells;
    for (std::size_t k = 0; k < had; ++k) cells.push_back(cell(row.at(k)));
    cells.resize(known.columns.size());
    out.rows.push_back(std::move(cells));
  }
  return out;
}

Table sms(const Node& node) {
  Table out{.name = "sms", .rows = {}};
  const TableDeclaration& known = declaration("sms", node);
  for (std::size_t i = 0; i < node.array_size(); ++i) {
    const Node row = node.at(i);
    row.object();
    std::vector<Cell> cells;
    for (const ColumnDeclaration& c : known.columns) {
      const std::string name(c.name);
      cells.push_back(row.has(name.c_str()) ? cell(row.at(name.c_str()))
                                            : Cell{});  // files of before have fewer columns
    }
    out.rows.push_back(std::move(cells));
  }
  return out;
}

// prefix: of the names of its columns beside the file.
KernelResult kernel(const Node& node, const std::string& prefix, BesideReader* beside) {
  KernelResult k;
  node.object();
  k.name = node.at("name").string();
  k.demangled = node.at("demangled").string();
  const Node launch = node.at("launch");
  launch.object();
  dimensions(launch.at("grid"), k.grid);
  dimensions(launch.at("block"), k.block);
  k.shared_bytes = launch.at("shared_bytes").whole();
  k.registers = launch.at("registers").whole32();
  k.launches = launch.at("launches").whole32();
  k.limiter = node.at("limiter").string();
  k.bottleneck = node.at("bottleneck").string();
  const Node missing = node.at("not_modelled");
  for (std::size_t i = 0; i < missing.array_size(); ++i) k.not_modelled.push_back(missing.at(i).string());
  k.metrics = metrics(node.at("metrics"));
  if (node.has("partial")) k.partial = node.at("partial").boolean();
  if (node.has("order")) k.order = node.at("order").string();
  if (node.has("profile")) k.profile = profile(node.at("profile"));
  if (node.has("series")) k.series = series(node.at("series"), prefix + ".series", beside);
  if (node.has("sms")) k.tables.push_back(sms(node.at("sms")));
  if (node.has("tables")) {
    const Node tables = node.at("tables");
    tables.object();
    for (const TableDeclaration& known : table_registry())  // in its order
      if (const std::string name(known.name); tables.has(name.c_str()))
        k.tables.push_back(table(name, tables.at(name.c_str()), prefix + ".tables." + name, beside));
    for (const auto& [name, value] : tables.json.items())
      declaration(name, Node{value, tables.path + "." + name, tables.file});
  }
  return k;
}

Json parse(std::string_view text, const std::string& file) {
  const auto bounded = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > max_depth) json_fail(file, fmt::format("nested deeper than {} levels", max_depth));
    return true;
  };
  try {
    return Json::parse(text, bounded);
  } catch (const Json::parse_error& e) {
    json_fail(file, "not valid JSON", position(text, e.byte));
  } catch (const Json::out_of_range&) { json_fail(file, "a number is out of range"); }
}

// The bytes of the file beside this one.
std::string columns_of(const Node& node, const OpenBeside& open) {
  const std::string name = node.object().at("file").string();
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    node.at("file").bad("the name of a file in the same folder");
  const auto refuse = [&](const std::string& what, const char* hint) {
    throw Error(ExitCode::bad_input, "result-columns", Diagnostic{what, {node.file, 0, 0}, {}, hint});
  };
  if (!open)
    refuse(fmt::format("its longest tables stand in {} beside it", shown(name)),
           "name the file itself, in the folder that has both");
  std::string bytes = open(name);
  if (bytes.size() != node.at("bytes").whole() || hash_bytes(bytes) != node.at("xxh64").string())
    refuse(fmt::format("{} beside it is not what this result was written with", shown(name)),
           "make the result again (`simtlab rerun` says whether it is the same)");
  return bytes;
}

}  // namespace

Result result_from_json(std::string_view text, const std::string& file, const OpenBeside& open) {
  const Json json = parse(text, file);
  const Node root{json, "", file};
  if (!json.is_object()) json_fail(file, "not a JSON object");
  const std::uint64_t schema = root.at("schema").whole();
  if (schema == 0) json_fail(file, "schema 0 does not exist");
  if (schema > json_schema)
    throw Error(ExitCode::bad_input, "result-schema",
                Diagnostic{fmt::format("schema {} is newer than {}, the newest this version reads", schema,
                                       json_schema),
                           {file, 0, 0},
                           {},
                           "use the simtlab version that wrote the file, or a later one"});
  Result result;
  result.manifest = manifest(root.at("manifest"));
  result.total = metrics(root.at("total"));
  const Node kernels = root.at("kernels");
  std::optional<BesideReader> beside;
  if (root.has("beside"))
    beside.emplace(columns_of(root.at("beside"), open), root.at("beside").at("file").string());
  for (std::size_t i = 0; i < kernels.array_size(); ++i)
    result.kernels.push_back(
        kernel(kernels.at(i), fmt::format("kernels.{}", i), beside ? &*beside : nullptr));
  if (root.has("check")) result.check = check_from_json(root.at("check"));
  return result;
}

}  // namespace simtlab::result
