#include "device/key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "device/policy_names.h"

namespace simtlab::device {
namespace {

template <class Enum>
using Names = std::span<const std::pair<std::string_view, Enum>>;

constexpr std::array<std::pair<std::string_view, WritePolicy>, 3> write_policies = {
    {{"write_through", WritePolicy::write_through},
     {"write_back", WritePolicy::write_back},
     {"write_evict", WritePolicy::write_evict}}};
constexpr std::array<std::pair<std::string_view, SliceHash>, 2> slice_hashes = {
    {{"even", SliceHash::even}, {"bits", SliceHash::bits}}};
constexpr std::array<std::pair<std::string_view, Refresh>, 3> refreshes = {
    {{"all_bank", Refresh::all_bank}, {"per_bank", Refresh::per_bank}, {"none", Refresh::none}}};
constexpr std::array<std::pair<std::string_view, QueueStyle>, 3> queue_styles = {
    {{"split", QueueStyle::split}, {"unified", QueueStyle::unified}, {"per_bank", QueueStyle::per_bank}}};
constexpr std::array<std::pair<std::string_view, WriteDone>, 3> write_ends = {
    {{"accepted", WriteDone::accepted}, {"issued", WriteDone::issued}, {"written", WriteDone::written}}};

constexpr Names<WritePolicy> names_of(const WritePolicy*) { return write_policies; }
constexpr Names<SliceHash> names_of(const SliceHash*) { return slice_hashes; }
constexpr Names<Refresh> names_of(const Refresh*) { return refreshes; }
constexpr Names<QueueStyle> names_of(const QueueStyle*) { return queue_styles; }
constexpr Names<WriteDone> names_of(const WriteDone*) { return write_ends; }

[[noreturn]] void refuse(const Key& p, std::string what, std::string hint) {
  throw Error(ExitCode::bad_input, "config-value", fmt::format("{}: {}", p.key, what), std::move(hint));
}

std::string quoted(std::string_view text) { return fmt::format("'{}'", shown(text, 40)); }

// One overload per alternative of Field.
struct Store {
  const Key& p;
  std::string_view text;
  Field field;

  // Without a hint of its own: what is allowed.
  [[noreturn]] void refuse(std::string what, std::string hint = {}) const {
    if (hint.empty()) hint = fmt::format("{}: {}; allowed: {}", p.key, p.doc, allowed_values(p, field));
    simtlab::device::refuse(p, std::move(what), std::move(hint));
  }
  void check_range(double value) const {
    if (value >= p.minimum && value <= p.maximum) return;
    refuse(fmt::format("{} is out of range", quoted(text)));
  }
  void operator()(double* out) const {
    const double value = parse_quantity(text, p.unit);
    check_range(value);
    *out = value;
  }
  template <class Whole>
  requires std::is_same_v<Whole, std::uint32_t> || std::is_same_v<Whole, std::uint64_t>
  void operator()(Whole* out) const {
    const std::uint64_t value = parse_whole_quantity(text, p.unit);
    if (p.power_of_two && !std::has_single_bit(value))
      refuse(fmt::format("{} is not a power of two", quoted(text)));
    check_range(static_cast<double>(value));  // the ranges of 32-bit members lie below 2^32
    *out = static_cast<Whole>(value);
  }
  void operator()(std::optional<double>* out) const {
    double value = 0;
    (*this)(&value);
    *out = value;
  }
  void operator()(Picoseconds* out) const {
    const double value = parse_quantity(text, p.unit);
    check_range(value);
    const double whole = std::round(value * 1e3);
    if (std::abs(value * 1e3 - whole) > 1e-6)
      refuse(fmt::format("{} is no whole number of picoseconds", quoted(text)));
    out->count = static_cast<std::uint32_t>(whole);
  }
  void operator()(bool* out) const {
    if (text != "true" && text != "false") refuse(fmt::format("{} is not true or false", quoted(text)));
    *out = text == "true";
  }
  void operator()(std::string* out) const {
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c != 0x7f; });
    if (text.empty() || text.size() > 1000 || !plain)
      refuse("needs a text of 1 to 1000 printable characters", "write for example \"NVIDIA H100\"");
    *out = text;
  }
  void operator()(Capability out) const {
    unsigned major = 0, minor = 0;
    const char* const end = text.data() + text.size();
    const auto dot = std::from_chars(text.data(), end, major);
    const bool has_dot = dot.ec == std::errc{} && dot.ptr != end && *dot.ptr == '.';
    const auto last = has_dot ? std::from_chars(dot.ptr + 1, end, minor) : dot;
    if (!has_dot || last.ec != std::errc{} || last.ptr != end || major < 1 || major > 99 || minor > 9)
      refuse(fmt::format("{} is not a compute capability", quoted(text)), "write for example \"9.0\"");
    *out.major = static_cast<int>(major);
    *out.minor = static_cast<int>(minor);
  }
  void operator()(PolicyChoice out) const {
    const auto all = out.all();
    if (std::ranges::count(all, text, &DeclaredPolicy::name) == 0) refuse_name(all, &DeclaredPolicy::name);
    *out.name = text;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum* out) const {
    const auto names = names_of(out);
    const auto found = std::ranges::find(names, text, [](const auto& entry) { return entry.first; });
    if (found == names.end()) refuse_name(names, [](const auto& entry) { return entry.first; });
    *out = found->second;
  }
  // Says which names there are, and which of them was probably meant.
  template <class Entries, class NameOf>
  [[noreturn]] void refuse_name(const Entries& entries, NameOf name_of) const {
    std::vector<std::string> known;
    for (const auto& entry : entries) known.emplace_back(std::invoke(name_of, entry));
    const std::string near = nearest_name(std::string(text.substr(0, 40)), known);
    const std::string what = fmt::format("unknown value {}", quoted(text));
    if (near.empty()) refuse(what);
    refuse(what, fmt::format("did you mean '{}'? allowed: {}", near, allowed_values(p, field)));
  }
};

