#include "device/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/shown.h"
#include "base/text_file.h"
#include "base/toml.h"

namespace simtlab::device {
namespace {

constexpr std::uint64_t max_file_bytes = 256 * 1024;
constexpr std::size_t max_diagnostics = 20;
// Bounds how deep dotted keys nest, which the TOML library does not.
constexpr std::size_t max_line_bytes = 4096;
constexpr std::size_t max_depth = 4;

SourcePos position(const std::string& file, const toml::source_region& region) {
  return {file, static_cast<std::uint32_t>(region.begin.line),
          static_cast<std::uint32_t>(region.begin.column)};
}

std::string_view type_name(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array";
  if (node.is_string()) return "text";
  if (node.is_number()) return "a number";
  if (node.is_boolean()) return "true or false";
  return "a date or time";
}

// Numbers, text and booleans as text; nullopt for anything else.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* v = node.as_string()) return v->get();
  if (const auto* v = node.as_integer()) return fmt::format("{}", v->get());
  if (const auto* v = node.as_floating_point()) return fmt::format("{}", v->get());
  if (const auto* v = node.as_boolean()) return v->get() ? "true" : "false";
  return std::nullopt;
}

// Turns the tree into Document::nodes and collects what is wrong with its form.
class Reader {
 public:
  Reader(Document& document, Form form, const Subject& subject)
      : document_(document), form_(form), subject_(subject) {}

  void read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      if (form_ == Form::annotated && read_header(name, node)) continue;
      read_node(name, node);
    }
    std::sort(document_.nodes.begin(), document_.nodes.end(), [](const Node& a, const Node& b) {
      return std::pair(a.pos.line, a.pos.column) < std::pair(b.pos.line, b.pos.column);
    });
    resolve_sources();
    if (!diagnostics_.empty()) throw Error(ExitCode::bad_input, "device-file", std::move(diagnostics_));
  }

 private:
  void complain(const toml::node& node, std::string message, std::string hint) {
    if (diagnostics_.size() >= max_diagnostics) return;
    diagnostics_.push_back(
        document_.diagnostic(position(document_.file, node.source()), std::move(message), std::move(hint)));
  }

  std::string alias_hint() const {
    return fmt::format("write for example: aliases = [\"{}-sxm\"]", subject_.example);
  }

  // Statements of a device file about itself. False: `name` is a parameter or a group of parameters.
  bool read_header(const std::string& name, const toml::node& node) {
    if (name == "inherits") {
      document_.inherits_pos = position(document_.file, node.source());
      if (const auto* text = node.as_string(); text != nullptr && !text->get().empty())
        document_.inherits = text->get();
      else
        complain(node, fmt::format("'inherits' needs the name of a {}", subject_.noun),
                 fmt::format("write for example: inherits = \"{}\"", subject_.example));
      return true;
    }
    if (name == "aliases") {
      const toml::array* names = node.as_array();
      if (names == nullptr) complain(node, "'aliases' needs a list of names", alias_hint());
      for (std::size_t i = 0; names != nullptr && i < names->size(); ++i) {
        if (const auto* text = (*names)[i].as_string())
          document_.aliases.push_back(text->get());
        else
          complain((*names)[i], "an alias is a text", alias_hint());
      }
      return true;
    }
    if (name != "sources") return false;
    const toml::table* table = node.as_table();
    if (table == nullptr)
      complain(node, "'sources' needs a table", "write for example: sources.guide = \"title, section\"");
    for (auto it = table == nullptr ? toml::table::const_iterator{} : table->begin();
         table != nullptr && it != table->end(); ++it)
      read_source(std::string(it->first.str()), it->second);
    return true;
  }

  // guide = "title", or guide = { title = "title", kind = "vendor" }.
  void read_source(std::string name, const toml::node& node) {
    if (const auto* text = node.as_string()) {
      sources_.push_back({std::move(name), text->get(), SourceKind::unstated});
      return;
    }
    const toml::table* table = node.as_table();
    const auto* title = table == nullptr ? nullptr : (*table)["title"].as_string();
    if (title == nullptr || title->get().empty())
      return complain(node, "a source is a text, or a title with a kind",
                      "write for example: sources.guide = { title = \"title, section\", kind = \"vendor\" }");
    Source source{std::move(name), title->get(), SourceKind::unstated};
    for (const auto& [word, child] : *table) {
      if (word.str() == "title") continue;
      const auto* kind = child.as_string();
      if (word.str() != "kind") {
        complain(child, fmt::format("unknown word '{}' of a source", shown(word.str())),
                 "a source has 'title' and 'kind'");
      } else if (const auto known = kind == nullptr ? std::nullopt : stated_kind(kind->get())) {
        source.kind = *known;
      } else {
        complain(child, "unknown kind of a source",
                 fmt::format("one of {}; leave it out if it is none of them", stated_kinds()));
      }
    }
    sources_.push_back(std::move(source));
  }

  void read_node(const std::string& key, const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return read_plain(key, node);
    if (form_ == Form::annotated && table->contains("value")) return read_annotated(key, *table);
    if (static_cast<std::size_t>(std::count(key.begin(), key.end(), '.')) >= max_depth)
      return complain(node, fmt::format("{}: nested too deeply", key), "keys look like sm.count");
    if (table->empty())
      document_.nodes.push_back({key, {}, {}, false, position(document_.file, table->source()), false, true});
    for (const auto& [name, child] : *table)
      read_node(fmt::format("{}.{}", key, std::string_view(name.str())), child);
  }

  void read_plain(const std::string& key, const toml::node& node) {
    if (form_ == Form::annotated)
      return complain(node, fmt::format("{}: a value needs a source", key),
                      fmt::format("write: {} = {{ value = ..., source = \"...\" }}, or estimated = \"why\"",
                                  key.substr(key.rfind('.') + 1)));
    add(key, node, node, {}, false);
  }

  void read_annotated(const std::string& key, const toml::table& table) {
    const toml::node* source = nullptr;
    bool estimated = false;
    for (const auto& [name, child] : table) {
      const std::string_view word = name.str();
      if (word == "value") continue;
      if (word != "source" && word != "estimated") {
        complain(child, fmt::format("{}: unknown word '{}'", key, word),
                 "a value has 'value' and either 'source' or 'estimated'");
      } else if (source != nullptr) {
        complain(child, fmt::format("{}: both a source and an estimate", key), "keep one of the two");
      } else {
        source = &child;
        estimated = word == "estimated";
      }
    }
    if (source == nullptr)
      return complain(table, fmt::format("{}: a value needs a source", key),
                      "add source = \"...\", or estimated = \"why\" if no source gives it");
    const auto* text = source->as_string();
    if (text == nullptr || text->get().empty())
      return complain(*source, fmt::format("{}: '{}' needs a text", key, estimated ? "estimated" : "source"),
                      "say where the value is from, or why the estimate is reasonable");
    add(key, *table.get("value"), table, text->get(), estimated);
  }

  void add(const std::string& key, const toml::node& value, const toml::node& where, std::string source,
           bool estimated) {
    std::optional<std::string> text = scalar_text(value);
    if (!text)
      return complain(value, fmt::format("{}: {} is no value", key, type_name(value)),
                      "a value is a number, a text such as \"1.41 GHz\", true or false");
    const SourcePos pos = position(document_.file, (value.source().begin.line != 0 ? value : where).source());
    document_.nodes.push_back(
        {key, std::move(*text), std::move(source), estimated, pos, value.is_string(), false});
  }

  // source = "guide: table 3" with sources.guide = "CUDA guide" becomes "CUDA guide: table 3".
  void resolve_sources() {
    for (Node& node : document_.nodes) {
      if (node.estimated) {
        node.kind = SourceKind::estimated;
        continue;
      }
      const std::size_t end = std::min(node.source.find(':'), node.source.size());
      for (const Source& source : sources_)
        if (node.source.compare(0, end, source.name) == 0) {
          node.source = source.title + node.source.substr(end);
          node.kind = source.kind;
          break;
        }
    }
  }

  struct Source {
    std::string name, title;
    SourceKind kind;
  };

  Document& document_;
  Form form_;
  const Subject& subject_;
  std::vector<Source> sources_;
  std::vector<Diagnostic> diagnostics_;
};

