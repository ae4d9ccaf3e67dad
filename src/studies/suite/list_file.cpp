// The user's own list of programs:
//
//   [[program]]
//   name = "histogram"                        # in the table
//   folder = "histogram"                      # below the suite's folder; default: the folder itself
//   build = "make GPU=1"                      # a line for /bin/sh; nothing: nothing is built
//   run = "./histogram 1024 data/in.txt"      # a line for /bin/sh
//   expect = "result: OK"                     # text that it must print
//   limit = "30 s"                            # instead of --limit
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/toml_reader.h"
#include "base/units.h"
#include "studies/suite/find.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20;
constexpr TomlText::Form form{"suite-list", "toml-syntax", "docs/guide/suite.md describes the list",
                              most_bytes};

class Reader {
 public:
  Reader(std::string_view text, const std::filesystem::path& file, const Tree& tree)
      : source_(text, file.string(), form), tree_(tree) {}

  Projects read() {
    const toml::table root = parse(source_);
    check_keys(source_, root, {"program"}, "list");
    const toml::node* list = root.get("program");
    if (list == nullptr || list->as_array() == nullptr || list->as_array()->empty())
      source_.fail(0, 0, "the list has no [[program]]", "[[program]], then run = \"./app\"");
    for (const toml::node& one : *list->as_array()) program(one);
    return std::move(out_);
  }

 private:
  void program(const toml::node& node) {
    const toml::table* t = node.as_table();
    if (t == nullptr) fail_at(source_, node, "a program is no table", "[[program]], then run = \"./app\"");
    check_keys(source_, *t, {"name", "folder", "build", "run", "expect", "limit"}, "program");
    Project p;
    p.kind = Project::Kind::listed;
    p.build = text(*t, "build"), p.run = text(*t, "run"), p.expect = text(*t, "expect");
    if (p.build.empty() && p.run.empty()) fail_at(source_, node, "a program has neither 'build' nor 'run'");
    p.name = text(*t, "name");
    if (p.name.empty()) p.name = p.run.empty() ? p.build : p.run;
    if (!names_.insert(p.name).second)
      fail_at(source_, node, fmt::format("two programs are called '{}'", p.name), "give one of them a name");
    if (const toml::node* n = t->get("folder")) p.folder = folder(*n, text(*t, "folder"));
    if (const toml::node* n = t->get("limit")) p.limit_s = seconds(*n, text(*t, "limit"));
    out_.all.push_back(std::move(p));
  }
  std::string text(const toml::table& t, const char* key) const {
    const toml::node* n = t.get(key);
    if (n == nullptr) return {};
    const auto* s = n->as_string();
    if (s == nullptr || s->get().empty())
      fail_at(source_, *n, fmt::format("'{}' is no text", key), "put it into quotation marks");
    if (s->get().find('\0') != std::string::npos)
      fail_at(source_, *n, fmt::format("'{}' holds a NUL character", key));
    return s->get();
  }
  std::filesystem::path folder(const toml::node& n, const std::string& given) const {
    const std::filesystem::path path = std::filesystem::path(given).lexically_normal();
    const bool outside = path.is_absolute() || (!path.empty() && *path.begin() == "..");
    if (outside)
      fail_at(source_, n, "'folder' lies outside the suite's folder", "programs are run in a copy of that");
    std::filesystem::path clean = path == "." ? std::filesystem::path() : path;
    if (!clean.has_filename()) clean = clean.parent_path();
    if (!clean.empty() && std::ranges::find(tree_.folders, clean) == tree_.folders.end())
      fail_at(source_, n, fmt::format("there is no folder '{}'", given));
    return clean;
  }
  double seconds(const toml::node& n, const std::string& given) const {
    try {
      if (const double s = parse_quantity(given, Unit::nanoseconds) / 1e9; s > 0) return s;
    } catch (const Error&) {}
    fail_at(source_, n, "'limit' is no time above 0", "for example limit = \"90 s\"");
  }

  TomlText source_;
  const Tree& tree_;
  std::set<std::string> names_;
  Projects out_;
};

}  // namespace

Projects read_list(const std::filesystem::path& file, const Tree& tree) {
  return Reader(read_file(file, most_bytes, "list of programs"), file, tree).read();
}

}  // namespace simtlab::studies
