// What readers of result files have in common: a value with the path that leads to it, for messages. Every
// member is checked; nothing of the file is trusted.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace simtlab::result {

using ReadJson = nlohmann::ordered_json;

[[noreturn]] inline void json_fail(const std::string& file, const std::string& what, SourcePos pos = {}) {
  pos.file = file;
  throw Error(
      ExitCode::bad_input, "result-json",
      Diagnostic{
          what, pos, {}, "expected a file that `simtlab run --json=FILE` wrote (docs/reference/json.md)"});
}

struct JsonNode {
  const ReadJson& json;
  std::string path;
  const std::string& file;

  [[noreturn]] void bad(const char* expected) const {
    json_fail(file, fmt::format("'{}' is not {}", path, expected));
  }

  bool has(const char* key) const { return json.contains(key); }
  JsonNode at(const char* key) const {
    const auto found = json.find(key);
    const std::string name = path.empty() ? key : path + "." + key;
    if (found == json.end()) json_fail(file, fmt::format("member '{}' is missing", name));
    return {*found, name, file};
  }
  JsonNode at(std::size_t index) const { return {json[index], fmt::format("{}[{}]", path, index), file}; }
  const JsonNode& object() const { return json.is_object() ? *this : (bad("an object"), *this); }
  std::size_t array_size() const { return json.is_array() ? json.size() : (bad("an array"), 0); }

  std::string string() const {
    if (!json.is_string()) bad("a string");
    return json.get<std::string>();
  }
  bool boolean() const { return json.is_boolean() ? json.get<bool>() : (bad("true or false"), false); }
  std::uint64_t whole(std::uint64_t most = ~std::uint64_t{0}) const {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most) bad("a whole number in range");
    return json.get<std::uint64_t>();
  }
  std::uint32_t whole32() const { return static_cast<std::uint32_t>(whole(~std::uint32_t{0})); }
  int integer() const {
    if (!json.is_number_integer()) bad("a whole number");
    const auto value = json.get<std::int64_t>();
    if (value < -0x7fffffff || value > 0x7fffffff) bad("a whole number in range");
    return static_cast<int>(value);
  }
  double real() const {
    if (!json.is_number() || !std::isfinite(json.get<double>())) bad("a finite number");
    return json.get<double>();
  }
};

}  // namespace simtlab::result
