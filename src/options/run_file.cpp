#include "options/run_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "options/rows.h"

namespace simtlab::options {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw Error(
      ExitCode::bad_input, "run-config",
      Diagnostic{what,
                 {file, 0, 0},
                 {},
                 "this file is written by `simtlab run`; unset SIMTLAB_RUN_CONFIG to run without it"});
}

Json json_of(const Row& row, const Options& options) {
  return std::visit(
      [&](const auto& member) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::monostate>)
          return nullptr;
        else
          return options.*member;
      },
      row.field);
}

const Json& member(const Json& object, std::string_view key, const std::string& file) {
  const auto found = object.find(key);
  if (found == object.end()) fail(file, "key '" + std::string(key) + "' is missing");
  return *found;
}

std::string text_member(const Json& object, std::string_view key, const std::string& file) {
  const Json& value = member(object, key, file);
  if (!value.is_string()) fail(file, "key '" + std::string(key) + "' is not a string");
  return value.get<std::string>();
}

void read(const Json& object, const Row& row, const std::string& file, Options& out) {
  const std::string quoted = "key '" + std::string(row.key) + "'";
  if (const auto* text = std::get_if<std::string Options::*>(&row.field)) {
    out.** text = text_member(object, row.key, file);
  } else if (const auto* flag = std::get_if<bool Options::*>(&row.field)) {
    const Json& value = member(object, row.key, file);
    if (!value.is_boolean()) fail(file, quoted + " is neither true nor false");
    out.** flag = value.get<bool>();
  } else if (const auto* real = std::get_if<double Options::*>(&row.field)) {
    const Json& value = member(object, row.key, file);
    if (!value.is_number()) fail(file, quoted + " is not a number");
    out.** real = value.get<double>();
  } else if (const auto* whole = std::get_if<std::uint64_t Options::*>(&row.field)) {
    const Json& value = member(object, row.key, file);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > row.maximum)
      fail(file, quoted + " is not a whole number in range");
    out.** whole = value.get<std::uint64_t>();
  }
}

}  // namespace

RunFile run_file(const Configuration& configuration) {
  RunFile out{configuration.options, configuration.settings};
  std::string& gpu = out.options.gpu;
  std::error_code ignored;
  if (device::names_file(gpu)) gpu = std::filesystem::absolute(gpu, ignored).string();
  return out;
}

std::string to_json(const RunFile& run) {
  Json out;
  for (const Row& row : rows())
    if (!std::holds_alternative<std::monostate>(row.field))
      out[std::string(row.key)] = json_of(row, run.options);
  out["settings"] = Json::array();
  for (const device::Setting& s : run.settings)
    out["settings"].push_back(
        {{"key", s.key}, {"value", s.value}, {"layer", s.origin.layer}, {"where", s.origin.where}});
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunFile run_file_from_json(std::string_view text, const std::string& file) {
  const Json in = Json::parse(text, nullptr, false);
  if (in.is_discarded() || !in.is_object()) fail(file, "not a JSON object");
  RunFile out;
  for (const Row& row : rows()) read(in, row, file, out.options);
  const std::string& mode = out.options.mode;
  if (mode != "timing" && mode != "functional" && mode != "cache" && mode != "predict")
    fail(file, "key 'mode' is neither timing, functional, cache nor predict");
  const Json& settings = member(in, "settings", file);
  if (!settings.is_array()) fail(file, "key 'settings' is not an array");
  for (const Json& s : settings) {
    if (!s.is_object()) fail(file, "an entry of 'settings' is not an object");
    device::Setting setting;
    setting.key = text_member(s, "key", file);
    setting.value = text_member(s, "value", file);
    setting.origin.layer = text_member(s, "layer", file);
    setting.origin.where = text_member(s, "where", file);
    out.settings.push_back(std::move(setting));
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> what_results_depend_on(const Options& options) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Row& row : rows()) {
    if ((row.kind != Kind::result && row.kind != Kind::observed) || row.key == "gpu") continue;
    const Json value = json_of(row, options);
    if (value.is_null()) continue;
    out.emplace_back(row.key, value.is_string()    ? value.get<std::string>()
                              : value.is_boolean() ? std::string(value.get<bool>() ? "on" : "off")
                                                   : value.dump());
  }
  return out;
}

}  // namespace simtlab::options
