#include "hosts/configuration.h"

#include <filesystem>
#include <string>

namespace simtlab::hosts {

result::RunConfig run_config(const device::Configuration& c) {
  result::RunConfig config;
  const device::ToolOptions& o = c.options;
  std::error_code ignored;
  // A file is named from here; the program may run elsewhere.
  config.gpu = o.gpu.find('/') != std::string::npos || o.gpu.ends_with(".toml")
                   ? std::filesystem::absolute(o.gpu, ignored).string()
                   : o.gpu;
  for (const device::Setting& s : c.settings)
    config.settings.push_back({s.key, s.value, s.origin.layer, s.origin.where});
  config.mode = o.mode;
  config.cache = o.cache;
  config.predict = o.predict;
  config.max_cycles = o.max_cycles;
  config.max_time_s = o.max_time_ns * 1e-9;
  config.max_memory_bytes = o.max_memory;
  config.registers = static_cast<std::uint32_t>(o.registers);
  config.sample = o.sample;
  config.kernels = o.kernels;
  config.sharing = o.sharing;
  config.threads = static_cast<std::uint32_t>(o.threads);
  config.seed = o.seed;
  config.what_if = o.what_if;
  config.lowering = o.lowering == "on";
  return config;
}

gpu::CheckpointOptions checkpoint_options(const result::RunConfig& config,
                                          const device::LoadedDevice& device) {
  gpu::CheckpointOptions out;
  out.write = config.checkpoint;
  out.resume = config.resume;
  out.every = config.checkpoint_every;
  out.run = result::what_results_depend_on(config);
  out.run.emplace_back("the version of simtlab", SIMTLAB_VERSION);
  for (const device::Entry& e : device.entries) out.run.emplace_back(e.key, e.value);
  return out;
}

}  // namespace simtlab::hosts
