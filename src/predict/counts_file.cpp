// Reading a counts file: TOML, one line a symbol.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/shown.h"
#include "device/document.h"
#include "predict/counts.h"

namespace simtlab::predict {
namespace {

constexpr std::size_t max_diagnostics = 20;
constexpr double least = 1e-9;   // of what is not 0: quotients of counts stay finite

std::string example_of(const Symbol& s) {
  return fmt::format("{} is a number{}: {}, from {:g} to {:g}", s.key, s.unit == "1" ? "" : fmt::format(" in {}", s.unit), s.doc, s.minimum, s.maximum);
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
    if (diagnostics_.size() < max_diagnostics) diagnostics_.push_back(document_.diagnostic(node.pos, std::move(message), std::move(hint)));
  }

  void one(const device::Node& node) {
    const auto s = std::ranges::find(symbols(), std::string_view(node.key), &Symbol::key);
    if (s == symbols().end()) return unknown_key(node);
    double value = 0;
    const char* end = node.value.data() + node.value.size();
    const auto [stop, code] = std::from_chars(node.value.data(), end, value);
    if (node.is_text || node.is_empty_table || code != std::errc() || stop != end)
      return complain(node, fmt::format("{}: '{}' is no number", s->key, shown(node.value, 40)), example_of(*s) + "; write it without quotes and unit");
    if (!std::isfinite(value)) return complain(node, fmt::format("{}: {} is no finite number", s->key, node.value), example_of(*s));
    if (value == 0 && s->minimum > 0) return complain(node, fmt::format("{} is 0, with which no model has an answer", s->key), example_of(*s));
    if (value > 0 && value < least) return complain(node, fmt::format("{}: {} is neither 0 nor at least {:g}", s->key, node.value, least), example_of(*s));
    if (value < s->minimum || value > s->maximum)
      return complain(node, fmt::format("{}: {} is not from {:g} to {:g}", s->key, node.value, s->minimum, s->maximum), example_of(*s));
    if (s->kind == Kind::whole && value != std::floor(value))
      return complain(node, fmt::format("{}: {} is no whole number", s->key, node.value), example_of(*s));
    inputs_.set(s->member, value, {fmt::format("{}:{}", document_.file, node.pos.line), document_.diagnostic(node.pos, {})});
  }

  void unknown_key(const device::Node& node) {
    std::vector<std::string> known;
    for (const Symbol& s : symbols()) known.emplace_back(s.key);
    const std::string near = nearest_name(node.key.substr(0, 200), known);
    complain(node, fmt::format("unknown symbol '{}'", shown(node.key, 60)),
             near.empty() ? "docs/models.md lists the symbols" : fmt::format("did you mean '{}'?", near));
  }

  const device::Document& document_;
  Inputs inputs_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

bool Inputs::has(double Counts::*member) const { return !std::isnan(counts.*member); }

const Source& Inputs::source(double Counts::*member) const { return sources[static_cast<std::size_t>(&symbol(member) - symbols().data())]; }

void Inputs::set(double Counts::*member, double value, Source source) {
  counts.*member = value;
  sources[static_cast<std::size_t>(&symbol(member) - symbols().data())] = std::move(source);
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

}  // namespace simtlab::predict
