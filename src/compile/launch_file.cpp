// Launch files: TOML to LaunchSpec. The only place of this folder that includes toml++.
#include "compile/launch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <sstream>

#include "base/files.h"
#include "base/shown.h"
#include "base/toml_reader.h"
#include "compile/launch_values.h"
#include "compile/opencl.h"

namespace simtlab::compile {
namespace {

constexpr TomlText::Form form{"launch-file", "launch-file",
                              "launch files are TOML: see docs/reference/launch-file.md",
                              max_launch_file_bytes};

class Reader {
 public:
  Reader(std::string_view text, const std::filesystem::path& file)
      : source_(text, file.string(), form), folder_(file.parent_path()) {}

  LaunchSpec read() {
    const toml::table root = parse(source_);
    check_keys(source_, root,
               {"kernel", "options", "grid", "global", "block", "offset", "shared", "arg", "expect"},
               "launch file");
    LaunchSpec spec;
    spec.file = source_.file();
    if (const toml::node* n = root.get("kernel")) {
      spec.kernel = text_of(*n, "kernel");
      if (spec.kernel.empty()) fail(*n, "'kernel' is empty", "leave it out if the module has one kernel");
      spec.kernel_pos = pos(*n);
    }
    if (const toml::node* n = root.get("options")) spec.options = words(*n);
    read_shape(root, spec);
    for (const toml::table* t : tables(root, "arg")) {
      spec.args.push_back(argument(*t));
      refuse_second_name(*t, spec.args);
    }
    for (const toml::table* t : tables(root, "expect")) spec.expect.push_back(expectation(*t, spec));
    return spec;
  }

 private:
  [[noreturn]] void fail(const toml::node& node, const std::string& message,
                         const std::string& hint = {}) const {
    fail_at(source_, node, message, hint);
  }
  SourcePos pos(const toml::node& n) const {
    return {source_.file(), n.source().begin.line, n.source().begin.column};
  }

  void read_shape(const toml::table& root, LaunchSpec& spec) const {
    const auto read = [&](const char* key, auto& out, SourcePos& place) {
      const toml::node* n = root.get(key);
      if (n == nullptr) return;
      out = dimensions(*n, key, std::string_view(key) == "offset");
      place = pos(*n);
      if (&place == &spec.grid_pos)
        spec.dimensions = n->is_array() ? static_cast<std::uint32_t>(n->as_array()->size()) : 1;
    };
    read("grid", spec.grid, spec.grid_pos);
    read("global", spec.global, spec.grid_pos);
    read("block", spec.block, spec.block_pos);
    read("offset", spec.offset, spec.offset_pos);
    if (spec.grid && spec.global)
      fail(*root.get("global"), "both grid (in blocks) and global (in threads) are given",
           "keep one of them");
    if (const toml::node* n = root.get("shared")) {
      spec.shared_bytes =
          static_cast<std::uint32_t>(whole(*n, "shared", std::numeric_limits<std::uint32_t>::max()));
      spec.shared_pos = pos(*n);
    }
  }

  // [[expect]] finds arguments by name.
  void refuse_second_name(const toml::table& t, const std::vector<LaunchArg>& args) const {
    const std::string& name = args.back().name;
    if (name.empty()) return;
    for (std::size_t i = 0; i + 1 < args.size(); ++i)
      if (args[i].name == name)
        fail(*t.get("name"), fmt::format("argument {} has the name '{}', too", i, shown(name)),
             "give each argument a name of its own");
  }

  std::vector<const toml::table*> tables(const toml::table& root, const char* key) const {
    std::vector<const toml::table*> out;
    const toml::node* node = root.get(key);
    if (node == nullptr) return out;
    const toml::array* array = node->as_array();
    if (array == nullptr)
      fail(*node, fmt::format("'{}' must be a list of tables", key),
           fmt::format("write [[{}]] before each", key));
    if (array->size() > max_args) fail(*node, fmt::format("more than {} entries of '{}'", max_args, key));
    for (const toml::node& element : *array) {
      if (!element.is_table())
        fail(element, fmt::format("an entry of '{}' is not a table", key),
             fmt::format("write [[{}]] before each", key));
      out.push_back(element.as_table());
    }
    return out;
  }

  std::string text_of(const toml::node& node, const char* key) const {
    if (!node.is_string()) fail(node, fmt::format("'{}' must be a text in quotes", key));
    return std::string(**node.as_string());
  }

  std::uint64_t whole(const toml::node& node, const char* key, std::uint64_t most) const {
    if (!node.is_integer()) fail(node, fmt::format("'{}' must be a whole number", key));
    const std::int64_t value = **node.as_integer();
    if (value < 0 || static_cast<std::uint64_t>(value) > most)
      fail(node, fmt::format("'{}' is {}, allowed are 0 to {}", key, value, most));
    return static_cast<std::uint64_t>(value);
  }

  std::vector<std::string> words(const toml::node& node) const {
    try {
      return split_opencl_options(text_of(node, "options"));
    } catch (const Error& e) {
      if (e.id() == "launch-file") throw;
      fail(node, e.diagnostics().front().message, e.diagnostics().front().hint);
    }
  }

