#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/shown.h"

namespace simtlab {
namespace {

// Names in messages are cut where they are put in (base/shown.h). This is the last line of defence: whatever
// text came from a file or the command line, a terminal gets neither control characters nor megabytes.
constexpr std::size_t max_message_line = 2000;

std::string place(const SourcePos& pos) {
  if (pos.file.empty()) return {};
  std::string where = shown(pos.file, max_message_line);
  if (pos.line != 0) where += fmt::format(":{}", pos.line);
  if (pos.line != 0 && pos.column != 0) where += fmt::format(":{}", pos.column);
  return where + ": ";
}

std::string headline(const Diagnostic& d) { return place(d.pos) + shown_lines(d.message, max_message_line); }

std::string format_one(const Diagnostic& d, const std::string& id) {
  // Offending lines can be huge or binary: show a printable window around the column.
  constexpr std::size_t window = 120;
  std::string out =
      fmt::format("{}error: {} [{}]\n", place(d.pos), shown_lines(d.message, max_message_line), id);
  if (!d.text.empty()) {
    const std::size_t column = d.pos.column == 0 ? 0 : d.pos.column - 1;
    const std::size_t from = column > window / 2 ? column - window / 2 : 0;
    std::string shown = from < d.text.size() ? d.text.substr(from, window) : std::string{};
    for (char& c : shown) {
      if (c == '\t') c = ' ';
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    }
    out += "  " + shown + "\n";
    if (d.pos.column != 0 && column - from <= shown.size())
      out += "  " + std::string(column - from, ' ') + "^\n";
  }
  if (!d.hint.empty()) out += "  hint: " + shown_lines(d.hint, max_message_line) + "\n";
  return out;
}

}  // namespace

Error::Error(ExitCode code, std::string id, Diagnostic diagnostic)
    : std::runtime_error(headline(diagnostic)), code_(code), id_(std::move(id)) {
  diagnostics_.push_back(std::move(diagnostic));
}

Error::Error(ExitCode code, std::string id, std::string message, std::string hint)
    : Error(code, std::move(id), Diagnostic{std::move(message), {}, {}, std::move(hint)}) {}

Error::Error(ExitCode code, std::string id, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(diagnostics.empty() ? "unknown error" : headline(diagnostics.front())),
      code_(code),
      id_(std::move(id)),
      diagnostics_(std::move(diagnostics)) {}

std::string Error::format() const {
  std::string out;
  for (const Diagnostic& d : diagnostics_) out += format_one(d, id_);
  return out;
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::vector<std::size_t> row;
  for (const std::string& candidate : known) {
    row.resize(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t substituted = diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

void assertion_failed(const char* condition, const char* file, int line, const char* message) {
  throw std::logic_error(
      fmt::format("internal error: {} ({} at {}:{}); please report this", message, condition, file, line));
}

}  // namespace simtlab
