#include "studies/sweep/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/shown.h"
#include "base/toml_reader.h"
#include "base/units.h"

namespace simtlab::studies::sweep {
namespace {

constexpr std::size_t most_axes = 64;
constexpr TomlText::Form form{"sweep-file", "toml-syntax", "docs/guide/sweep.md describes the file",
                              max_study_bytes};
constexpr std::uint64_t most_repeats = 100'000;

class Reader {
 public:
  Reader(std::string_view text, const std::filesystem::path& file) : source_(text, file.string(), form) {}

  StudyFile read() {
    const toml::table root = parse(source_);
    check_keys(source_, root,
               {"name", "command", "kernels", "axes", "design", "constraints", "repeats", "seed", "timeout",
                "report"},
               "study");
    if (const toml::node* n = root.get("name")) out_.study.name = name(*n);
    if (const toml::node* n = root.get("command")) out_.study.command = texts(*n, "command");
    if (const toml::node* n = root.get("kernels")) out_.kernels = texts(*n, "kernels");
    if (const toml::node* n = root.get("repeats")) out_.study.repeats = whole(*n, "repeats", 1, most_repeats);
    if (const toml::node* n = root.get("seed"))
      out_.study.seed = whole(*n, "seed", 0, std::uint64_t{1} << 62);
    if (const toml::node* n = root.get("timeout")) out_.study.timeout_s = seconds(*n);
    if (const toml::node* n = root.get("design")) design(*n);
    if (const toml::node* n = root.get("axes")) axes(*n);
    if (const toml::node* n = root.get("constraints")) constraints(*n);
    if (const toml::node* n = root.get("report")) report(*n);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const toml::node& n, const std::string& message, const std::string& hint = {},
                         const char* id = nullptr) const {
    fail_at(source_, n, message, hint, id);
  }
  SourcePos pos(const toml::node& n) const {
    return {source_.file(), n.source().begin.line, n.source().begin.column};
  }

  std::string text_of(const toml::node& n, const char* what) const {
    if (const auto* s = n.as_string()) {
      if (s->get().empty()) fail(n, fmt::format("'{}' is empty", what));
      return s->get();
    }
    fail(n, fmt::format("'{}' is no text", what), "put it into quotation marks");
  }
  // A value of an axis as the command line would have it.
  std::string value_of(const toml::node& n, const char* what) const {
    if (n.is_string()) return text_of(n, what);
    if (const auto* i = n.as_integer()) return fmt::format("{}", i->get());
    if (const auto* f = n.as_floating_point()) return fmt::format("{}", f->get());
    if (const auto* b = n.as_boolean()) return b->get() ? "true" : "false";
    fail(n, fmt::format("'{}' is neither text nor number", what));
  }
  std::vector<std::string> texts(const toml::node& n, const char* what) const {
    const toml::array* list = n.as_array();
    if (list == nullptr || list->empty())
      fail(n, fmt::format("'{}' is no list of words", what), fmt::format("{} = [\"...\", \"...\"]", what));
    std::vector<std::string> out;
    for (const toml::node& one : *list) out.push_back(value_of(one, what));
    return out;
  }
  std::uint64_t whole(const toml::node& n, const char* what, std::uint64_t least, std::uint64_t most) const {
    const auto* i = n.as_integer();
    if (i == nullptr || i->get() < 0 || static_cast<std::uint64_t>(i->get()) < least ||
        static_cast<std::uint64_t>(i->get()) > most)
      fail(n, fmt::format("'{}' is no whole number from {} to {}", what, least, most));
    return static_cast<std::uint64_t>(i->get());
  }
  double seconds(const toml::node& n) const {
    try {
      const double s = parse_quantity(text_of(n, "timeout"), Unit::nanoseconds) / 1e9;
      if (s > 0) return s;
    } catch (const Error&) {}
    fail(n, "'timeout' is no time above 0", "for example timeout = \"90 s\"");
  }
  std::string name(const toml::node& n) const {
    const std::string text = text_of(n, "name");
    if (text.size() > 60 ||
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
            std::string::npos ||
        text.starts_with("."))
      fail(n, "'name' has at most 60 letters, digits, '-', '_' and '.'", "it becomes part of file names");
    return text;
  }

  void design(const toml::node& n) {
    const toml::table* t = n.as_table();
    if (t == nullptr) {
      try {
        out_.study.design = parse_design(text_of(n, "design"));
      } catch (const Error& e) {
        fail(n, e.diagnostics().front().message, e.diagnostics().front().hint, "sweep-design");
      }
      return;
    }
    check_keys(source_, *t, {"kind", "points"}, "design");
    if (const toml::node* kind = t->get("kind")) {
      try {
        out_.study.design = parse_design(text_of(*kind, "kind"));
      } catch (const Error& e) {
        fail(*kind, e.diagnostics().front().message, e.diagnostics().front().hint, "sweep-design");
      }
    }
    if (const toml::node* points = t->get("points"))
      out_.study.points = whole(*points, "points", 1, most_points);
  }