  // An offset may be 0, and is where nothing is said.
  std::array<std::uint32_t, 3> dimensions(const toml::node& node, const char* key, bool zero_allowed) const {
    std::array<std::uint32_t, 3> out{1, 1, 1};
    if (zero_allowed) out = {0, 0, 0};
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (node.is_integer()) {
      out[0] = static_cast<std::uint32_t>(whole(node, key, most));
    } else if (const toml::array* array = node.as_array();
               array != nullptr && !array->empty() && array->size() <= 3) {
      for (std::size_t i = 0; i < array->size(); ++i)
        out[i] = static_cast<std::uint32_t>(whole((*array)[i], key, most));
    } else {
      fail(node, fmt::format("'{}' must be a number or a list of one to three numbers", key),
           fmt::format("for instance {} = [16, 16]", key));
    }
    for (const std::uint32_t d : out)
      if (d == 0 && !zero_allowed) fail(node, fmt::format("a dimension of '{}' is 0", key));
    return out;
  }

  Number number(const toml::node& node, ElementType type) const {
    Number out;
    if (node.is_integer()) {
      out.integer = **node.as_integer();
      out.real = static_cast<double>(out.integer);
    } else if (node.is_floating_point()) {
      out.is_integer = false;
      out.real = **node.as_floating_point();
    } else {
      fail(node, "this must be a number");
    }
    const std::string wrong = check_value(out, type);
    if (!wrong.empty()) fail(node, wrong);
    return out;
  }

  std::vector<Number> numbers(const toml::node& node, ElementType type, std::uint64_t most) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) fail(node, "'values' must be a list of numbers");
    if (array->size() > most || array->size() > max_values)
      fail(node, fmt::format("{} values for a buffer of {} elements", array->size(), most),
           "large contents go into a file");
    std::vector<Number> out;
    for (const toml::node& element : *array) out.push_back(number(element, type));
    return out;
  }

  std::vector<Number> lanes(const toml::node& node, ElementType type) const {
    std::vector<Number> out;
    for (const toml::node& element : *node.as_array()) out.push_back(number(element, type));
    if (out.empty() || out.size() > max_lanes)
      fail(node, fmt::format("a vector of {} elements, allowed are 1 to {}", out.size(), max_lanes));
    return out;
  }

  std::filesystem::path path_of(const toml::node& node) const {
    const std::filesystem::path path = text_of(node, "file");
    return path.is_absolute() ? path : folder_ / path;
  }

  ElementType type_of(const toml::table& t) const {
    const toml::node* node = t.get("type");
    if (node == nullptr) fail(t, "'type' is missing", "one of " + type_list());
    const std::string name = text_of(*node, "type");
    const std::optional<ElementType> type = element_type(name);
    if (!type) fail(*node, fmt::format("unknown type '{}'", shown(name)), "one of " + type_list());
    return *type;
  }

  LaunchArg argument(const toml::table& t) const {
    check_keys(source_, t, {"name", "type", "value", "shape", "init", "seed", "values", "file", "local"},
               "argument");
    LaunchArg arg;
    arg.pos = pos(t);
    if (const toml::node* n = t.get("name")) arg.name = text_of(*n, "name");
    const int kinds =
        (t.contains("value") ? 1 : 0) + (t.contains("shape") ? 1 : 0) + (t.contains("local") ? 1 : 0);
    if (kinds != 1)
      fail(t,
           "an argument has exactly one of 'value' (scalar), 'shape' (buffer) and 'local' (shared memory in "
           "bytes)");
    if (const toml::node* n = t.get("local")) {
      arg.kind = LaunchArg::Kind::local;
      arg.local_bytes = whole(*n, "local", std::numeric_limits<std::uint32_t>::max());
      refuse(t, {"type", "init", "seed", "values", "file"}, "a local-memory argument");
    } else if (const toml::node* v = t.get("value")) {
      arg.kind = LaunchArg::Kind::scalar;
      arg.type = type_of(t);
      if (v->is_array())
        arg.lanes = lanes(*v, arg.type);
      else
        arg.value = number(*v, arg.type);
      refuse(t, {"init", "seed", "values", "file"}, "a scalar argument");
    } else {
      arg.kind = LaunchArg::Kind::buffer;
      arg.type = type_of(t);
      arg.shape = shape(*t.get("shape"), arg.type);
      arg.contents = contents(t, arg);
    }
    return arg;
  }

  void refuse(const toml::table& t, std::initializer_list<const char*> keys, const char* what) const {
    for (const char* key : keys)
      if (const toml::node* n = t.get(key)) fail(*n, fmt::format("'{}' has no meaning for {}", key, what));
  }

