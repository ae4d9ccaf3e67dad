// simtlab probe --compare: two measurements or device files, a row a key.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "device/data_files.h"
#include "device/parameters.h"
#include "probe/device_file.h"
#include "result/json.h"
#include "studies/common/manifest.h"
#include "studies/probe/probe.h"

namespace simtlab::studies {
namespace {

constexpr device::Subject devices;

struct Value {
  probe::Finding finding;                   // with a unit that both kinds of files spell alike
  std::optional<probe::Interval> interval;  // nullopt: nobody said
  std::string note;                         // "an estimate: ..."
};

struct Side {
  std::string name;
  std::vector<std::filesystem::path> files;  // that were read
  std::vector<Value> values;                 // each key once
  bool rounded = false;                      // printed with six digits
};

Side side_of_result(const std::string& file, std::string_view text) {
  Side out{file, {file}, {}, false};
  const result::Result result = result::result_from_json(text, file, result::beside_of(file));
  const result::Table* table = nullptr;
  for (const result::KernelResult& k : result.kernels)
    if (table == nullptr) table = result::find(k.tables, "findings");
  if (table == nullptr)
    throw Error(ExitCode::bad_input, "probe-compare",
                fmt::format("{} is no measurement of a device: it has no table of findings", file),
                "write one with: simtlab probe --json=FILE");
  const auto at = [&](const char* name) { return result::column("findings", name); };
  const auto text_at = [](const result::Cell& cell) {
    return std::holds_alternative<std::string>(cell) ? std::get<std::string>(cell) : std::string{};
  };
  const auto absent = [](const result::Cell& cell) { return std::holds_alternative<std::monostate>(cell); };
  std::map<std::string, std::size_t> seen;
  for (const auto& row : table->rows) {
    Value v;
    v.finding.key = text_at(row[at("key")]), v.finding.unit = text_at(row[at("unit")]),
    v.finding.word = text_at(row[at("word")]), v.finding.unknown = text_at(row[at("unknown")]);
    v.finding.value = result::number(row[at("value")]);
    if (v.finding.unknown.empty() && v.finding.word.empty() && absent(row[at("value")]))
      v.finding.unknown = "no value";
    const result::Cell &low = row[at("low")], &high = row[at("high")];
    if (!absent(low) && !absent(high) && result::number(low) <= result::number(high))
      v.interval = {result::number(low), result::number(high)};
    if (!seen.emplace(v.finding.key, out.values.size()).second)
      throw Error(ExitCode::bad_input, "probe-compare",
                  fmt::format("{} has the key '{}' twice", file, shown(v.finding.key, 60)),
                  "write it anew with: simtlab probe --json=FILE");
    out.values.push_back(std::move(v));
  }
  return out;
}

bool is_number(const device::Parameter& parameter) {
  device::Device scratch;
  const device::Field field = parameter.field(scratch);
  return std::holds_alternative<double*>(field) || std::holds_alternative<std::uint32_t*>(field) ||
         std::holds_alternative<std::uint64_t*>(field) ||
         std::holds_alternative<std::optional<double>*>(field);
}

// Not as a device that a model runs: what a probe did not find is absent in its file, and that is no error
// here.
Side side_of_device(const std::string& name, const std::filesystem::path& path) {
  const std::vector<device::Document> chain = device::read_chain(devices, path);
  Side out{name, {}, {}, true};
  std::map<std::string, std::size_t> seen;
  std::vector<Diagnostic> wrong;
  // From the root: what a file inherits comes first
  for (auto document = chain.rbegin(); document != chain.rend(); ++document) {
    out.files.emplace_back(document->file);
    for (const device::Node& node : document->nodes) {
      const device::Parameter* parameter = device::find_parameter(node.key);
      if (parameter == nullptr) {
        wrong.push_back(document->diagnostic(node.pos, fmt::format("unknown key '{}'", shown(node.key, 60)),
                                             device::unknown_key_hint(node.key)));
        continue;
      }
      Value v;
      v.finding.key = node.key;
      try {
        device::Device scratch;
        device::store(*parameter, node.value, scratch);
        if (node.value == "unknown") continue;
        if (is_number(*parameter))
          v.finding.value = parse_quantity(node.value, parameter->unit),
          v.finding.unit = name_of(parameter->unit);
        else
          v.finding.word = device::show(*parameter, scratch);
      } catch (const Error& error) {
        wrong.push_back(document->diagnostic(
            node.pos, fmt::format("{}: {}", node.key, error.diagnostics().front().message),
            error.diagnostics().front().hint));
        continue;
      }
      if (node.estimated)
        v.note = "an estimate: " + node.source;
      else if (const auto interval = probe::interval_in(node.source))
        v.interval = interval;
      else if (probe::is_exact(node.source))
        v.interval = {v.finding.value, v.finding.value};
      const auto [place, fresh] = seen.emplace(node.key, out.values.size());
      if (fresh)
        out.values.push_back(std::move(v));
      else
        out.values[place->second] = std::move(v);
    }
  }
  if (!wrong.empty()) throw Error(ExitCode::bad_input, "device-file", std::move(wrong));
  if (out.values.empty())
    throw Error(ExitCode::bad_input, "probe-compare", fmt::format("{} has no values", name),
                "give a device file, such as simtlab probe -o FILE writes");
  return out;
}

Side side_of(const std::string& name) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(name, ignored);
  const std::filesystem::path device = device::find_data_file(devices, name);
  if (!exists || (std::filesystem::is_directory(name, ignored) && device != name)) {
    if (device.empty() && !exists)
      throw Error(ExitCode::bad_input, "device-unknown",
                  fmt::format("neither a file nor a device: '{}'", shown(name, 60)),
                  device::unknown_name_hint(devices, name));
    if (!device.empty()) return side_of_device(name, device);
  }
  const std::string text = read_file(name, result::max_json_bytes, "result or device file");
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' ? side_of_result(name, text)
                                                          : side_of_device(name, name);
}

struct Row {
  std::string key, state, intervals;
  const Value *a = nullptr, *b = nullptr;  // null: that side does not have the key
  std::optional<double> difference;        // b / a - 1
};

bool known(const Value* v) { return v != nullptr && v->finding.known(); }

Row row_of(const std::string& key, const Value* a, const Value* b, double rounding) {
  Row row{key, {}, {}, a, b, {}};
  if (!known(a) || !known(b)) {
    row.state = known(a) ? "only a" : known(b) ? "only b" : "unknown";
    return row;
  }
  const probe::Finding &x = a->finding, &y = b->finding;
  if (!x.word.empty() || !y.word.empty()) {
    row.state = x.word == y.word ? "equal" : "differs";
    return row;
  }
  if (x.unit != y.unit) {
    row.state = "units";
    return row;
  }
  const double slack = rounding * std::max(std::abs(x.value), std::abs(y.value));
  row.state = std::abs(x.value - y.value) <= slack ? "equal" : "differs";
  if (row.state == "equal")
    row.difference = 0;
  else if (x.value != 0 && std::isfinite(y.value / x.value))
    row.difference = y.value / x.value - 1;
  if (a->interval && b->interval)
    row.intervals =
        a->interval->low <= b->interval->high + slack && b->interval->low <= a->interval->high + slack
            ? "overlap"
            : "apart";
  return row;
}

// In the order of the first; then what only the second has.
std::vector<Row> compare(const Side& a, const Side& b) {
  const double rounding = a.rounded || b.rounded ? 1e-5 : 0;
  std::map<std::string_view, const Value*> others;
  for (const Value& v : b.values) others[v.finding.key] = &v;
  std::vector<Row> rows;
  for (const Value& v : a.values) {
    const auto other = others.find(v.finding.key);
    rows.push_back(row_of(v.finding.key, &v, other == others.end() ? nullptr : other->second, rounding));
    if (other != others.end()) others.erase(other);
  }
  for (const Value& v : b.values)
    if (others.contains(v.finding.key)) rows.push_back(row_of(v.finding.key, nullptr, &v, rounding));
  return rows;
}

std::string note_of(const Value* v) {
  return v == nullptr ? "not looked for" : v->finding.known() ? v->note : v->finding.unknown;
}

result::Result result_of(const std::vector<Row>& rows) {
  result::Result out;
  result::KernelResult& k = out.kernels.emplace_back();
  k.name = k.demangled = "comparison";
  result::Table table{"comparison", {}};
  std::uint64_t both = 0, equal = 0, apart = 0, only_a = 0, only_b = 0;
  const auto text = [](const std::string& t) { return t.empty() ? result::Cell{} : result::Cell{t}; };
  for (const Row& r : rows) {
    std::vector<result::Cell> cells = {r.key, text(known(r.a)   ? r.a->finding.unit
                                                   : known(r.b) ? r.b->finding.unit
                                                                : "")};
    for (const Value* v : {r.a, r.b}) {
      const bool numeric = known(v) && v->finding.word.empty();
      cells.push_back(numeric ? result::Cell{v->finding.value} : result::Cell{});
      cells.push_back(known(v) ? text(v->finding.word) : result::Cell{});
      cells.push_back(numeric && v->interval ? result::Cell{v->interval->low} : result::Cell{});
      cells.push_back(numeric && v->interval ? result::Cell{v->interval->high} : result::Cell{});
    }
    cells.push_back(r.difference ? result::Cell{*r.difference} : result::Cell{});
    for (const std::string& t : {r.intervals, r.state, note_of(r.a), note_of(r.b)}) cells.push_back(text(t));
    table.rows.push_back(std::move(cells));
    both += known(r.a) && known(r.b) ? 1 : 0, equal += r.state == "equal" ? 1 : 0,
        apart += r.intervals == "apart" ? 1 : 0, only_a += r.state == "only a" ? 1 : 0,
        only_b += r.state == "only b" ? 1 : 0;
  }
  k.tables.push_back(std::move(table));
  out.total.set("probe.compare.keys", both);
  out.total.set("probe.compare.equal", equal);
  out.total.set("probe.compare.apart", apart);
  out.total.set("probe.compare.only_a", only_a);
  out.total.set("probe.compare.only_b", only_b);
  return out;
}

std::string value_text(const Value& v) {
  std::string out = shown(probe::value_text(v.finding), 40);
  if (v.interval && v.interval->low != v.interval->high)
    out += fmt::format(" ({:.5g} to {:.5g})", v.interval->low, v.interval->high);
  return v.note.empty() ? out : out + "*";
}

std::string text_of(const Side& a, const Side& b, const std::vector<Row>& rows,
                    const result::Metrics& total) {
  std::string out = fmt::format("A: {}\nB: {}\n\n{:<36} {:<36} {:<36} {:>10}  intervals\n", a.name, b.name,
                                "key", "A", "B", "B / A - 1");
  bool estimates = false;
  for (const Row& r : rows) {
    if (!known(r.a) || !known(r.b)) continue;
    estimates |= !r.a->note.empty() || !r.b->note.empty();
    const std::string difference =
        r.difference         ? (*r.difference == 0 ? "=" : fmt::format("{:+.2f} %", *r.difference * 100))
        : r.state == "equal" ? "="
        : r.state == "units" ? "units"
                             : "differs";
    out += fmt::format("{:<36} {:<36} {:<36} {:>10}  {}\n", shown(r.key, 60), value_text(*r.a),
                       value_text(*r.b), difference, r.intervals.empty() ? "-" : r.intervals);
  }
  if (estimates) out += "\n* an estimate, not measured\n";
  const auto list = [&](const char* state, const char* head, bool first) {
    bool any = false;
    for (const Row& r : rows) {
      if (r.state != state) continue;
      if (!any) out += fmt::format("\n{}\n", head);
      any = true;
      out += fmt::format("  {:<34} {:<36} {}\n", shown(r.key, 60), value_text(first ? *r.a : *r.b),
                         shown(note_of(first ? r.b : r.a), 120));
    }
  };
  list("only a", "Only in A, and why not in B:", true);
  list("only b", "Only in B, and why not in A:", false);
  const auto count = [&](const char* name) { return total.get(name).value_or(0); };
  return out +
         fmt::format(
             "\n{} keys in both, {} of them equal, {} with intervals apart; {} only in A, {} only in B\n",
             count("probe.compare.keys"), count("probe.compare.equal"), count("probe.compare.apart"),
             count("probe.compare.only_a"), count("probe.compare.only_b"));
}

std::string csv_of(const result::Table& table) {
  std::string out;
  const auto field = [](const result::Cell& cell) -> std::string {
    if (const auto* text = std::get_if<std::string>(&cell)) {
      if (text->find_first_of("\",\r\n") == std::string::npos) return *text;
      std::string quoted = "\"";
      for (const char c : *text) quoted += c == '"' ? "\"\"" : std::string(1, c);
      return quoted + "\"";
    }
    return std::holds_alternative<std::monostate>(cell) ? "" : fmt::format("{:.10g}", result::number(cell));
  };
  for (const result::ColumnDeclaration& c : result::find_table(table.name)->columns)
    out += fmt::format("{}{}", out.empty() ? "" : ",", c.name);
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i == 0 ? "" : ",") + field(row[i]);
    out += "\r\n";
  }
  return out;
}

}  // namespace

Outcome probe_compare(ProbeOptions o) {
  const RunClock clock;
  check_outputs(o.output);
  const Side a = side_of(o.compare.at(0)), b = side_of(o.compare.at(1));
  std::vector<std::filesystem::path> inputs = a.files;
  inputs.insert(inputs.end(), b.files.begin(), b.files.end());
  check_inputs(o.output, inputs);
  const std::vector<Row> rows = compare(a, b);
  result::Result result = result_of(rows);
  result.manifest.mode = "probe";
  result.manifest.inputs = hash_inputs(inputs);
  clock.finish(result);
  Outcome out(std::move(result), o.output);
  out.csv = [table = out.result->kernels.front().tables.front()] { return csv_of(table); };
  out.text = [text = text_of(a, b, rows, out.result->total)](const report::Style&) { return text; };
  return out;
}

}  // namespace simtlab::studies