  void axes(const toml::node& n) {
    const toml::table* t = n.as_table();
    if (t == nullptr)
      fail(n, "'axes' is no table", "[axes], then a line an axis: dram = [\"hbm2\", \"hbm3\"]");
    add_axes(*t, "");
    if (out_.study.axes.size() > most_axes) fail(n, fmt::format("more than {} axes", most_axes));
    // A table has no order; the file has.
    std::vector<std::size_t> order(out_.study.axes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto place = [&](std::size_t i) {
      return std::pair(out_.axis_positions[i].line, out_.axis_positions[i].column);
    };
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    std::vector<Axis> sorted;
    std::vector<SourcePos> places;
    for (const std::size_t i : order)
      sorted.push_back(std::move(out_.study.axes[i])), places.push_back(out_.axis_positions[i]);
    out_.study.axes = std::move(sorted);
    out_.axis_positions = std::move(places);
  }
  // sm.count = [...] is a table in TOML; {from = 1, to = 2} is a range.
  void add_axes(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      const toml::table* below = node.as_table();
      if (below != nullptr && !below->contains("from") && !below->contains("to")) {
        add_axes(*below, name + ".");
        continue;
      }
      out_.axis_positions.push_back(pos(node));
      out_.study.axes.push_back(below != nullptr ? range(name, *below) : values(name, node));
    }
  }
  Axis range(const std::string& name, const toml::table& t) const {
    check_keys(source_, t, {"from", "to", "step", "log", "unit"}, "range");
    const toml::node *from = t.get("from"), *to = t.get("to"), *step = t.get("step");
    if (from == nullptr || to == nullptr)
      fail(t, fmt::format("the range of '{}' has no '{}'", shown(name, 60), from == nullptr ? "from" : "to"));
    const bool log = t.contains("log") && t.get("log")->value_or(false);
    const std::string unit = t.contains("unit") ? " " + text_of(*t.get("unit"), "unit") : "";
    if (step != nullptr && (log || !unit.empty()))
      fail(*step, "a range with steps has neither 'log' nor 'unit'", "write the values as a list");
    const std::string text = step != nullptr ? fmt::format("{}:{}:{}", value_of(*from, "from"),
                                                           value_of(*to, "to"), value_of(*step, "step"))
                                             : fmt::format("{}..{}{}{}", value_of(*from, "from"),
                                                           value_of(*to, "to"), unit, log ? " log" : "");
    return parsed(name, text, t);
  }
  Axis values(const std::string& name, const toml::node& n) const {
    if (n.is_string()) return parsed(name, text_of(n, name.c_str()), n);
    const toml::array* list = n.as_array();
    if (list == nullptr || list->empty())
      fail(n, fmt::format("axis '{}' has no values", shown(name, 60)),
           "a list, or a range as \"60:132:12\" or { from = 60, to = 132 }");
    Axis out{name, {}, std::nullopt};
    for (const toml::node& one : *list) out.values.push_back(value_of(one, name.c_str()));
    return out;
  }
  Axis parsed(const std::string& name, const std::string& text, const toml::node& n) const {
    try {
      return parse_values(name, text, {"axis", "sweep-axis", ""});
    } catch (const Error& e) {
      fail(n, e.diagnostics().front().message,
           "a list, or a range as \"60:132:12\", \"16K:128K\" or { from = 60, to = 132 }", "sweep-axis");
    }
  }

  void constraints(const toml::node& n) {
    const toml::array* list = n.as_array();
    if (list == nullptr)
      fail(n, "'constraints' is no list of texts", "constraints = [\"sm.count < 100 or dram == 'hbm3'\"]");
    std::vector<std::string> names;
    for (const Axis& a : out_.study.axes) names.push_back(a.name);
    if (!out_.kernels.empty()) names.emplace_back("kernel");
    for (const toml::node& one : *list) {
      const SourcePos at = pos(one);
      out_.study.constraints.emplace_back(text_of(one, "constraints"), names, at);
    }
  }
  void report(const toml::node& n) {
    const toml::table* t = n.as_table();
    if (t == nullptr) fail(n, "'report' is no table", "[report], then minimise = [\"gpu.time\"]");
    check_keys(source_, *t, {"metrics", "minimise", "maximise"}, "report");
    if (const toml::node* m = t->get("metrics")) out_.study.metrics = texts(*m, "metrics");
    if (const toml::node* m = t->get("minimise")) out_.study.minimise = texts(*m, "minimise");
    if (const toml::node* m = t->get("maximise")) out_.study.maximise = texts(*m, "maximise");
  }

  TomlText source_;
  StudyFile out_;
};

}  // namespace

StudyFile read_study(std::string_view text, const std::filesystem::path& file) {
  return Reader(text, file).read();
}

}  // namespace simtlab::studies::sweep