struct Show {
  const Key& p;

  std::string operator()(const double* v) const { return format_quantity(*v, p.unit); }
  std::string operator()(const std::uint32_t* v) const { return format_quantity(*v, p.unit); }
  std::string operator()(const std::uint64_t* v) const {
    return format_quantity(static_cast<double>(*v), p.unit);
  }
  std::string operator()(const Picoseconds* v) const { return format_quantity(v->count / 1e3, p.unit); }
  std::string operator()(const std::optional<double>* v) const {
    return *v ? format_quantity(**v, p.unit) : "unknown";
  }
  std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(Capability c) const { return fmt::format("{}.{}", *c.major, *c.minor); }
  std::string operator()(PolicyChoice c) const { return *c.name; }
  template <class Enum>
  requires std::is_enum_v<Enum> std::string operator()(const Enum* v) const {
    for (const auto& [name, value] : names_of(v))
      if (value == *v) return std::string(name);
    assertion_failed("named", __FILE__, __LINE__, "a value of an enumeration has no name");
  }
};

struct Allowed {
  const Key& p;

  std::string range() const {
    return fmt::format("{} to {}{}", format_quantity(p.minimum, p.unit), format_quantity(p.maximum, p.unit),
                       p.power_of_two ? ", a power of two" : "");
  }
  template <class Number>
  requires std::is_arithmetic_v<Number> std::string operator()(const Number*) const { return range(); }
  std::string operator()(const Picoseconds*) const { return range(); }
  std::string operator()(const std::optional<double>*) const { return range(); }
  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const std::string*) const { return "text"; }
  std::string operator()(Capability) const { return "MAJOR.MINOR"; }
  std::string operator()(PolicyChoice c) const {
    std::string out;
    for (const DeclaredPolicy& policy : c.all())
      out += fmt::format("{}{}", out.empty() ? "" : " or ", policy.name);
    return out;
  }
  template <class Enum>
  requires std::is_enum_v<Enum> std::string operator()(const Enum* v) const {
    std::string out;
    for (const auto& [name, value] : names_of(v)) out += fmt::format("{}{}", out.empty() ? "" : " or ", name);
    return out;
  }
};

}  // namespace

std::optional<std::size_t> find_key(const Record& record, std::string_view key) {
  for (std::size_t i = 0; i < record.size(); ++i)
    if (record.key(i).key == key) return i;
  return std::nullopt;
}

std::string unknown_key_hint(Record& record, const std::string& key, std::vector<std::string> more,
                             std::string_view show) {
  if (const auto found = find_key(record, key))
    return fmt::format("write it as a value of [{}]; allowed: {}", key.substr(0, key.find('.')),
                       allowed_values(record.key(*found), record.field(*found)));
  for (std::size_t i = 0; i < record.size(); ++i) {
    const std::string& known = record.key(i).key;
    more.push_back(known);
    if (const std::size_t dot = known.find('.'); dot != std::string::npos)
      more.push_back(known.substr(0, dot));
  }
  const std::string near = nearest_name(key.substr(0, 60), more);
  return near.empty() ? fmt::format("'{}' lists the keys", show) : fmt::format("did you mean '{}'?", near);
}

std::string wrong_with_empty_table(const Record& record, const std::string& key) {
  if (find_key(record, key)) return fmt::format("{}: a table is no value", key);
  for (std::size_t i = 0; i < record.size(); ++i)
    if (record.key(i).key.starts_with(key + ".")) return {};
  return fmt::format("unknown key '{}'", shown(key, 60));
}

std::string key_reference(Record& record) {
  std::string out = "| key | allowed | meaning |\n|---|---|---|\n";
  for (std::size_t i = 0; i < record.size(); ++i) {
    const Key& k = record.key(i);
    std::string note;
    if (!k.default_value.empty()) note = fmt::format(" (default {})", k.default_value);
    if (k.optional) note = " (optional; absent: unknown)";
    out += fmt::format("| `{}` | {} | {}{} |\n", k.key, allowed_values(k, record.field(i)), k.doc, note);
  }
  return out;
}

void store(const Key& key, std::string_view text, Field field) {
  try {
    std::visit(Store{key, text, field}, field);
  } catch (const Error& e) {
    if (e.id() != "quantity") throw;
    const Diagnostic& d = e.diagnostics().front();
    refuse(key, d.message, d.hint);
  }
}

std::string show(const Key& key, Field field) { return std::visit(Show{key}, field); }

std::string allowed_values(const Key& key, Field field) { return std::visit(Allowed{key}, field); }

}  // namespace simtlab::device