  std::vector<std::uint64_t> shape(const toml::node& node, ElementType type) const {
    std::vector<std::uint64_t> out;
    if (node.is_integer()) {
      out.push_back(whole(node, "shape", max_buffer_bytes));
    } else if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) out.push_back(whole(element, "shape", max_buffer_bytes));
    } else {
      fail(node, "'shape' must be a number or a list of numbers");
    }
    const std::string wrong = check_shape(out, type);
    if (!wrong.empty()) fail(node, wrong);
    return out;
  }

  Contents contents(const toml::table& t, const LaunchArg& arg) const {
    Contents out;
    const int sources =
        (t.contains("init") ? 1 : 0) + (t.contains("values") ? 1 : 0) + (t.contains("file") ? 1 : 0);
    if (sources > 1) fail(t, "a buffer has at most one of 'init', 'values' and 'file'");
    if (const toml::node* n = t.get("values")) {
      out.kind = Contents::Kind::values;
      out.values = numbers(*n, arg.type, arg.elements());
    } else if (const toml::node* f = t.get("file")) {
      out.kind = Contents::Kind::file;
      out.file = path_of(*f);
      out.file_pos = pos(*f);
    } else if (const toml::node* i = t.get("init")) {
      const std::string name = text_of(*i, "init");
      if (name == "zero")
        out.kind = Contents::Kind::zero;
      else if (name == "none")
        out.kind = Contents::Kind::none;
      else if (name == "iota")
        out.kind = Contents::Kind::iota;
      else if (name == "random")
        out.kind = Contents::Kind::random;
      else
        fail(*i, fmt::format("unknown contents '{}'", shown(name)),
             "zero, none, iota or random; or give 'values' or 'file'");
    }
    if (const toml::node* n = t.get("seed")) {
      if (out.kind != Contents::Kind::random) fail(*n, "'seed' needs init = \"random\"");
      out.seed = whole(*n, "seed", std::numeric_limits<std::int64_t>::max());
    }
    return out;
  }

  Expectation expectation(const toml::table& t, const LaunchSpec& spec) const {
    check_keys(source_, t, {"arg", "value", "values", "file", "tolerance"}, "expectation");
    Expectation out;
    out.pos = pos(t);
    const toml::node* which = t.get("arg");
    if (which == nullptr) fail(t, "'arg' is missing: the name or the number (from 0) of a buffer");
    out.arg = find_argument(*which, spec);
    const LaunchArg& arg = spec.args[out.arg];
    if ((t.contains("value") ? 1 : 0) + (t.contains("values") ? 1 : 0) + (t.contains("file") ? 1 : 0) != 1)
      fail(t, "an expectation has exactly one of 'value' (every element), 'values' and 'file'");
    out.contents.kind = Contents::Kind::values;
    if (const toml::node* n = t.get("values")) {
      out.contents.values = numbers(*n, arg.type, arg.elements());
      if (out.contents.values.empty())
        fail(*n, "no values: nothing would be compared", "list the elements that the kernel must produce");
    } else if (const toml::node* f = t.get("file")) {
      out.contents.kind = Contents::Kind::file;
      out.contents.file = path_of(*f);
      out.contents.file_pos = pos(*f);
    } else {
      out.contents.values = {number(*t.get("value"), arg.type)};
      out.fill = true;
    }
    if (const toml::node* n = t.get("tolerance")) {
      out.tolerance = number(*n, ElementType::f64).as_double();
      if (!(out.tolerance >= 0)) fail(*n, "'tolerance' must not be negative");
      if (!std::isfinite(out.tolerance)) fail(*n, "'tolerance' must be finite: nothing would be compared");
    }
    return out;
  }

  std::size_t find_argument(const toml::node& node, const LaunchSpec& spec) const {
    std::size_t index = spec.args.size();
    if (node.is_integer()) {
      index = static_cast<std::size_t>(whole(node, "arg", max_args));
    } else {
      const std::string name = text_of(node, "arg");
      std::vector<std::string> names;
      for (std::size_t i = 0; i < spec.args.size(); ++i) {
        if (spec.args[i].name == name) index = i;
        if (!spec.args[i].name.empty()) names.push_back(spec.args[i].name);
      }
      const std::string near = nearest_name(name.substr(0, 200), names);
      if (index == spec.args.size())
        fail(node, fmt::format("no argument is named '{}'", shown(name)),
             near.empty() ? "" : fmt::format("did you mean '{}'?", shown(near)));
    }
    if (index >= spec.args.size())
      fail(node, fmt::format("there is no argument {}", index), "arguments count from 0");
    if (spec.args[index].kind != LaunchArg::Kind::buffer) fail(node, "only buffers can be compared");
    return index;
  }

  TomlText source_;
  std::filesystem::path folder_;
};

}  // namespace

LaunchSpec parse_launch_file(std::string_view text, const std::filesystem::path& file) {
  if (text.size() > max_launch_file_bytes)
    throw Error(ExitCode::bad_input, "launch-file",
                Diagnostic{"a launch file of more than 64 MiB",
                           {file.string(), 0, 0},
                           {},
                           "large contents go into files of their own"});
  return Reader(text, file).read();
}

LaunchSpec load_launch_file(const std::filesystem::path& file) {
  return parse_launch_file(read_file(file, max_launch_file_bytes, "launch file"), file);
}

}  // namespace simtlab::compile
