#include "memory/traffic/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/shown.h"

namespace simtlab::memory::traffic {
namespace {

Diagnostic at(const Lines& lines, std::string_view line, std::size_t column) {
  Diagnostic d;
  const auto number = std::min<std::uint64_t>(lines.number(), std::numeric_limits<std::uint32_t>::max());
  d.pos = {lines.name(), static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(column)};
  d.text = std::string(line);
  return d;
}

const Format& detected(Lines& lines) {
  const std::string_view sample = lines.sample();
  if (const Format* format = detect_format(sample, lines.name())) return *format;
  std::string_view line;
  while (lines.next(line)) {
    Cursor cursor(line);
    if (cursor.at_end() || line.front() == '#') continue;
    Diagnostic d = at(lines, line, 1);
    d.message = "no trace format that simtlab knows has such a line";
    std::string names;
    for (const Format& f : formats()) names += fmt::format("{}{}", names.empty() ? "" : ", ", f.name);
    d.hint = fmt::format("--format NAME says what the first wrong line lacks; known are {}", names);
    throw Error(ExitCode::bad_input, "trace-unknown", std::move(d));
  }
  throw Error(ExitCode::bad_input, "trace-empty",
              fmt::format("{}: the trace has no access", shown(lines.name())),
              "is it the right file, and was it written to its end?");
}

}  // namespace

TraceReader::TraceReader(std::unique_ptr<Bytes> raw, std::string name, const Format* format)
    : lines_(decompressed(std::move(raw)), std::move(name)),
      format_(format != nullptr ? format : &detected(lines_)) {
  if (!next_line())
    throw Error(ExitCode::bad_input, "trace-empty",
                fmt::format("{}: the trace has no access", shown(lines_.name())),
                "is it the right file, and was it written to its end?");
}

bool TraceReader::next_line() {
  for (;;) {
    if (!lines_.next(line_)) return false;
    Cursor cursor(line_);
    if (cursor.at_end() || line_.front() == '#') continue;
    if (!format_->parse(cursor, accesses_)) refuse(cursor);
    if (format_->pace == Pace::timed && accesses_.first.cycle < cycle_) goes_back();
    cycle_ = accesses_.first.cycle;
    return true;
  }
}

bool TraceReader::next(Access& access) {
  if (second_) {
    second_ = false;
    access = accesses_.second;
    return true;
  }
  if (taken_ && !next_line()) return false;
  taken_ = true;
  access = accesses_.first;
  second_ = accesses_.two;
  return true;
}

Diagnostic TraceReader::place() const { return at(lines_, line_, 1); }

void TraceReader::refuse(const Cursor& cursor) const {
  Diagnostic d = at(lines_, line_, cursor.column() + 1);
  d.message = cursor.wrong().empty() ? std::string(cursor.problem())
                                     : fmt::format("'{}' is {}", shown(cursor.wrong(), 60), cursor.problem());
  if (lines_.unfinished()) d.message += "; the file ends within this line";
  d.hint = fmt::format("a line of {} is: {}; --format NAME chooses another", format_->name, format_->line);
  throw Error(ExitCode::bad_input, "trace-syntax", std::move(d));
}

void TraceReader::goes_back() const {
  Diagnostic d = at(lines_, line_, 1);
  d.message = fmt::format("cycle {} comes after cycle {}", accesses_.first.cycle, cycle_);
  d.hint = "the lines of a trace must be in the order of their cycles; sort them";
  throw Error(ExitCode::bad_input, "trace-order", std::move(d));
}

std::unique_ptr<TraceReader> open_trace(const std::string& path, const Format* format,
                                        const volatile bool* stop) {
  const bool standard_input = path == "-";
  return std::make_unique<TraceReader>(file_bytes(standard_input ? "/dev/stdin" : path, stop),
                                       standard_input ? "<stdin>" : path, format);
}

}  // namespace simtlab::memory::traffic
