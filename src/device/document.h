// A TOML file as a flat list of keys with values and positions: what device files and configuration files
// have in common. The only user of toml++.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/source_kind.h"

namespace simtlab::device {

enum class Form : unsigned char {
  plain,      // key = 3, key = "192 KiB": configuration files
  annotated,  // key = { value = 3, source = "..." } or { value = 3, estimated = "why" }: device files
};

// What an annotated file describes; messages and the search for files use its words.
struct Subject {
  std::string_view noun = "device";               // "unknown device 'h10'"
  std::string_view file = "device file";          // what the whole file is
  std::string_view folder = "devices";            // of the data directory
  std::string_view layer = "device";              // Origin::layer of its values
  std::string_view example = "h100";              // a name, for hints
  std::string_view list = "simtlab list gpus";    // the command that prints the names
  std::string_view show = "simtlab config show";  // the command that prints the keys
};

// One value as text that `store` reads, its place, and why it is what it is.
struct Node {
  std::string key;  // dotted: "sm.count"
  std::string value;
  std::string source;  // the source or the reason of the estimate; empty in plain files
  bool estimated = false;
  SourcePos pos;
  bool is_text = false;         // written in quotes
  bool is_empty_table = false;  // [sm.count] with nothing in it: no value, but the name may be wrong
  SourceKind kind = SourceKind::unstated;  // of the source
};

struct Document {
  std::string file;                  // as shown in messages
  std::vector<std::string> lines;    // for carets
  std::vector<Node> nodes;           // in file order
  std::vector<std::string> aliases;  // annotated files only
  std::string inherits;              // annotated files only; empty: nothing
  SourcePos inherits_pos;

  // An error in this file; shows the line.
  Diagnostic diagnostic(const SourcePos& pos, std::string message, std::string hint = {}) const;
};

// Throws Error(bad_input): "toml-syntax" with position, "device-file" for values of a wrong form, all of them
// at once.
Document parse_document(std::string_view text, const std::string& file, Form form,
                        const Subject& subject = {});
// The same from a file of at most 256 KiB.
Document read_document(const std::filesystem::path& path, Form form, const Subject& subject = {});

}  // namespace simtlab::device
