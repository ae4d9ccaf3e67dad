#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/format.h"

namespace simtlab::report {
namespace {

constexpr double left = 78, right = 16, top = 34, bottom = 46;

constexpr std::string_view style =
    "<style>svg{font:12px "
    "system-ui,sans-serif;background:#fff;color:#222}text{fill:currentColor}.g{stroke:#8884;fill:none}.f{"
    "stroke:#8888;fill:none}"
    ".a{stroke:#1f77b4;fill:none;stroke-width:2}.b{stroke:#d62728;fill:none;stroke-width:2}.ba{fill:#1f77b4}."
    "bb{fill:#d62728}.bc{fill:#999}"
    ".t{font-weight:600;font-size:14px}"
    "@media(prefers-color-scheme:dark){svg{background:#1b1b1f;color:#ddd}.a{stroke:#6fb3e8}.b{stroke:#ff7a7a}"
    ".ba{fill:#6fb3e8}.bb{fill:#ff7a7a}}</style>";

// 1, 2 or 5 times a power of ten, about six of them; powers of two for bytes.
std::vector<double> even_ticks(const SvgAxis& axis) {
  const double rough = (axis.high - axis.low) / 6;
  if (axis.bytes) {
    const double step = std::exp2(std::ceil(std::log2(rough)));
    std::vector<double> out;
    for (double at = std::ceil(axis.low / step) * step; at <= axis.high; at += step) out.push_back(at);
    return out;
  }
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  if (axis.whole) step = std::max(step, 1.0);
  std::vector<double> out;
  for (double at = std::ceil(axis.low / step) * step; at <= axis.high * 1.0000001; at += step)
    out.push_back(at);
  return out;
}

std::vector<double> doubling_ticks(const SvgAxis& axis) {
  const double first = std::ceil(std::log2(axis.low)), last = std::floor(std::log2(axis.high));
  const double step = std::max(1.0, std::ceil((last - first) / 10));
  std::vector<double> out;
  for (double power = first; power <= last; power += step) out.push_back(std::exp2(power));
  return out;
}

std::string tick_text(const SvgAxis& axis, double value) {
  if (axis.share) return fmt::format("{:.3g} %", value * 100);
  if (axis.bytes) return value == 0 ? "0" : format_bytes(value);
  return value == 0 ? "0" : format_count(value);
}

}  // namespace

std::string svg_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// Points of viridis (van der Walt and Smith 2015), in between straight.
std::string svg_scale(double share) {
  constexpr std::array<std::array<double, 3>, 5> points = {
      {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  const double at = std::clamp(share, 0.0, 1.0) * (points.size() - 1);
  const auto i = std::min<std::size_t>(static_cast<std::size_t>(at), points.size() - 2);
  const double f = at - static_cast<double>(i);
  const auto mix = [&](std::size_t c) {
    return static_cast<int>(std::lround(points[i][c] + f * (points[i + 1][c] - points[i][c])));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

SvgChart::SvgChart(std::string title, std::string description, SvgAxis x, SvgAxis y, unsigned width,
                   unsigned height)
    : title_(std::move(title)),
      description_(std::move(description)),
      x_(std::move(x)),
      y_(std::move(y)),
      width_(width),
      height_(height) {
  if (!(x_.low < x_.high)) x_.high = x_.low + 1;
  if (!(y_.low < y_.high)) y_.high = y_.low + 1;
}

double SvgChart::px(double x) const {
  const double share = x_.logarithmic ? std::log2(x / x_.low) / std::log2(x_.high / x_.low)
                                      : (x - x_.low) / (x_.high - x_.low);
  return left + share * (width_ - left - right);
}

double SvgChart::py(double y) const {
  const double share = y_.logarithmic ? std::log2(y / y_.low) / std::log2(y_.high / y_.low)
                                      : (y - y_.low) / (y_.high - y_.low);
  return height_ - bottom - share * (height_ - top - bottom);
}

void SvgChart::point(double x, double y, std::string_view colour, bool hollow, std::string_view tip) {
  const std::string paint =
      hollow ? fmt::format("fill=\"none\" stroke=\"{}\"", colour) : fmt::format("fill=\"{}\"", colour);
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.6\" {}", px(x), py(y), paint);
  body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></circle>\n", svg_escaped(tip));
}

void SvgChart::line(const std::vector<std::pair<double, double>>& points, std::string_view css_class,
                    std::string_view name) {
  if (points.empty()) return;
  body_ += fmt::format("<polyline class=\"{}\" points=\"", css_class);
  for (const auto& [x, y] : points) body_ += fmt::format("{:.1f},{:.1f} ", px(x), py(y));
  body_ += "\"/>\n";
  const double y = top + 14 + 16 * named_++;
  legend_ += fmt::format(
      "<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/><text x=\"{}\" y=\"{}\" "
      "text-anchor=\"end\">{}</text>\n",
      css_class, width_ - right - 30, width_ - right - 8, y - 4, y - 4, width_ - right - 36, y,
      svg_escaped(name));
}

void SvgChart::bar(double from, double to, double value, std::string_view css_class, std::string_view tip) {
  const double x = px(from), y = py(value), base = py(y_.low);
  body_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"{:.1f}\"><title>{}</title></rect>\n",
      css_class, x, y, std::max(0.5, px(to) - x - 0.6), std::max(0.0, base - y), svg_escaped(tip));
}

void SvgChart::cell(double x, double y, std::string_view colour, std::string_view tip) {
  body_ += fmt::format(
      "<rect fill=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
      "height=\"{:.2f}\"><title>{}</title></rect>\n",
      colour, px(x), py(y + 1), px(x + 1) - px(x), py(y) - py(y + 1), svg_escaped(tip));
}

void SvgChart::name(std::string_view css_class, std::string_view name) {
  const double x = left + 150 + 150 * named_++;
  legend_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.0f}\" y=\"11\" width=\"12\" height=\"10\"/><text x=\"{:.0f}\" "
      "y=\"20\">{}</text>\n",
      css_class, x + 90, x + 107, svg_escaped(name));
}

std::string SvgChart::axes() const {
  std::string out;
  for (const double at : x_.logarithmic ? doubling_ticks(x_) : even_ticks(x_))
    out += fmt::format(
        "<line class=\"g\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" "
        "y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        px(at), top, height_ - bottom, height_ - bottom + 16, tick_text(x_, at));
  for (const double at : y_.logarithmic ? doubling_ticks(y_) : even_ticks(y_))
    out += fmt::format(
        "<line class=\"g\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/><text x=\"{3}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        py(at), left, width_ - right, left - 6, py(at) + 4, tick_text(y_, at));
  out += fmt::format("<rect class=\"f\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", left, top,
                     width_ - left - right, height_ - top - bottom);
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     left + (width_ - left - right) / 2, height_ - 10, svg_escaped(x_.label));
  out += fmt::format("<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     top + (height_ - top - bottom) / 2, svg_escaped(y_.label));
  return out;
}

std::string SvgChart::text() const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "role=\"img\" aria-label=\"{2}\">\n<title>{2}</title><desc>{3}</desc>\n{4}\n",
             width_, height_, svg_escaped(title_), svg_escaped(description_), style) +
         fmt::format("<text class=\"t\" x=\"{}\" y=\"20\">{}</text>\n", left, svg_escaped(title_)) + axes() +
         body_ + legend_ + "</svg>\n";
}

}  // namespace simtlab::report
