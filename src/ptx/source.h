// The text of a module and errors that point into it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace simtlab::ptx {

// A place in the text: byte offset and the line and column that belong to it.
struct Place {
  std::uint32_t offset = 0, line = 0, column = 0;
};

// Bounds on hostile input. Each has a message that names it.
struct Limits {
  static constexpr std::size_t text_bytes = std::size_t{256} << 20;
  static constexpr std::size_t identifier = 64u << 10;    // mangled names of nested templates reach thousands
  static constexpr std::size_t nesting = 256;             // { } scopes and parentheses
  static constexpr std::size_t instructions = 2'000'000;  // a module
  static constexpr std::size_t operands = 8'000'000;
  static constexpr std::size_t registers = 4'000'000;       // a function
  static constexpr std::size_t variables = 1'000'000;       // a module
  static constexpr std::size_t labels = 2'000'000;          // a function, targets of tables included
  static constexpr std::size_t initial_values = 8'000'000;  // a module
  // Candidates of indirect calls, kernels times functions
  static constexpr std::size_t call_edges = 10'000'000;
  static constexpr std::uint64_t variable_bytes = std::uint64_t{1} << 40;
  static constexpr std::uint64_t initial_bytes = std::uint64_t{1} << 30;
  static constexpr std::uint64_t local_bytes = 512u << 10;    // per thread, as on hardware
  static constexpr std::uint64_t param_bytes = 32764;         // kernel parameter block, as on hardware
  static constexpr std::uint64_t constant_bytes = 64u << 10;  // a module, as on hardware
  static constexpr std::uint64_t shared_bytes = std::uint64_t{1} << 31;
  static constexpr std::uint32_t align = 1u << 16;
  static constexpr std::size_t diagnostics = 1000;  // unsupported findings kept for one report
};

class Source {
 public:
  Source(std::string name, std::string text)
      : name_(std::move(name)), text_(std::make_shared<const std::string>(std::move(text))) {}

  const std::string& name() const { return name_; }
  std::string_view text() const { return *text_; }
  std::shared_ptr<const std::string> share() const { return text_; }
  std::string_view line_at(std::uint32_t offset) const;  // the whole line around a byte

  Diagnostic diagnostic(Place at, std::string message, std::string hint = {}) const;
  // Throws bad_input.
  [[noreturn]] void fail(Place at, std::string id, std::string message, std::string hint = {}) const;

 private:
  std::string name_;
  std::shared_ptr<const std::string> text_;
};

}  // namespace simtlab::ptx
