#include "device/main_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/shown.h"
#include "device/memory_controller.h"

namespace simtlab::device {
namespace {

constexpr std::string_view plugin_prefix = "plugin:";
constexpr std::string_view config_mark = "?config=";

std::string in_folder(std::string_view path, const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::absolute(folder / path, ignored).lexically_normal().string();
}

// Errors of `call` that have no place point at what chose the memory.
template <class Call>
auto placed(const std::optional<Origin>& chosen, Call&& call) {
  try {
    return call();
  } catch (const Error& e) {
    std::vector<Diagnostic> diagnostics = e.diagnostics();
    for (Diagnostic& d : diagnostics)
      if (d.pos.file.empty() && chosen) d.pos.file = chosen->where;
    throw Error(e.code(), e.id(), std::move(diagnostics));
  }
}

LoadedTechnology load(const std::string& name, const std::optional<Origin>& chosen) {
  return placed(chosen, [&] { return load_technology(name); });
}

double idle_read_cycles(const Technology& technology, const Device& device) {
  return idle_read_clocks(technology, device.l2_miss_bytes) * technology.tck.count * 1e-12 *
             device.sm_clock_hz +
         0.5;  // until the next cycle of the SMs
}

// Values of the simple memory alone: of another one the technology has them.
constexpr std::array simple_keys = {
    "dram.bandwidth",    "dram.bandwidth_measured", "dram.read_bandwidth_measured",
    "dram.access_bytes", "dram.row_bytes",          "dram.row_miss_penalty"};

// A file says that the GPU's own memory is modelled command by command, and somebody nearer to the user gives
// one of these values: then it is the simple memory that has it.
void prefer_simple(Assembly& assembly, Device& device) {
  if (device.dram.model != "device" || assembly.is_overridden("dram.model")) return;
  for (const char* key : simple_keys)
    if (assembly.is_nearer(key, "dram.model") && assembly.is_nearer(key, "dram.technology")) {
      device.dram.model = "simple";
      assembly.follow("dram.model", key, fmt::format("{} is a value of the simple memory", key));
      return;
    }
}

// Values that the chosen memory decides cannot be set beside it.
std::vector<Contradiction> idle_settings(const Assembly& assembly, const Device& device, MemoryKind kind) {
  std::vector<Contradiction> found;
  const auto refuse = [&](const char* key, const char* why, const char* hint) {
    if (assembly.is_overridden(key)) found.push_back({{key}, why, hint});
  };
  if (kind == MemoryKind::simple) {
    const char* const why = "has no effect on the simple memory";
    const char* const hint = "choose a memory (--dram NAME), or leave it out";
    for (const char* key :
         {"dram.channels", "dram.controller", "dram.request_queue", "dram.return_queue", "dram.stall_limit"})
      refuse(key, why, hint);
    return found;
  }
  const char* const why = "has no effect: the memory that dram.model (--dram) names decides it";
  for (const char* key : simple_keys) refuse(key, why, "leave it out, or change a copy of the memory's file");
  if (kind == MemoryKind::plugin)
    refuse("dram.controller", "has no effect: a plug-in has a controller of its own",
           "configure it with ?config=");
  if (device.dram.channels > 0 && assembly.is_overridden("dram.partitions"))
    refuse("dram.partitions", "is what dram.channels (--channels) says", "give one of the two");
  return found;
}

}  // namespace

MemoryChoice memory_choice(std::string_view model) {
  if (model == "simple") return {};
  if (!model.starts_with(plugin_prefix)) return {MemoryKind::technology, std::string(model), {}, {}};
  model.remove_prefix(plugin_prefix.size());
  MemoryChoice out{MemoryKind::plugin, {}, {}, {}};
  const std::size_t end = model.find('?');
  out.library = model.substr(0, end);
  if (end != std::string_view::npos) {
    if (!model.substr(end).starts_with(config_mark))
      throw Error(
          ExitCode::bad_input, "config-value",
          fmt::format("dram.model: '{}' is not ?config=TEXT", shown(std::string(model.substr(end)), 60)),
          "write plugin:/path/to/library.so?config=TEXT");
    out.config = model.substr(end + config_mark.size());
  }
  if (out.library.empty())
    throw Error(ExitCode::bad_input, "config-value", "dram.model: the plug-in has no path",
                "write plugin:/path/to/library.so?config=TEXT");
  return out;
}

std::string memory_model_in(const std::string& model, const std::filesystem::path& folder) {
  if (!model.starts_with(plugin_prefix)) return names_file(model) ? in_folder(model, folder) : model;
  const std::string_view rest = std::string_view(model).substr(plugin_prefix.size());
  const std::size_t end = std::min(rest.find('?'), rest.size());
  if (end == 0) return model;
  return fmt::format("{}{}{}", plugin_prefix, in_folder(rest.substr(0, end), folder), rest.substr(end));
}

double far_and_translation(const Device& device) {
  return (device.l2_partitions > 1 ? device.l2_far_latency / 2 : 0) +
         (device.tlb.enabled ? device.tlb.miss_latency : 0);
}

double idle_read_clocks(const Technology& technology, std::uint32_t bytes) {
  const Technology::Timing& t = technology.timing;
  const std::uint32_t accesses = std::max(1u, bytes / technology.burst_bytes());
  const double enters = 0.5;  // at the next clock
  const double read = t.trcd_read + t.cl + t.burst + (accesses - 1) * t.tccd_l;
  if (technology.refresh == Refresh::none || t.trefi == 0) return enters + read;
  // A share of busy / trefi comes during a refresh, and waits for half of it.
  const double busy = technology.refresh == Refresh::per_bank ? t.trfc_pb : t.trfc;
  return enters + read + busy * busy / (2 * t.trefi);
}

double channel_bandwidth(const Technology& technology) {
  return technology.bytes_per_second() * technology.organisation.pseudo_channels;
}

std::vector<Entry> apply_main_memory(Assembly& assembly, Device& device, const std::string& file) {
  Device::Dram& dram = device.dram;
  prefer_simple(assembly, device);
  const MemoryChoice choice =
      placed(assembly.origin("dram.model"), [&] { return memory_choice(dram.model); });
  assembly.refuse(idle_settings(assembly, device, choice.kind), file);
  if (choice.kind == MemoryKind::simple) {
    // Not simulated, but said to be there: it must be one.
    if (!dram.technology.empty())
      static_cast<void>(load(dram.technology, assembly.origin("dram.technology")));
    return {};
  }

  // The way to the memory and back stays what it is, whatever hangs at its end.
  LoadedTechnology loaded = load(dram.technology, assembly.origin("dram.technology"));
  const Technology own = loaded.technology;
  dram.path = std::max(
      0.0, dram.latency - far_and_translation(device) - device.l2.latency - idle_read_cycles(own, device));
  if (dram.channels > 0) {
    dram.partitions = dram.channels;
    assembly.follow("dram.partitions", "dram.channels", "one channel a partition");
  }
  if (choice.kind == MemoryKind::plugin) {
    dram.technology = std::filesystem::path(choice.library).filename().string();
    assembly.follow("dram.technology", "dram.model",
                    "a plug-in, which knows its bandwidth, access and timing");
    for (const char* key : {"dram.bandwidth", "dram.bandwidth_measured", "dram.read_bandwidth_measured",
                            "dram.access_bytes", "dram.row_bytes", "dram.latency"})
      assembly.follow(key, "dram.technology",
                      "of the GPU as built, for what is not simulated; the plug-in has its own");
    return {};
  }

  const bool as_built = choice.technology == "device";
  if (!as_built) loaded = load(choice.technology, assembly.origin("dram.model"));
  const LoadedMemoryController controller =
      placed(assembly.origin("dram.controller"), [&] { return load_memory_controller(dram.controller); });
  const Technology& t = loaded.technology;
  const double channel = channel_bandwidth(t);
  const auto follow = [&](const char* key) {
    assembly.follow(
        key, "dram.model",
        fmt::format("memory technology {}: {} channels of {} x {} bits at {} MT/s", t.name, dram.partitions,
                    t.organisation.pseudo_channels, t.organisation.channel_width, t.data_rate));
  };
  if (as_built && dram.channels == 0 && !assembly.is_overridden("dram.partitions")) {
    const auto needed = static_cast<std::uint32_t>(std::lround(std::max(1.0, dram.bandwidth / channel)));
    if (needed != dram.partitions) {
      dram.partitions = needed;
      follow("dram.partitions");
    }
  }
  if (!as_built) dram.technology = choice.technology;
  dram.bandwidth = channel * dram.partitions;
  if (!as_built) dram.bandwidth_measured = dram.read_bandwidth_measured = 0;
  dram.bandwidth_measured = std::min(dram.bandwidth_measured, dram.bandwidth);
  dram.read_bandwidth_measured = std::min(dram.read_bandwidth_measured, dram.bandwidth);
  dram.access_bytes = t.burst_bytes();
  dram.row_bytes = t.organisation.row_bytes;
  dram.latency = device.l2.latency + far_and_translation(device) +
                 std::max(1.0, dram.path + idle_read_cycles(t, device));
  for (const char* key :
       {"dram.technology", "dram.bandwidth", "dram.access_bytes", "dram.row_bytes", "dram.latency"})
    follow(key);
  if (!as_built)
    for (const char* key : {"dram.bandwidth_measured", "dram.read_bandwidth_measured"}) follow(key);

  std::vector<Entry> record;
  const auto keep = [&](const char* prefix, const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      record.push_back(entry);
      record.back().key = prefix + entry.key;
    }
  };
  keep("technology.", loaded.entries);
  keep("controller.", controller.entries);
  return record;
}

}  // namespace simtlab::device
