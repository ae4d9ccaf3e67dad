// Profiles as CSV: a heading with the columns, a line a kernel. Fields may be quoted; "" is a quote in them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "base/text_file.h"
#include "corun/profiles.h"

namespace simtlab::corun {
namespace {

constexpr std::size_t longest_line = 64 * 1024;
constexpr std::string_view names[] = {"application", "kernel",  "grid",   "block",
                                      "source",      "program", "content"};

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string shape(const std::optional<std::array<std::uint32_t, 3>>& s) {
  return s ? fmt::format("{}x{}x{}", (*s)[0], (*s)[1], (*s)[2]) : "";
}

class Line {
 public:
  Line(const std::string& file, std::size_t number, const std::string& text)
      : file_(file), number_(number), text_(text) {
    split();
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ExitCode::bad_input, "corun-profiles",
                Diagnostic{message,
                           {file_, static_cast<std::uint32_t>(number_), 0},
                           shown(text_),
                           "docs/reference/corun-files.md describes the file"});
  }
  const std::vector<std::string>& cells() const { return cells_; }

  double number(const std::string& text, std::string_view what) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
      fail(fmt::format("{}: \"{}\" is no number that is possible", what, shown(text)));
    return value;
  }
  std::array<std::uint32_t, 3> shape(const std::string& text, std::string_view what) const {
    std::array<std::uint32_t, 3> out = {1, 1, 1};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [next, error] = std::from_chars(at, end, out[i]);
      if (error != std::errc() || out[i] == 0) break;
      if (next == end) return out;
      if (*next != 'x') break;
      at = next + 1;
    }
    fail(fmt::format("{}: \"{}\" is no shape such as 64x1x1", what, shown(text)));
  }

 private:
  void split() {
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quoted && c == '"' && i + 1 < text_.size() && text_[i + 1] == '"')
        field += '"', ++i;
      else if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        cells_.push_back(std::exchange(field, {}));
      else
        field += c;
    }
    if (quoted) fail("a quote is not closed");
    cells_.push_back(field);
  }

  const std::string& file_;
  std::size_t number_;
  const std::string& text_;
  std::vector<std::string> cells_;
};

void take(const Line& line, const std::string& column, const std::string& text, KernelProfile& out) {
  if (column == "application")
    out.application = text;
  else if (column == "kernel")
    out.name = text;
  else if (column == "source")
    out.source = text;
  else if (column == "program")
    out.program = text;
  else if (column == "content")
    out.content = text;
  else if (text.empty())
    return;
  else if (column == "grid")
    out.profile.grid = line.shape(text, column);
  else if (column == "block")
    out.profile.block = line.shape(text, column);
  else if (column.starts_with(more_prefix))
    out.profile.more.emplace(column.substr(more_prefix.size()), line.number(text, column));
  else
    for (const ProfileField& f : profile_fields())
      if (f.column == column) {
        const double v = line.number(text, column);
        if (f.value == &Profile::memory_stall && v > 1)
          line.fail("memory_stall_share is a share from 0 to 1");
        if (f.is_time && v <= 0) line.fail("a kernel takes some time");
        out.profile.*f.value = v;
      }
}

}  // namespace

Profiles profiles_from_csv(std::string_view text, const std::string& file) {
  const std::vector<std::string> lines = checked_lines(text, file, longest_line);
  const std::string nothing;
  const Line heading(file, 1, lines.empty() ? nothing : lines[0]);
  for (const std::string& column : heading.cells()) {
    const bool known =
        std::ranges::find(names, column) != std::end(names) ||
        std::ranges::any_of(profile_fields(), [&](const ProfileField& f) { return f.column == column; }) ||
        (column.starts_with(more_prefix) &&
         is_more_name(std::string_view(column).substr(more_prefix.size())));
    if (!known)
      heading.fail(fmt::format("there is no column \"{}\"; values of your own are in columns {}NAME",
                               shown(column), more_prefix));
    if (std::ranges::count(heading.cells(), column) > 1)
      heading.fail(fmt::format("column \"{}\" is there twice", column));
  }
  Profiles out;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const Line line(file, i + 1, lines[i]);
    if (line.cells().size() != heading.cells().size())
      line.fail(fmt::format("{} fields, but {} columns", line.cells().size(), heading.cells().size()));
    KernelProfile k;
    for (std::size_t c = 0; c < line.cells().size(); ++c) take(line, heading.cells()[c], line.cells()[c], k);
    if (k.profile.more.size() > most_more)
      line.fail(fmt::format("a kernel has at most {} values of its own", most_more));
    if (k.application.empty() || k.name.empty()) line.fail("a kernel needs application and kernel");
    if (out.find(k.application, k.name) != nullptr)
      line.fail(fmt::format("{} of {} is here twice", shown(k.name), shown(k.application)));
    out.add(std::move(k));
  }
  return out;
}

std::string to_csv(const Profiles& profiles) {
  std::string out = "application,kernel,grid,block";
  for (const ProfileField& f : profile_fields()) out += fmt::format(",{}", f.column);
  out += ",source,program,content";
  std::set<std::string> more;
  for (const auto& [key, k] : profiles.kernels)
    for (const auto& [name, v] : k.profile.more) more.insert(name);
  for (const std::string& name : more) out += fmt::format(",{}{}", more_prefix, name);
  out += '\n';
  for (const auto& [key, k] : profiles.kernels) {
    out += fmt::format("{},{},{},{}", cell(k.application), cell(k.name), shape(k.profile.grid),
                       shape(k.profile.block));
    for (const ProfileField& f : profile_fields()) {
      const auto& v = k.profile.*f.value;
      out += v ? fmt::format(",{}", *v) : ",";
    }
    out += fmt::format(",{},{},{}", cell(k.source), cell(k.program), cell(k.content));
    for (const std::string& name : more) {
      const auto v = k.profile.more.find(name);
      out += v == k.profile.more.end() ? "," : fmt::format(",{}", v->second);
    }
    out += '\n';
  }
  return out;
}

}  // namespace simtlab::corun
