// The trace formats: one row each. docs/guide/dram-command.md shows the same table.
#pragma once

#include <string_view>
#include <vector>

#include "memory/traffic/cursor.h"
#include "memory/traffic/source.h"

namespace simtlab::memory::traffic {

// What one line asks for: a load, and with core traces perhaps the write-back of what it evicted.
struct LineAccesses {
  Access first, second;
  bool two = false;
};

struct Format {
  std::string_view name;
  std::string_view line;         // what a line looks like, for messages and documentation
  std::string_view origin;       // who writes it
  std::string_view file_prefix;  // of file names that mean this format; may be empty
  Pace pace;
  // False: cursor.problem() says why.
  bool (*parse)(Cursor& cursor, LineAccesses& out);
};

// In the order in which detection tries them: a later one may accept all that an earlier one does.
const std::vector<Format>& formats();

// Throws Error(usage, "trace-format") with the nearest name.
const Format& format_named(std::string_view name);

// The first format that every line of `sample` fits, or the one that the file's name says; null if none does.
const Format* detect_format(std::string_view sample, std::string_view file_name);

}  // namespace simtlab::memory::traffic
