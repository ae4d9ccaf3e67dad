#include "result/json_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shell.h"
#include "result/json.h"
#include "result/json_node.h"

namespace simtlab::result {
namespace {

constexpr std::size_t most_accesses = 64;
constexpr std::uint32_t lanes_of_a_warp = 32;

// Members in one line; texts that are empty are left out.
class Members {
 public:
  void text(const char* key, const std::string& value) {
    if (!value.empty()) raw(key, json_string(value));
  }
  void path(const char* key, const std::string& value) {
    if (!value.empty()) raw(key, json_string(path_text(value)));
  }
  void number(const char* key, std::uint64_t value) { raw(key, fmt::format("{}", value)); }
  void raw(const char* key, const std::string& json) {
    out_ += fmt::format("{}\"{}\": {}", out_.empty() ? "" : ", ", key, json);
  }
  std::string object() const { return "{" + out_ + "}"; }

 private:
  std::string out_;
};

std::string place_json(const CodePlace& p) {
  Members m;
  m.text("kernel", p.kernel);
  m.text("function", p.function);
  m.path("file", p.file);
  if (p.line != 0) m.number("line", p.line);
  if (p.column != 0) m.number("column", p.column);
  m.path("ptx_file", p.ptx_file);
  if (p.ptx_line != 0) m.number("ptx_line", p.ptx_line);
  m.text("instruction", p.instruction);
  m.text("text", p.text);
  return m.object();
}

std::string dimensions_json(const std::uint32_t (&d)[3]) {
  return fmt::format("[{}, {}, {}]", d[0], d[1], d[2]);
}

std::string access_json(const Access& a) {
  Members m;
  m.text("what", a.what);
  m.number("launch", a.launch);
  m.raw("block", dimensions_json(a.block));
  m.raw("thread", dimensions_json(a.thread));
  m.text("value", a.value);
  m.raw("place", place_json(a.place));
  return m.object();
}

// "[\n<indent>  a,\n<indent>  b\n<indent>]", "[]" of none.
template <class T, class Write>
std::string list_json(const std::vector<T>& all, const std::string& indent, Write write) {
  std::string out = "[";
  for (std::size_t i = 0; i < all.size(); ++i)
    out += fmt::format("{}\n{}  {}", i == 0 ? "" : ",", indent, write(all[i]));
  return out + (all.empty() ? "]" : fmt::format("\n{}]", indent));
}

std::string finding_json(const Finding& f) {
  Members m;
  m.text("rule", f.rule);
  m.text("level", f.level == Level::error ? "error" : "warning");
  m.text("message", f.message);
  m.number("count", f.count);
  m.text("memory", f.memory);
  m.text("missing", f.missing);
  m.text("mend", f.mend);
  m.text("hint", f.hint);
  m.text("order", f.order);
  m.raw("accesses", list_json(f.accesses, "      ", access_json));
  return m.object();
}

std::string covered_json(const CoveredFile& f) {
  Members m;
  m.path("file", f.file);
  m.raw("functions", list_json(f.functions, "      ", [](const CoveredFunction& one) {
          return fmt::format("[{}, {}, {}]", one.line, json_string(one.name), one.warps);
        }));
  m.raw("lines", list_json(f.lines, "      ", [](const CoveredLine& one) {
          return fmt::format("[{}, {}, {}]", one.line, one.warps, one.lanes);
        }));
  m.raw("branches", list_json(f.branches, "      ", [](const CoveredBranch& one) {
          return fmt::format("[{}, {}, {}, {}, {}]", one.line, one.number, one.taken, one.not_taken,
                             one.parted);
        }));
  return m.object();
}

template <class T, class Read>
std::vector<T> list_from(const JsonNode& node, Read read) {
  std::vector<T> out;
  for (std::size_t i = 0; i < node.array_size(); ++i) out.push_back(read(node.at(i)));
  return out;
}

std::string text_of(const JsonNode& node, const char* key) {
  return node.has(key) ? node.at(key).string() : std::string();
}
std::uint32_t number_of(const JsonNode& node, const char* key) {
  return node.has(key) ? node.at(key).whole32() : 0;
}

CodePlace place_from(const JsonNode& node) {
  node.object();
  return {.kernel = text_of(node, "kernel"),
          .function = text_of(node, "function"),
          .file = path_of(text_of(node, "file")),
          .line = number_of(node, "line"),
          .column = number_of(node, "column"),
          .ptx_file = path_of(text_of(node, "ptx_file")),
          .ptx_line = number_of(node, "ptx_line"),
          .instruction = text_of(node, "instruction"),
          .text = text_of(node, "text")};
}

void dimensions_from(const JsonNode& node, std::uint32_t (&out)[3]) {
  if (node.array_size() != 3) node.bad("three numbers");
  for (std::size_t i = 0; i < 3; ++i) out[i] = node.at(i).whole32();
}

Access access_from(const JsonNode& node) {
  Access a;
  a.what = text_of(node.object(), "what");
  a.launch = node.at("launch").whole();
  dimensions_from(node.at("block"), a.block);
  dimensions_from(node.at("thread"), a.thread);
  a.value = text_of(node, "value");
  a.place = place_from(node.at("place"));
  return a;
}

Finding finding_from(const JsonNode& node) {
  Finding f;
  f.rule = node.object().at("rule").string();
  if (find_finding_rule(f.rule) == nullptr) node.at("rule").bad("a rule that this version knows");
  const std::string level = node.at("level").string();
  if (level != "error" && level != "warning") node.at("level").bad("error or warning");
  f.level = level == "error" ? Level::error : Level::warning;
  f.message = text_of(node, "message");
  f.count = node.at("count").whole();
  f.memory = text_of(node, "memory");
  f.missing = text_of(node, "missing");
  f.mend = text_of(node, "mend");
  f.hint = text_of(node, "hint");
  f.order = text_of(node, "order");
  const JsonNode accesses = node.at("accesses");
  if (accesses.array_size() > most_accesses) accesses.bad("a list of accesses (too many)");
  f.accesses = list_from<Access>(accesses, access_from);
  return f;
}

// A list of `count` values.
const JsonNode& tuple(const JsonNode& node, std::size_t count) {
  if (node.array_size() != count) node.bad("a list with its numbers");
  return node;
}

CoveredFile covered_from(const JsonNode& node) {
  CoveredFile f;
  f.file = path_of(text_of(node.object(), "file"));
  f.functions = list_from<CoveredFunction>(node.at("functions"), [](const JsonNode& n) {
    tuple(n, 3);
    return CoveredFunction{.name = n.at(std::size_t{1}).string(),
                           .line = n.at(std::size_t{0}).whole32(),
                           .warps = n.at(std::size_t{2}).whole()};
  });
  f.lines = list_from<CoveredLine>(node.at("lines"), [](const JsonNode& n) {
    tuple(n, 3);
    return CoveredLine{.line = n.at(std::size_t{0}).whole32(),
                       .warps = n.at(std::size_t{1}).whole(),
                       .lanes = static_cast<std::uint32_t>(n.at(std::size_t{2}).whole(lanes_of_a_warp))};
  });
  f.branches = list_from<CoveredBranch>(node.at("branches"), [](const JsonNode& n) {
    tuple(n, 5);
    return CoveredBranch{.line = n.at(std::size_t{0}).whole32(),
                         .number = n.at(std::size_t{1}).whole32(),
                         .taken = n.at(std::size_t{2}).whole(),
                         .not_taken = n.at(std::size_t{3}).whole(),
                         .parted = n.at(std::size_t{4}).whole()};
  });
  return f;
}

}  // namespace

std::string check_json(const CheckResult& check) {
  const auto text = [](const std::string& t) { return json_string(t); };
  return fmt::format(
      "{{\n    \"checks\": {},\n    \"launches\": {},\n    \"findings\": {},\n    \"coverage\": {},\n    "
      "\"gaps\": {}\n  }}",
      list_json(check.checks, "    ", text), check.launches, list_json(check.findings, "    ", finding_json),
      list_json(check.coverage, "    ", covered_json), list_json(check.gaps, "    ", text));
}

CheckResult check_from_json(const JsonNode& node) {
  const auto text = [](const JsonNode& n) { return n.string(); };
  CheckResult out;
  out.checks = list_from<std::string>(node.object().at("checks"), text);
  out.launches = node.at("launches").whole();
  out.findings = list_from<Finding>(node.at("findings"), finding_from);
  out.coverage = list_from<CoveredFile>(node.at("coverage"), covered_from);
  out.gaps = list_from<std::string>(node.at("gaps"), text);
  return out;
}

}  // namespace simtlab::result
