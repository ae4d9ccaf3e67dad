#include "corun/cycle/applications.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/toml_reader.h"
#include "base/units.h"

namespace simtlab::corun::cycle {
namespace {

constexpr std::size_t longest_name = 200;
constexpr TomlText::Form form{"corun-applications", "corun-applications",
                              "docs/concepts/corun.md describes the file", 64 * 1024};
constexpr std::int64_t most_iterations = 100'000;

class Reader {
 public:
  Reader(const TomlText& source, std::filesystem::path folder)
      : source_(source), folder_(std::move(folder)) {}

  std::vector<Described> read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const toml::array* list = node.as_array();
      if (key != "application" || list == nullptr)
        fail(node, fmt::format("\"{}\" is no [[application]]", shown(key.str())));
      for (const toml::node& element : *list) {
        const toml::table* table = element.as_table();
        if (table == nullptr) fail(element, "[[application]] is a table");
        application(*table);
      }
    }
    if (out_.empty()) source_.fail(1, 1, "there is no [[application]]", form.hint);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const toml::node& at, const std::string& message) const {
    fail_at(source_, at, message, form.hint);
  }

  std::string text(const toml::node& node, std::string_view key) const {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty() || value->find('\0') != std::string::npos)
      fail(node, fmt::format("{} is a text that is not empty", key));
    return *value;
  }

  std::vector<std::string> texts(const toml::node& node, std::string_view key) const {
    const toml::array* list = node.as_array();
    if (list == nullptr) fail(node, fmt::format("{} is a list of texts", key));
    std::vector<std::string> out;
    for (const toml::node& one : *list) {
      const auto value = one.value_exact<std::string>();
      if (!value || value->find('\0') != std::string::npos)
        fail(one, fmt::format("{} is a list of texts", key));
      out.push_back(*value);
    }
    return out;
  }

  double gap(const toml::node& node) const {
    try {
      const double out = parse_quantity(text(node, "gap"), Unit::nanoseconds);
      if (out <= 1e12) return out;
    } catch (const Error& e) { fail(node, fmt::format("gap: {}", e.diagnostics().front().message)); }
    fail(node, "gap: a host that does nothing for more than 1000 s has ended");
  }

  // A name as mixes have it on the command line, between commas.
  std::string name(const toml::node& node) const {
    const std::string out = text(node, "name");
    if (out.size() > longest_name || std::ranges::any_of(out, [](char c) {
          return c == ',' || c == '/' || static_cast<unsigned char>(c) <= ' ';
        }))
      fail(node, "a name has no commas, slashes or blanks, and at most 200 bytes");
    if (std::ranges::find(out_, out, &Described::name) != out_.end())
      fail(node, fmt::format("application {} is here twice", shown(out)));
    return out;
  }

  void field(Described& out, std::string_view key, const toml::node& node) const {
    if (key == "name")
      out.name = name(node);
    else if (key == "run")
      out.file = folder_ / text(node, key);
    else if (key == "arguments")
      out.arguments = texts(node, key);
    else if (key == "launch")
      out.launch = folder_ / text(node, key);
    else if (key == "kernel")
      out.kernel = text(node, key);
    else if (key == "grid")
      out.grid = text(node, key);
    else if (key == "global")
      out.global = text(node, key);
    else if (key == "block")
      out.block = text(node, key);
    else if (key == "args")
      out.args = texts(node, key);
    else if (key == "gap")
      out.gap_ns = gap(node);
    else if (key == "iterations") {
      const auto v = node.value_exact<std::int64_t>();
      if (!v || *v < 1 || *v > most_iterations)
        fail(node, fmt::format("iterations is a number from 1 to {}", most_iterations));
      out.iterations = static_cast<std::uint64_t>(*v);
    } else {
      fail(node, fmt::format("an [[application]] has no \"{}\"", shown(key)));
    }
  }

  void application(const toml::table& table) {
    Described out;
    for (const auto& [key, node] : table) field(out, key.str(), node);
    if (out.name.empty() || out.file.empty()) fail(table, "an [[application]] needs name and run");
    const bool launched =
        !out.launch.empty() || out.kernel || out.grid || out.global || out.block || !out.args.empty();
    if (launched && !out.is_kernel())
      fail(table,
           "launch, kernel, grid, global, block and args are for .ptx, .cubin and .cl files; a program "
           "launches its "
           "kernels itself");
    if (!launched && out.is_kernel())
      fail(table, "a .ptx, .cubin or .cl file needs a launch: launch = \"FILE\", or global, block and args");
    if (!out.arguments.empty() && (out.is_kernel() || out.is_trace()))
      fail(table, "arguments are for programs");
    out_.push_back(std::move(out));
  }

  const TomlText& source_;
  const std::filesystem::path folder_;
  std::vector<Described> out_;
};

}  // namespace

std::vector<Described> load_applications(const std::filesystem::path& path) {
  const std::string file = path.string(), text = read_file(path, 1 << 20, "list of applications");
  const TomlText source(text, file, form);
  const toml::table root = parse(source);
  return Reader(source, path.parent_path()).read(root);
}

std::vector<std::string> names_of(const std::vector<Described>& applications) {
  std::vector<std::string> out;
  for (const Described& a : applications) out.push_back(a.name);
  return out;
}

const Described& named(const std::vector<Described>& applications, const std::string& name,
                       const std::filesystem::path& file) {
  const auto at = std::ranges::find(applications, name, &Described::name);
  if (at == applications.end())
    throw Error(ExitCode::bad_input, "corun-applications",
                fmt::format("there is no application {}", shown(name)),
                fmt::format("{} has {}", file.string(), fmt::join(names_of(applications), ", ")));
  return *at;
}

}  // namespace simtlab::corun::cycle
