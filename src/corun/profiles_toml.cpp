// Profiles as TOML: [[kernel]] and [[application]] tables, quantities with their units.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/shown.h"
#include "base/toml_reader.h"
#include "base/units.h"
#include "corun/profiles.h"

namespace simtlab::corun {
namespace {

constexpr TomlText::Form form{"corun-profiles", "corun-profiles",
                              "docs/reference/corun-files.md describes the file", 64 * 1024};
constexpr std::uint64_t most_iterations = 1'000'000'000;

class Reader {
 public:
  Reader(const TomlText& source, Profiles& out) : source_(source), out_(out) {}

  void read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const toml::array* list = node.as_array();
      if ((key != "kernel" && key != "application") || list == nullptr)
        fail(node, fmt::format("\"{}\" is neither a [[kernel]] nor an [[application]]", shown(key.str())));
      for (const toml::node& element : *list) {
        const toml::table* table = element.as_table();
        if (table == nullptr) fail(element, fmt::format("[[{}]] is a table", key.str()));
        if (key == "kernel")
          kernel(*table);
        else
          application(*table);
      }
    }
    for (const auto& [name, app] : out_.applications)
      for (const std::string& k : app.sequence)
        if (out_.find(name, k) == nullptr)
          throw Error(ExitCode::bad_input, "corun-profiles",
                      fmt::format("{}: application {} has a kernel {} of which there is no profile",
                                  source_.file(), shown(name), shown(k)));
  }

 private:
  [[noreturn]] void fail(const toml::node& at, const std::string& message) const {
    fail_at(source_, at, message, form.hint);
  }

  std::string text(const toml::node& node, std::string_view key) const {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) fail(node, fmt::format("{} is a text that is not empty", key));
    return *value;
  }

  // A plain number, or a text with its unit.
  double quantity(const toml::node& node, std::string_view key, Unit unit) const {
    try {
      if (const auto value = node.value_exact<std::string>()) return parse_quantity(*value, unit);
    } catch (const Error& e) { fail(node, fmt::format("{}: {}", key, e.diagnostics().front().message)); }
    const auto number = node.value<double>();
    if (!number || unit != Unit::none || !std::isfinite(*number) || *number < 0)
      fail(node, fmt::format("{} is no quantity that is possible", key));
    return *number;
  }

  std::array<std::uint32_t, 3> shape(const toml::node& node, std::string_view key) const {
    const toml::array* list = node.as_array();
    std::array<std::uint32_t, 3> out = {1, 1, 1};
    if (list == nullptr || list->empty() || list->size() > 3)
      fail(node, fmt::format("{} is a list of one to three numbers", key));
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto v = (*list)[i].value_exact<std::int64_t>();
      if (!v || *v < 1 || *v > 0x7fffffff)
        fail((*list)[i], fmt::format("{} is a list of one to three numbers above 0", key));
      out[i] = static_cast<std::uint32_t>(*v);
    }
    return out;
  }

  static Unit unit_of(const ProfileField& f) {
    return f.is_time        ? Unit::nanoseconds
           : f.is_bytes     ? Unit::bytes
           : f.is_bandwidth ? Unit::bytes_per_second
                            : Unit::none;
  }

  void kernel(const toml::table& table) {
    KernelProfile out;
    for (const auto& [name, node] : table) {
      const std::string_view key = name.str();
      if (key == "application")
        out.application = text(node, key);
      else if (key == "name")
        out.name = text(node, key);
      else if (key == "source")
        out.source = text(node, key);
      else if (key == "program")
        out.program = text(node, key);
      else if (key == "content")
        out.content = text(node, key);
      else if (key == "grid")
        out.profile.grid = shape(node, key);
      else if (key == "block")
        out.profile.block = shape(node, key);
      else if (key == "more")
        more(out.profile, node);
      else
        value(out.profile, node, key);
    }
    if (out.name.empty() || out.application.empty()) fail(table, "a [[kernel]] needs application and name");
    if (out_.find(out.application, out.name) != nullptr)
      fail(table, fmt::format("{} of {} is here twice", shown(out.name), shown(out.application)));
    out_.add(std::move(out));
  }

  void more(Profile& out, const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) fail(node, "more is a table of numbers: more.NAME = VALUE");
    for (const auto& [name, one] : *table) {
      const auto number = one.value<double>();
      if (!is_more_name(name.str()) || one.is_boolean() || !number || !std::isfinite(*number) || *number < 0)
        fail(one, fmt::format("more.{} is no number from 0 under a name of letters, digits, - and _",
                              shown(name.str())));
      out.more.emplace(name.str(), *number);
    }
    if (out.more.size() > most_more) fail(node, fmt::format("more has more than {} values", most_more));
  }

  void value(Profile& out, const toml::node& node, std::string_view key) const {
    for (const ProfileField& f : profile_fields()) {
      if (f.key != key) continue;
      const double v = quantity(node, key, unit_of(f));
      if (f.value == &Profile::memory_stall && v > 1) fail(node, "memory_stall is a share from 0 to 1");
      if (f.is_time && v <= 0) fail(node, "a kernel takes some time");
      out.*f.value = v;
      return;
    }
    fail_at(source_, node, fmt::format("a [[kernel]] has no \"{}\"", shown(key)),
            "values of your own are called more.NAME; docs/reference/corun-files.md describes the file");
  }

  void application(const toml::table& table) {
    Application out;
    for (const auto& [name, node] : table) {
      const std::string_view key = name.str();
      if (key == "name")
        out.name = text(node, key);
      else if (key == "source")
        out.source = text(node, key);
      else if (key == "gap")
        out.gap_ns = quantity(node, key, Unit::nanoseconds);
      // What the source says of the whole, for readers
      else if (key == "total")
        quantity(node, key, Unit::nanoseconds);
      else if (key == "iterations") {
        const auto v = node.value_exact<std::int64_t>();
        if (!v || *v < 1 || static_cast<std::uint64_t>(*v) > most_iterations)
          fail(node, fmt::format("iterations is a number from 1 to {}", most_iterations));
        out.iterations = static_cast<std::uint64_t>(*v);
      } else if (key == "sequence") {
        const toml::array* list = node.as_array();
        if (list == nullptr || list->empty()) fail(node, "sequence is a list of kernels");
        for (const toml::node& k : *list) out.sequence.push_back(text(k, key));
      } else {
        fail(node, fmt::format("an [[application]] has no \"{}\"", shown(key)));
      }
    }
    if (out.name.empty() || out.sequence.empty()) fail(table, "an [[application]] needs name and sequence");
    if (out_.applications.contains(out.name))
      fail(table, fmt::format("application {} is here twice", shown(out.name)));
    out_.add(std::move(out));
  }

  const TomlText& source_;
  Profiles& out_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// All in one unit, as the thesis and profilers have them, and to the last bit.
