// Reading a counts file: TOML, one line a symbol.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/shown.h"
#include "device/document.h"
#include "models/counts.h"

namespace simtlab::models {
namespace {

constexpr std::size_t max_diagnostics = 20;
constexpr double least = 1e-9;  // of what is not 0: quotients of counts stay finite

constexpr std::string_view class_prefix = "class.";

// What a key of the file stands for, whether a symbol or a cell of the mix.
struct Entry {
  std::string key;
  std::string_view unit, doc;
  double minimum, maximum;
  Kind kind;
};

std::string example_of(const Entry& e) {
  return fmt::format("{} is a number{}: {}, from {:g} to {:g}", e.key,
                     e.unit == "1" ? "" : fmt::format(" in {}", e.unit), e.doc, e.minimum, e.maximum);
}

class CountsReader {
 public:
  explicit CountsReader(const device::Document& document) : document_(document) {
    inputs_.file = document.file;
    inputs_.lines = document.lines.size();
    inputs_.sources.resize(symbols().size());
  }

  Inputs read() {
    for (const device::Node& node : document_.nodes) one(node);
    if (!diagnostics_.empty()) throw Error(ExitCode::bad_input, "counts-file", std::move(diagnostics_));
    return std::move(inputs_);
  }

 private:
  void complain(const device::Node& node, std::string message, std::string hint) {
    if (diagnostics_.size() < max_diagnostics)
      diagnostics_.push_back(document_.diagnostic(node.pos, std::move(message), std::move(hint)));
  }

  void one(const device::Node& node) {
    if (node.key.starts_with(class_prefix))
      return one_of_a_class(node, std::string_view(node.key).substr(class_prefix.size()));
    const auto s = std::ranges::find(symbols(), std::string_view(node.key), &Symbol::key);
    if (s == symbols().end()) return unknown_key(node, {});
    if (const auto value =
            number(node, {std::string(s->key), s->unit, s->doc, s->minimum, s->maximum, s->kind}))
      inputs_.set(s->member, *value, source(node));
  }

  // [class.fp32] insts, latency, throughput.
  void one_of_a_class(const device::Node& node, std::string_view rest) {
    const auto dot = rest.find('.');
    const std::string_view name = rest.substr(0, dot),
                           column = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    const auto known = std::ranges::find(device::op_class_names, name);
    if (known == device::op_class_names.end())
      return unknown_key(node, {device::op_class_names.begin(), device::op_class_names.end()}, name);
    if (dot == std::string_view::npos && node.is_empty_table) return;
    const auto s = std::ranges::find(mix_symbols(), column, &MixSymbol::key);
    if (s == mix_symbols().end()) return unknown_key(node, {"insts", "latency", "throughput"}, column);
    if (const auto value = number(node, {node.key, s->unit, s->doc, s->minimum, s->maximum, Kind::real}))
      inputs_.set_mix(*s, static_cast<std::size_t>(known - device::op_class_names.begin()), *value,
                      source(node));
  }

  std::optional<double> number(const device::Node& node, const Entry& e) {
    double value = 0;
    const char* end = node.value.data() + node.value.size();
    const auto [stop, code] = std::from_chars(node.value.data(), end, value);
    const auto refuse = [&](std::string message, std::string hint) {
      complain(node, std::move(message), std::move(hint));
      return std::nullopt;
    };
    if (node.is_text || node.is_empty_table || code != std::errc() || stop != end)
      return refuse(fmt::format("{}: '{}' is no number", e.key, shown(node.value, 40)),
                    example_of(e) + "; write it without quotes and unit");
    if (!std::isfinite(value))
      return refuse(fmt::format("{}: {} is no finite number", e.key, node.value), example_of(e));
    if (value == 0 && e.minimum > 0)
      return refuse(fmt::format("{} is 0, with which no model has an answer", e.key), example_of(e));
    if (value > 0 && value < least)
      return refuse(fmt::format("{}: {} is neither 0 nor at least {:g}", e.key, node.value, least),
                    example_of(e));
    if (value < e.minimum || value > e.maximum)
      return refuse(fmt::format("{}: {} is not from {:g} to {:g}", e.key, node.value, e.minimum, e.maximum),
                    example_of(e));
    if (e.kind == Kind::whole && value != std::floor(value))
      return refuse(fmt::format("{}: {} is no whole number", e.key, node.value), example_of(e));
    return value;
  }

  Source source(const device::Node& node) const {
    return {fmt::format("{}:{}", document_.file, node.pos.line), document_.diagnostic(node.pos, {})};
  }

  // `known`: what could stand in the place of `part` of the key; none: the symbols, for the whole key.
  void unknown_key(const device::Node& node, std::vector<std::string> known, std::string_view part = {}) {
    const std::string_view wrong = known.empty() ? std::string_view(node.key) : part;
    if (known.empty())
      for (const Symbol& s : symbols()) known.emplace_back(s.key);
    const std::string near = nearest_name(std::string(wrong.substr(0, 200)), known);
    complain(
        node, fmt::format("unknown symbol '{}'", shown(node.key, 60)),
        near.empty() ? "docs/concepts/models.md lists the symbols" : fmt::format("did you mean '{}'?", near));
  }

  const device::Document& document_;
  Inputs inputs_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

bool Inputs::has(double Counts::*member) const { return !std::isnan(counts.*member); }

const Source& Inputs::source(double Counts::*member) const {
  return sources[static_cast<std::size_t>(&symbol(member) - symbols().data())];
}

void Inputs::set(double Counts::*member, double value, Source source) {
  counts.*member = value;
  sources[static_cast<std::size_t>(&symbol(member) - symbols().data())] = std::move(source);
}

bool Inputs::has_mix() const {
  return std::ranges::any_of(counts.mix.insts, [](double n) { return !std::isnan(n); });
}

void Inputs::set_insts(std::size_t index, double value, Source source) {
  set_mix(mix_symbols()[0], index, value, std::move(source));
}

void Inputs::set_mix(const MixSymbol& symbol, std::size_t index, double value, Source source) {
  (counts.mix.*symbol.column)[index] = value;
  mix_sources[static_cast<std::size_t>(&symbol - mix_symbols().data())][index] = std::move(source);
}

const Source& Inputs::mix_source(const MixSymbol& symbol, std::size_t index) const {
  return mix_sources[static_cast<std::size_t>(&symbol - mix_symbols().data())][index];
}

Inputs parse_counts(std::string_view text, const std::string& file) {
  try {
    return CountsReader(device::parse_document(text, file, device::Form::plain)).read();
  } catch (const Error& e) {
    // The reader of TOML calls a list or a date what it is in a device file.
    if (e.id() != "device-file") throw;
    throw Error(ExitCode::bad_input, "counts-file", e.diagnostics());
  }
}

}  // namespace simtlab::models
