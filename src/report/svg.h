// Small charts as SVG text: axes with round numbers, points, lines and bars. Colours follow the reader's
// light or dark scheme.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simtlab::report {

struct SvgAxis {
  std::string label;
  double low = 0, high = 1;  // low < high; both above 0 where logarithmic
  bool logarithmic = false;  // to base 2
  bool bytes = false;        // ticks as 16 KiB
  bool share = false;        // ticks as per cent
  bool whole = false;        // there is nothing between whole numbers
};

// Everything inside the axes is placed in their units.
class SvgChart {
 public:
  // y: down to up.
  SvgChart(std::string title, std::string description, SvgAxis x, SvgAxis y, unsigned width = 760,
           unsigned height = 300);

  void point(double x, double y, std::string_view colour, bool hollow, std::string_view tip = {});
  void line(const std::vector<std::pair<double, double>>& points, std::string_view css_class,
            std::string_view name);
  void bar(double from, double to, double value, std::string_view css_class, std::string_view tip);
  // One unit wide and high, from its lower left corner
  void cell(double x, double y, std::string_view colour, std::string_view tip);
  void name(std::string_view css_class, std::string_view name);  // of bars, in the legend
  std::string text() const;                                      // a whole <svg> element with its style

 private:
  double px(double x) const;
  double py(double y) const;
  std::string axes() const;

  std::string title_, description_, body_, legend_;
  SvgAxis x_, y_;
  unsigned width_, height_;
  unsigned named_ = 0;
};

std::string svg_escaped(std::string_view text);
// A colour of an even scale from 0 to 1.
std::string svg_scale(double share);

}  // namespace simtlab::report