std::string bandwidth(double v) {
  const double near = v / 1e9;
  for (const double one : {near, std::nextafter(near, 0.0), std::nextafter(near, v)}) {
    std::string text = fmt::format("{} GB/s", one);
    if (parse_quantity(text, Unit::bytes_per_second) == v) return text;
  }
  return fmt::format("{} B/s", v);
}

std::string written(const ProfileField& f, double v) {
  if (f.is_time) return quoted(format_quantity(v, Unit::nanoseconds));
  if (f.is_bytes) return quoted(format_quantity(v, Unit::bytes));
  if (f.is_bandwidth) return quoted(bandwidth(v));
  return fmt::format("{}", v);
}

}  // namespace

Profiles profiles_from_toml(std::string_view text, const std::string& file) {
  const TomlText source(text, file, form);
  Profiles out;
  const toml::table root = parse(source);
  Reader(source, out).read(root);
  return out;
}

std::string to_toml(const Profiles& profiles) {
  std::string out;
  for (const auto& [key, k] : profiles.kernels) {
    out += fmt::format("[[kernel]]\napplication = {}\nname = {}\n", quoted(k.application), quoted(k.name));
    if (!k.program.empty()) out += fmt::format("program = {}\n", quoted(k.program));
    if (!k.content.empty()) out += fmt::format("content = {}\n", quoted(k.content));
    if (k.profile.grid) out += fmt::format("grid = [{}]\n", fmt::join(*k.profile.grid, ", "));
    if (k.profile.block) out += fmt::format("block = [{}]\n", fmt::join(*k.profile.block, ", "));
    for (const ProfileField& f : profile_fields())
      if (const auto& v = k.profile.*f.value) out += fmt::format("{} = {}\n", f.key, written(f, *v));
    for (const auto& [name, v] : k.profile.more) out += fmt::format("{}{} = {}\n", more_prefix, name, v);
    if (!k.source.empty()) out += fmt::format("source = {}\n", quoted(k.source));
    out += '\n';
  }
  for (const auto& [key, a] : profiles.applications) {
    std::vector<std::string> sequence;
    for (const std::string& k : a.sequence) sequence.push_back(quoted(k));
    out += fmt::format("[[application]]\nname = {}\niterations = {}\nsequence = [{}]\n", quoted(a.name),
                       a.iterations, fmt::join(sequence, ", "));
    if (a.gap_ns > 0) out += fmt::format("gap = {}\n", quoted(format_quantity(a.gap_ns, Unit::nanoseconds)));
    if (!a.source.empty()) out += fmt::format("source = {}\n", quoted(a.source));
    out += '\n';
  }
  return out;
}

}  // namespace simtlab::corun
