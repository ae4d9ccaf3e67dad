#include "studies/common/axes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/shown.h"
#include "base/sizes.h"

namespace simtlab::studies {
namespace {

constexpr std::size_t most_points = 10000;

class AxisParser {
 public:
  AxisParser(const std::string& text, const char* error_id, const std::string& hint)
      : text_(text), error_id_(error_id), hint_(hint) {}

  Axis run() const {
    const std::size_t equals = text_.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text_.size())
      refuse("KEY=VALUES is expected");
    Axis out{text_.substr(0, equals), {}};
    const std::string rest = text_.substr(equals + 1);
    if (const std::size_t colon = rest.find(':'); colon != std::string::npos)
      out.values = doublings(rest.substr(0, colon), rest.substr(colon + 1));
    else
      for (std::size_t at = 0; at <= rest.size();) {
        const std::size_t comma = std::min(rest.find(',', at), rest.size());
        out.values.push_back(rest.substr(at, comma - at));
        at = comma + 1;
      }
    for (const std::string& value : out.values)
      if (value.empty()) refuse("a value is empty");
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::usage, error_id_, fmt::format("--sweep {}: {}", shown(text_, 60), why), hint_);
  }

  std::vector<std::string> doublings(const std::string& first, const std::string& last) const {
    bool understood = true;
    std::vector<std::string> out = parse_doublings(first, last, understood);
    if (!understood) refuse("a range goes from one number to another, as 16K:128K");
    if (out.empty()) refuse("the first value is above the last");
    return out;
  }

  const std::string& text_;
  const char* error_id_;
  const std::string& hint_;
};

}  // namespace

Axis parse_axis(const std::string& text, const char* error_id, const std::string& hint) {
  return AxisParser(text, error_id, hint).run();
}

void take_axes(std::vector<std::string>& words, std::vector<std::string>& axes) {
  if (axes.empty()) return;
  std::erase_if(words, [&](const std::string& word) {
    const bool is_axis = !word.starts_with("-") && word.find('=') != std::string::npos;
    if (is_axis) axes.push_back(word);
    return is_axis;
  });
}

std::vector<std::string> point_of(const std::vector<Axis>& axes, std::size_t index) {
  std::vector<std::string> out(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    out[a] = axes[a].values[index % axes[a].values.size()];
    index /= axes[a].values.size();
  }
  return out;
}

std::size_t count_points(const std::vector<Axis>& axes, const char* error_id) {
  std::size_t points = 1;
  for (const Axis& a : axes) {
    points *= a.values.size();
    if (points > most_points)
      throw Error(ExitCode::usage, error_id,
                  fmt::format("--sweep {}: more than {} points", a.name, most_points));
  }
  return points;
}

}  // namespace simtlab::studies
