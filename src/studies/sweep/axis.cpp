#include "studies/sweep/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/shown.h"
#include "base/sizes.h"
#include "base/units.h"

namespace simtlab::studies::sweep {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 53;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// A number and what stands behind it.
struct Number {
  double value = 0;
  bool whole = false;
  std::string unit;
};

std::optional<Number> leading_number(std::string_view text) {
  text = trimmed(text);
  Number out;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.value);
  if (error != std::errc{} || !std::isfinite(out.value)) return std::nullopt;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  out.whole = digits.find_first_of(".eE") == std::string_view::npos;
  out.unit = std::string(text.substr(digits.size()));
  return out;
}

bool starts_with_number(std::string_view text) { return leading_number(text).has_value(); }

// Twelve digits: 0.1 + 0.2 is 0.3.
std::string plain(double value) {
  const std::string text = fmt::format("{:.12g}", value);
  return text == "-0" ? "0" : text;
}

// What the C library reads as a number and no range can go to.
bool is_infinite(std::string_view text) {
  std::string word(trimmed(text));
  if (word.starts_with('-') || word.starts_with('+')) word.erase(0, 1);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word == "nan" || word == "inf" || word == "infinity";
}

class Parser {
 public:
  Parser(std::string name, const std::string& text, const AxisErrors& errors) : text_(text), errors_(errors) {
    out_.name = std::move(name);
  }

  Axis run() {
    std::string_view rest = trimmed(text_);
    if (rest.starts_with("[") != rest.ends_with("]")) refuse("a bracket is missing");
    if (rest.starts_with("[")) rest = rest.substr(1, rest.size() - 2);
    for (std::size_t at = 0; at <= rest.size();) {
      const std::size_t comma = std::min(rest.find(',', at), rest.size());
      item(trimmed(rest.substr(at, comma - at)));
      at = comma + 1;
    }
    if (out_.range && !out_.values.empty()) refuse("a range that is drawn from stands alone");
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::usage, errors_.id,
                fmt::format("{} {}={}: {}", errors_.option, shown(out_.name, 60), shown(text_, 60), why),
                errors_.hint);
  }

  void item(std::string_view text) {
    if (text.empty()) refuse("a value is empty");
    const std::size_t dots = text.find(".."), colon = text.find(':');
    if (dots != std::string_view::npos && starts_with_number(text.substr(0, dots)))
      drawn_range(text.substr(0, dots), text.substr(dots + 2));
    else if (colon != std::string_view::npos && starts_with_number(text.substr(0, colon)))
      steps(text, colon);
    else
      out_.values.emplace_back(word(text, dots, colon));
    if (out_.values.size() > most_values) refuse(fmt::format("more than {} values", most_values));
  }

  // A text that is no range, though it may have been meant for one: "nan:10:1", "6o:132:12".
  std::string_view word(std::string_view text, std::size_t dots, std::size_t colon) const {
    const std::size_t end = std::min(dots, colon);
    if (end == std::string_view::npos) return text;
    if (is_infinite(text.substr(0, end)))
      refuse(fmt::format("'{}' is no number that a range may have", shown(text.substr(0, end), 60)));
    const std::size_t second = text.find(':', end + 1);
    const bool numbers_follow = end == colon && second != std::string_view::npos &&
                                starts_with_number(text.substr(end + 1)) &&
                                starts_with_number(text.substr(second + 1));
    if (numbers_follow) refuse("FIRST:LAST:STEP has three numbers, the step above 0");
    return text;
  }

  void drawn_range(std::string_view first, std::string_view last) {
    if (out_.range) refuse("one range that is drawn from is enough");
    Range range;
    if (last.ends_with(" log")) range.log = true, last.remove_suffix(4);
    const auto from = leading_number(first), to = leading_number(last);
    if (!from || !to || !from->unit.empty() || from->value >= to->value)
      refuse("FROM..TO has two numbers, the second above the first; a unit stands behind the second");
    range.from = from->value, range.to = to->value, range.unit = to->unit;
    range.whole = from->whole && to->whole;
    if (range.log && range.from <= 0) refuse("a logarithmic range begins above 0");
    if (std::abs(range.from) > static_cast<double>(largest) ||
        std::abs(range.to) > static_cast<double>(largest))
      refuse("a number is too large");
    out_.range = range;
  }

  void steps(std::string_view text, std::size_t colon) {
    const std::string_view first = text.substr(0, colon), more = text.substr(colon + 1);
    const std::size_t second = more.find(':');
    if (second == std::string_view::npos) {
      bool understood = true;
      const std::vector<std::string> values =
          parse_doublings(std::string(first), std::string(more), understood);
      if (!understood) refuse("a range goes from one number to another, as 16K:128K");
      if (values.empty()) refuse("the first value is above the last");
      out_.values.insert(out_.values.end(), values.begin(), values.end());
      return;
    }
    const std::string_view last = more.substr(0, second), step = more.substr(second + 1);
    bool scaled = false, other = false;
    const auto from = whole_number(first, scaled), to = whole_number(last, other),
               by = whole_number(step, other);
    if (from && to && by) return whole_steps(*from, *to, *by, scaled);
    const auto a = leading_number(first), b = leading_number(last), c = leading_number(step);
    if (!a || !b || !c || !a->unit.empty() || !b->unit.empty() || !c->unit.empty() || c->value <= 0)
      refuse("FIRST:LAST:STEP has three numbers, the step above 0");
    if (a->value > b->value) refuse("the first value is above the last");
    const double count = std::floor((b->value - a->value) / c->value + 1e-9);
    if (!(count < static_cast<double>(most_values))) refuse(fmt::format("more than {} values", most_values));
    for (double i = 0; i <= count; ++i) out_.values.push_back(plain(a->value + i * c->value));
  }

  void whole_steps(std::uint64_t from, std::uint64_t to, std::uint64_t by, bool kilo) {
    if (by == 0) refuse("FIRST:LAST:STEP has three numbers, the step above 0");
    if (from > to) refuse("the first value is above the last");
    if ((to - from) / by >= most_values) refuse(fmt::format("more than {} values", most_values));
    for (std::uint64_t n = from; n <= to; n += by) out_.values.push_back(short_size(n, kilo));
  }

  const std::string& text_;
  const AxisErrors& errors_;
  Axis out_;
};

}  // namespace

