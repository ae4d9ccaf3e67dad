#include "probe/device_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "device/parameters.h"

namespace simtlab::probe {
namespace {

// A TOML basic string.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string plain(const Finding& f) {
  if (!f.word.empty()) return f.word;
  const double rounded = std::round(f.value);
  const std::string number =
      std::abs(f.value - rounded) < 1e-9 * std::abs(f.value) && std::abs(rounded) < 9e15
          ? fmt::format("{:.0f}", rounded)
          : fmt::format("{:.6g}", f.value);
  return f.unit.empty() ? number : number + " " + f.unit;
}

constexpr std::string_view interval_begin = " % interval ",
                           not_repeated = "not repeated, so without an interval";

std::string source_of(const Finding& f) {
  std::string out = "probe: " + f.method;
  if (!f.correction.empty() && f.correction != "slope") out += fmt::format("; correction {}", f.correction);
  if (f.confidence == 1) return out;
  if (f.confidence == 0)
    return out + fmt::format("; {}{}", not_repeated, f.curve.empty() ? "" : ", curve " + f.curve);
  return out + fmt::format("; {:.0f} % interval {:.6g} to {:.6g} {}, {} samples{}", f.confidence * 100,
                           f.interval.low, f.interval.high, f.unit, f.samples,
                           f.curve.empty() ? "" : ", curve " + f.curve);
}

bool is_text(const std::string& value) {
  if (value == "true" || value == "false") return false;
  return !std::ranges::all_of(value, [](char c) { return (c >= '0' && c <= '9') || c == '.'; }) ||
         std::ranges::count(value, '.') > 1;
}

std::string entry(const std::string& name, const std::string& value, const char* kind, const std::string& why,
                  bool text) {
  return fmt::format("{} = {{ value = {}, {} = {} }}\n", name, text ? quoted(value) : value, kind,
                     quoted(why));
}

std::string header(const Provenance& p, bool base) {
  std::string out = fmt::format("# {}, as simtlab probe found it.\n", p.board);
  if (p.partial) out += "# Partial: the measurement ended early, and what is missing was not looked for.\n";
  out += base ? fmt::format("# What was not measured is taken from {}{} and marked as an estimate.\n\n",
                            p.base_name, p.base_remark.empty() ? "" : fmt::format(" ({})", p.base_remark))
              : std::string(
                    "# What is missing was not found, or can't be measured: simtlab probe without --base "
                    "none fills it from another device.\n\n");
  return out;
}

// As written, or with the title that the file's [sources] has for it.
bool from_a_probe(std::string_view source) {
  return source.starts_with("probe: ") || source.starts_with("simtlab ");
}

}  // namespace

// The value as the key's own printing has it.
std::string file_value(const device::Parameter& parameter, const Finding& f) {
  device::Device scratch;
  try {
    device::store(parameter, plain(f), scratch);
    return device::show(parameter, scratch);
  } catch (const Error&) {  // out of the range that a device file may have: reported, not written
    return {};
  }
}

bool is_exact(std::string_view source) {
  return from_a_probe(source) && source.find(interval_begin) == std::string_view::npos &&
         source.find(not_repeated) == std::string_view::npos;
}

std::optional<Interval> interval_in(std::string_view source) {
  constexpr std::string_view middle = " to ";
  const std::size_t at = source.rfind(interval_begin);
  if (!from_a_probe(source) || at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = source.substr(at + interval_begin.size());
  const std::size_t to = rest.find(middle);
  if (to == std::string_view::npos) return std::nullopt;
  Interval out;
  const auto read = [](std::string_view text, double& number) {
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{};
  };
  if (!read(rest.substr(0, to), out.low) || !read(rest.substr(to + middle.size()), out.high) ||
      !(out.low <= out.high))
    return std::nullopt;
  return out;
}

std::string value_text(const Finding& f) {
  if (!f.known()) return "unknown";
  const device::Parameter* parameter = device::find_parameter(f.key);
  if (parameter != nullptr)
    if (std::string text = file_value(*parameter, f); !text.empty()) return text;
  return plain(f);
}

namespace {

// Text stays text whatever it looks like: "2.0" is a capability.
bool written_as_text(const std::string& key, const std::string& value) {
  return is_text(value) || key == "compute_capability" || key == "product";
}

// Why a value is lent, and by whom.
std::string why_lent(const Loan& loan) {
  const std::string as = fmt::format("as {}{}", loan.from, loan.source.empty() ? "" : ": " + loan.source);
  return loan.instead_of.empty()
             ? "not measured; " + as
             : fmt::format("measured {}, which does not go together with what is lent; {}", loan.instead_of,
                           as);
}

void count(const Loan& loan, const std::string& key, DeviceFile& out) {
  const auto at = std::ranges::find(out.lent, loan.from, &std::pair<std::string, std::size_t>::first);
  if (at != out.lent.end())
    ++at->second;
  else
    out.lent.emplace_back(loan.from, 1);
  if (!loan.instead_of.empty()) out.given_way.push_back(key);
}

}  // namespace

DeviceFile device_file(const Findings& findings, const Provenance& p, const Loans& loans) {
  DeviceFile out;
  if (!p.base_name.empty()) out.lent.emplace_back(p.base_name, 0);
  std::string top, tables, section;
  for (const device::Parameter& parameter : device::parameters()) {
    const std::size_t dot = parameter.key.find('.');
    const std::string table = dot == std::string::npos ? "" : parameter.key.substr(0, dot),
                      name = dot == std::string::npos ? parameter.key : parameter.key.substr(dot + 1);
    std::string line;
    const Finding* f = findings.find(parameter.key);
    const std::string value = f != nullptr && f->known() ? file_value(parameter, *f) : "";
    if (const Loan* loan = loans.find(parameter.key)) {
      line =
          entry(name, loan->value, "estimated", why_lent(*loan), written_as_text(parameter.key, loan->value));
      count(*loan, parameter.key, out);
    } else if (!value.empty()) {
      line = entry(name, value, "source", source_of(*f), written_as_text(parameter.key, value));
      ++out.measured;
    } else {
      if (parameter.default_value.empty() && !parameter.optional) ++out.missing;
      continue;
    }
    if (table.empty()) {
      top += line;
      continue;
    }
    if (table != section) tables += fmt::format("\n[{}]\n", section = table);
    tables += line;
  }
  const std::string sources = fmt::format(
      "\n[sources]\nprobe = {{ title = {}, kind = \"measured\" }}\n",
      quoted(fmt::format("{} on {}, {}{}{}", p.tool, p.board, p.driver,
                         p.clocks.empty() ? "" : ", " + p.clocks, p.date.empty() ? "" : ", " + p.date)));
  out.text = header(p, !p.base_name.empty()) + top + sources + tables;
  return out;
}

}  // namespace simtlab::probe
