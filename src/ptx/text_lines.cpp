#include "ptx/text_lines.h"

#include <algorithm>

namespace simtlab::ptx {
namespace {

constexpr std::size_t longest_line = 200;

}  // namespace

TextLines::TextLines(const Module& module) {
  const std::string_view text = module.text ? std::string_view(*module.text) : std::string_view();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines_.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

std::string TextLines::operator[](std::uint32_t number) const {
  if (number == 0 || number > lines_.size()) return {};
  std::string_view line = lines_[number - 1];
  line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  line = line.substr(0, std::min(line.find_last_not_of(" \t\r") + 1, longest_line));
  std::string out(line);
  std::ranges::replace(out, '\t', ' ');
  return out;
}

}  // namespace simtlab::ptx
