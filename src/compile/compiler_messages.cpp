#include "compile/compiler_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace simtlab::compile {
namespace {

struct Line {
  std::string_view text;  // as it was written
  std::string plain;      // without colours
};

std::string without_colours(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
      continue;
    }
    out += line[i];
  }
  return out;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(
        {text.substr(0, end), without_colours(text.substr(0, text[end - 1] == '\n' ? end - 1 : end))});
    text.remove_prefix(end);
  }
  return out;
}

bool is_error(const std::string& line) {
  return line.find(": error: ") != std::string::npos || line.find(": fatal error: ") != std::string::npos;
}
bool begins_another(const std::string& line) {
  return is_error(line) || line.find(": warning: ") != std::string::npos ||
         line.find(": note: ") != std::string::npos || line.starts_with("In file included from ") ||
         line.ends_with(" generated.") || line.ends_with(" generated when compiling for host.") ||
         line.find(" generated when compiling for ") != std::string::npos;
}

// Behind "error: ".
std::string_view message_of(std::string_view line) {
  constexpr std::string_view word = "error: ";
  const std::size_t at = line.find(word);
  return at == line.npos ? line : line.substr(at + word.size());
}

// A header of CUDA's libraries that not even says that it is absent.
std::string absent_header(std::string_view message) {
  if (!message.starts_with('\'') || !message.ends_with("' file not found")) return {};
  const std::string_view name = message.substr(1, message.find('\'', 1) - 1);
  for (const std::string_view folder : {"thrust/", "cub/", "cuda/", "nv/"})
    if (name.starts_with(folder))
      return fmt::format(
          "simtlab has no <{}>: write the algorithm as a kernel; or build it with nvcc -cudart shared and "
          "run that: simtlab run -- ./app",
          name);
  return {};
}

// In the words of simtlab's headers, or of clang where that knows no CUDA of this kind.
std::string lacking(std::string_view message) {
  if (const std::size_t own = message.find("simtlab");
      own != message.npos && (own == 0 || message[own - 1] == '"' || message[own - 1] == ' ')) {
    std::string_view words = message.substr(own);
    return std::string(words.substr(0, words.find('"')));
  }
  if (message.starts_with("reference to __global__ function "))
    return "simtlab does not simulate kernels that launch kernels (dynamic parallelism)";
  return absent_header(message);
}

std::string joined(const std::vector<Line>& lines, std::size_t from, std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += lines[i].text;
  return out;
}

}  // namespace

Diagnosis diagnose(const std::string& messages, std::size_t most_lines) {
  Diagnosis out;
  out.no_room = messages.find("No space left on device") != std::string::npos ||
                messages.find("File too large") != std::string::npos;  // a limit of the shell (ulimit -f)
  const std::vector<Line> lines = lines_of(messages);
  const auto first = std::ranges::find_if(lines, [](const Line& l) { return is_error(l.plain); });
  if (first != lines.end()) out.first = first->plain;
  // What is absent explains what follows from it.
  const auto own = std::ranges::find_if(
      lines, [](const Line& l) { return is_error(l.plain) && !lacking(message_of(l.plain)).empty(); });
  if (own != lines.end()) {
    out.first = own->plain;
    out.lacking = lacking(message_of(own->plain));
    auto from = static_cast<std::size_t>(own - lines.begin()), to = from + 1;
    while (from > 0 && lines[from - 1].plain.starts_with("In file included from ")) --from;
    while (to < lines.size() && !begins_another(lines[to].plain)) ++to;
    to = from + std::min(to - from, most_lines);
    out.shown = joined(lines, from, to);
    out.left_out = lines.size() - (to - from);
    return out;
  }
  constexpr std::size_t hardly = 4;
  const bool nearly = lines.size() <= most_lines || lines.size() - most_lines <= hardly;
  const std::size_t shown = nearly ? lines.size() : most_lines;
  out.shown = joined(lines, 0, shown);
  out.left_out = lines.size() - shown;
  return out;
}

}  // namespace simtlab::compile
