#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab {
namespace {

struct Scale {
  std::string_view suffix;
  double factor;
};

constexpr double kibi = 1024.0;
constexpr std::array<Scale, 1> plain_scales{{{"", 1}}};
constexpr std::array<Scale, 4> hertz_scales{{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}};
constexpr std::array<Scale, 9> byte_scales{{{"B", 1},
                                            {"kB", 1e3},
                                            {"MB", 1e6},
                                            {"GB", 1e9},
                                            {"TB", 1e12},
                                            {"KiB", kibi},
                                            {"MiB", kibi* kibi},
                                            {"GiB", kibi* kibi* kibi},
                                            {"TiB", kibi* kibi* kibi* kibi}}};
constexpr std::array<Scale, 6> time_scales{
    {{"ns", 1}, {"ps", 1e-3}, {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Scale, 2> cycle_scales{{{"cycles", 1}, {"cycle", 1}}};
constexpr std::array<Scale, 9> rate_scales{{{"B/s", 1},
                                            {"kB/s", 1e3},
                                            {"MB/s", 1e6},
                                            {"GB/s", 1e9},
                                            {"TB/s", 1e12},
                                            {"KiB/s", kibi},
                                            {"MiB/s", kibi* kibi},
                                            {"GiB/s", kibi* kibi* kibi},
                                            {"TiB/s", kibi* kibi* kibi* kibi}}};
constexpr std::array<Scale, 1> byte_per_cycle_scales{{{"B/cycle", 1}}};
constexpr std::array<Scale, 1> per_cycle_scales{{{"/cycle", 1}}};
constexpr std::array<Scale, 2> bit_scales{{{"bits", 1}, {"bit", 1}}};
constexpr std::array<Scale, 1> transfer_scales{{{"MT/s", 1}}};
constexpr std::array<Scale, 1> current_scales{{{"mA", 1}}};
constexpr std::array<Scale, 2> voltage_scales{{{"V", 1}, {"mV", 1e-3}}};

struct UnitInfo {
  std::string_view name;
  std::span<const Scale> scales;  // the first one is canonical
  std::string_view example;
};

UnitInfo info(Unit unit) {
  switch (unit) {
    case Unit::none: return {"", plain_scales, "32"};
    case Unit::hertz: return {"Hz", hertz_scales, "1.41 GHz"};
    case Unit::bytes: return {"B", byte_scales, "192 KiB"};
    case Unit::nanoseconds: return {"ns", time_scales, "350 ns"};
    case Unit::cycles: return {"cycles", cycle_scales, "30 cycles"};
    case Unit::bytes_per_second: return {"B/s", rate_scales, "3.35 TB/s"};
    case Unit::bytes_per_cycle: return {"B/cycle", byte_per_cycle_scales, "64 B/cycle"};
    case Unit::per_cycle: return {"/cycle", per_cycle_scales, "128 /cycle"};
    case Unit::bits: return {"bits", bit_scales, "64 bits"};
    case Unit::megatransfers: return {"MT/s", transfer_scales, "3200 MT/s"};
    case Unit::milliamperes: return {"mA", current_scales, "48 mA"};
    case Unit::volts: return {"V", voltage_scales, "1.2 V"};
  }
  assertion_failed("unit", __FILE__, __LINE__, "unknown unit");
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Input in a message.
std::string brief(std::string_view text) { return shown(text, 40); }

[[noreturn]] void fail(std::string message, std::string hint) {
  throw Error(ExitCode::bad_input, "quantity", std::move(message), std::move(hint));
}

std::string form_of(const UnitInfo& unit) {
  if (unit.name.empty()) return fmt::format("write a plain number, for example {}", unit.example);
  std::string known;
  for (const Scale& s : unit.scales) known += fmt::format("{}{}", known.empty() ? "" : ", ", s.suffix);
  return fmt::format("write for example \"{}\"; units: {}", unit.example, known);
}

double factor_of(std::string_view suffix, double number, std::string_view text, const UnitInfo& unit) {
  for (const Scale& s : unit.scales)
    if (s.suffix == suffix) return s.factor;
  if (suffix.empty()) {
    if (number == 0) return 1;
    fail(fmt::format("'{}' has no unit", brief(text)), form_of(unit));
  }
  if (suffix.starts_with("KB"))
    fail(fmt::format("'{}' is ambiguous", brief(text)), "write KiB for 1024 bytes or kB for 1000 bytes");
  if (unit.name.empty()) fail(fmt::format("'{}' is not a plain number", brief(text)), form_of(unit));
  fail(fmt::format("'{}' has the wrong unit '{}'", brief(text), brief(suffix)), form_of(unit));
}

}  // namespace

std::string_view name_of(Unit unit) { return info(unit).name; }

double parse_quantity(std::string_view text, Unit unit) {
  const UnitInfo unit_info = info(unit);
  const std::string_view body = trimmed(text);
  if (body.empty()) fail("empty value", form_of(unit_info));
  if (body.front() == '-') fail(fmt::format("'{}' is negative", brief(text)), form_of(unit_info));
  double number = 0;
  // from_chars also reads "inf" and "nan", which are no quantities.
  const bool digit = (body.front() >= '0' && body.front() <= '9') || body.front() == '.';
  const auto [end, code] = std::from_chars(body.data(), body.data() + body.size(), number);
  if (!digit || code == std::errc::invalid_argument)
    fail(fmt::format("'{}' does not start with a number", brief(text)), form_of(unit_info));
  if (code == std::errc::result_out_of_range)
    fail(fmt::format("'{}' is out of range", brief(text)), form_of(unit_info));
  const std::string_view suffix = trimmed(body.substr(static_cast<std::size_t>(end - body.data())));
  const double value = number * factor_of(suffix, number, text, unit_info);
  if (!std::isfinite(value)) fail(fmt::format("'{}' is out of range", brief(text)), form_of(unit_info));
  return value;
}

std::uint64_t parse_whole_quantity(std::string_view text, Unit unit) {
  const UnitInfo unit_info = info(unit);
  const std::string_view body = trimmed(text);
  // Plain digits keep all 64 bits; everything else goes through a double, exact up to 2^53.
  std::uint64_t digits = 0;
  const auto [end, code] = std::from_chars(body.data(), body.data() + body.size(), digits);
  if (code == std::errc{}) {
    const std::string_view suffix = trimmed(body.substr(static_cast<std::size_t>(end - body.data())));
    if (suffix == unit_info.name) return digits;
  }
  const double value = parse_quantity(text, unit);
  if (value != std::floor(value))
    fail(fmt::format("'{}' is not a whole number{}{}", brief(text), unit_info.name.empty() ? "" : " of ",
                     unit_info.name),
         form_of(unit_info));
  if (value >= 18446744073709551616.0)
    fail(fmt::format("'{}' is out of range", brief(text)), form_of(unit_info));
  return static_cast<std::uint64_t>(value);
}

std::string format_quantity(double value, Unit unit) {
  const UnitInfo unit_info = info(unit);
  const auto with = [](const std::string& number, std::string_view suffix) {
    if (suffix.empty()) return number;
    return fmt::format("{} {}", number, suffix);
  };
  if (!std::isfinite(value)) return with(fmt::format("{}", value), unit_info.name);
  // The scale that needs the fewest digits; of several the largest that leaves a number of 1 or more.
  const auto digits = [](const std::string& text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  std::string number = fmt::format("{}", value);
  Scale best = unit_info.scales.front();
  for (const Scale& s : unit_info.scales) {
    const std::string candidate = fmt::format("{}", value / s.factor);
    double back = 0;
    std::from_chars(candidate.data(), candidate.data() + candidate.size(), back);
    if (back * s.factor != value || (s.factor > 1 && value < s.factor)) continue;
    const auto change = digits(candidate) - digits(number);
    if (change > 0 || (change == 0 && s.factor <= best.factor)) continue;
    number = candidate;
    best = s;
  }
  return with(number, best.suffix);
}

}  // namespace simtlab