Axis parse_axis(const std::string& text, const AxisErrors& errors) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(ExitCode::usage, errors.id,
                fmt::format("{} {}: NAME=VALUES is expected", errors.option, shown(text, 60)), errors.hint);
  return parse_values(text.substr(0, equals), text.substr(equals + 1), errors);
}

Axis parse_values(const std::string& name, const std::string& text, const AxisErrors& errors) {
  return Parser(name, text, errors).run();
}

std::optional<double> number_of(std::string_view text) {
  text = trimmed(text);
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  if (number->unit.empty()) return number->value;
  bool scaled = false;
  if (const auto n = whole_number(text, scaled)) return static_cast<double>(*n);
  for (const Unit unit :
       {Unit::bytes, Unit::hertz, Unit::nanoseconds, Unit::bytes_per_second, Unit::bytes_per_cycle,
        Unit::cycles, Unit::per_cycle, Unit::bits, Unit::megatransfers, Unit::milliamperes, Unit::volts}) {
    try {
      return parse_quantity(text, unit);
    } catch (const Error&) {  // not this unit
    }
  }
  return std::nullopt;
}

std::string drawn(const Range& r, double u) {
  const double top = r.whole ? r.to + 1 : r.to;  // the last whole number has its share
  double value = r.log ? r.from * std::pow(top / r.from, u) : r.from + (top - r.from) * u;
  if (r.whole) value = std::clamp(std::floor(value), r.from, r.to);
  return plain(value) + r.unit;
}

}  // namespace simtlab::studies::sweep