bool stops_the_parser(const std::vector<std::string>& lines, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += lines[i] + '\n';
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error& e) { return !has_position(e); }
  return false;
}

// The parser works from the top, so what stops it is in the last line of the shortest beginning that stops
// it.
std::uint32_t line_that_stops_the_parser(const std::vector<std::string>& lines) {
  std::size_t good = 0, bad = lines.size();
  while (good + 1 < bad) {
    const std::size_t middle = good + (bad - good) / 2;
    (stops_the_parser(lines, middle) ? bad : good) = middle;
  }
  return static_cast<std::uint32_t>(bad);
}

}  // namespace

Diagnostic Document::diagnostic(const SourcePos& pos, std::string message, std::string hint) const {
  Diagnostic d;
  d.message = std::move(message);
  d.pos = pos;
  if (pos.line >= 1 && pos.line <= lines.size()) d.text = lines[pos.line - 1];
  d.hint = std::move(hint);
  return d;
}

Document parse_document(std::string_view text, const std::string& file, Form form, const Subject& subject) {
  Document document;
  document.file = file;
  document.lines = checked_lines(text, file, max_line_bytes);
  const auto refuse = [&](const SourcePos& pos, std::string_view what) {
    throw Error(ExitCode::bad_input, "toml-syntax",
                document.diagnostic(pos, std::string(what), "the file must be TOML, see https://toml.io"));
  };
  try {
    Reader(document, form, subject).read(toml::parse(text, file));
  } catch (const toml::parse_error& e) {
    if (has_position(e)) refuse(position(file, e.source()), e.description());
    refuse({file, line_that_stops_the_parser(document.lines), 0}, e.description());
  }
  return document;
}

Document read_document(const std::filesystem::path& path, Form form, const Subject& subject) {
  const std::string_view what = form == Form::annotated ? subject.file : "configuration file";
  return parse_document(read_file(path, max_file_bytes, what), path.string(), form, subject);
}

}  // namespace simtlab::device
