#include "result/run_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace simtlab::result {
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

template <typename T>
T member(const Json& object, const char* key, const std::string& file) {
  const auto found = object.find(key);
  if (found == object.end()) fail(file, std::string("key '") + key + "' is missing");
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) fail(file, std::string("key '") + key + "' is not a string");
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!found->is_number()) fail(file, std::string("key '") + key + "' is not a number");
  } else {
    if (!found->is_number_unsigned() || found->template get<std::uint64_t>() > std::numeric_limits<T>::max())
      fail(file, std::string("key '") + key + "' is not a whole number in range");
  }
  return found->template get<T>();
}

}  // namespace

namespace {

Json object_of(const RunConfig& config) {
  Json settings = Json::array();
  for (const RunSetting& s : config.settings)
    settings.push_back({{"key", s.key}, {"value", s.value}, {"layer", s.layer}, {"where", s.where}});
  return {{"gpu", config.gpu},
          {"settings", settings},
          {"mode", config.mode},
          {"cache", config.cache},
          {"predict", config.predict},
          {"max_cycles", config.max_cycles},
          {"max_time_s", config.max_time_s},
          {"max_memory_bytes", config.max_memory_bytes},
          {"registers", config.registers},
          {"threads", config.threads},
          {"sample", config.sample},
          {"kernels", config.kernels},
          {"sharing", config.sharing},
          {"seed", config.seed},
          {"pulse", config.pulse},
          {"record", config.record},
          {"checkpoint", config.checkpoint},
          {"checkpoint_every", config.checkpoint_every},
          {"resume", config.resume},
          {"what_if", config.what_if},
          {"lowering", std::uint64_t{config.lowering}},
          {"lines", std::uint64_t{config.lines}},
          {"series", config.series},
          {"timeline", config.timeline},
          {"timeline_from", config.timeline_from},
          {"timeline_to", config.timeline_to},
          {"timeline_sm", config.timeline_sm},
          {"timeline_states", std::uint64_t{config.timeline_states}}};
}

// Where and how fast a run is done, not what comes of it. Of the GPU the values count, not the name.
bool is_of_the_host(std::string_view key) {
  static constexpr std::string_view keys[] = {
      "gpu",    "settings",   "threads",          "max_cycles", "max_time_s", "max_memory_bytes",
      "record", "checkpoint", "checkpoint_every", "resume",     "pulse"};
  return std::ranges::find(keys, key) != std::end(keys) || key.starts_with("timeline");
}

}  // namespace

std::string to_json(const RunConfig& config) {
  return object_of(config).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::pair<std::string, std::string>> what_results_depend_on(const RunConfig& config) {
  std::vector<std::pair<std::string, std::string>> out;
  const Json object = object_of(config);  // outlives items()
  for (const auto& [key, value] : object.items())
    if (!is_of_the_host(key))
      out.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  return out;
}

RunConfig run_config_from_json(std::string_view text, const std::string& file) {
  const Json in = Json::parse(text, nullptr, false);
  if (in.is_discarded() || !in.is_object()) fail(file, "not a JSON object");
  RunConfig config;
  config.gpu = member<std::string>(in, "gpu", file);
  config.mode = member<std::string>(in, "mode", file);
  if (config.mode != "timing" && config.mode != "functional" && config.mode != "cache" &&
      config.mode != "predict")
    fail(file, "key 'mode' is neither timing, functional, cache nor predict");
  config.cache = member<std::string>(in, "cache", file);
  config.predict = member<std::string>(in, "predict", file);
  config.max_cycles = member<std::uint64_t>(in, "max_cycles", file);
  config.max_time_s = member<double>(in, "max_time_s", file);
  config.max_memory_bytes = member<std::uint64_t>(in, "max_memory_bytes", file);
  config.registers = member<std::uint32_t>(in, "registers", file);
  config.sample = member<double>(in, "sample", file);
  config.kernels = member<std::string>(in, "kernels", file);
  config.sharing = member<std::string>(in, "sharing", file);
  config.threads = member<std::uint32_t>(in, "threads", file);
  config.seed = member<std::uint64_t>(in, "seed", file);
  config.record = member<std::string>(in, "record", file);
  config.checkpoint = member<std::string>(in, "checkpoint", file);
  config.checkpoint_every = member<std::uint64_t>(in, "checkpoint_every", file);
  config.resume = member<std::string>(in, "resume", file);
  config.what_if = member<std::string>(in, "what_if", file);
  config.lowering = member<std::uint64_t>(in, "lowering", file) != 0;
  config.lines = member<std::uint64_t>(in, "lines", file) != 0;
  config.series = member<std::uint64_t>(in, "series", file);
  config.pulse = member<std::string>(in, "pulse", file);
  config.timeline = member<std::string>(in, "timeline", file);
  config.timeline_from = member<std::uint64_t>(in, "timeline_from", file);
  config.timeline_to = member<std::uint64_t>(in, "timeline_to", file);
  config.timeline_sm = member<std::uint32_t>(in, "timeline_sm", file);
  config.timeline_states = member<std::uint64_t>(in, "timeline_states", file) != 0;
  const auto settings = in.find("settings");
  if (settings == in.end() || !settings->is_array()) fail(file, "key 'settings' is not an array");
  for (const Json& s : *settings) {
    if (!s.is_object()) fail(file, "an entry of 'settings' is not an object");
    config.settings.push_back({member<std::string>(s, "key", file), member<std::string>(s, "value", file),
                               member<std::string>(s, "layer", file), member<std::string>(s, "where", file)});
  }
  return config;
}

}  // namespace simtlab::result
