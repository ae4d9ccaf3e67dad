// What the readers of TOML files share beside TomlText. For .cpp files only: it includes the parser. Include
// it last.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/toml.h"
#include "base/toml_text.h"

namespace simtlab {

// Throws Error(bad_input) as TomlText says.
inline toml::table parse(const TomlText& text) {
  try {
    return toml::parse(text.text(), text.file());
  } catch (const toml::parse_error& e) {
    text.fail_syntax(has_position(e) ? e.source().begin.line : 0,
                     has_position(e) ? e.source().begin.column : 0, e.description());
  }
}

[[noreturn]] inline void fail_at(const TomlText& text, const toml::node& node, const std::string& message,
                                 const std::string& hint = {}, const char* id = nullptr) {
  text.fail(node.source().begin.line, node.source().begin.column, message, hint, id);
}

inline void check_keys(const TomlText& text, const toml::table& table, const std::vector<std::string>& known,
                       const char* where) {
  for (const auto& [key, node] : table)
    if (const std::string name(key.str()); std::ranges::find(known, name) == known.end())
      text.fail_key(key.source().begin.line, key.source().begin.column, name, known, where);
}

}  // namespace simtlab
