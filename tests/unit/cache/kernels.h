// Kernels given as PTX text through a cache study.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/study.h"
#include "device/catalogue.h"
#include "exec/arguments.h"
#include "exec/executor.h"
#include "stream/executed.h"

namespace simtlab::cache {

class Kernels {
 public:
  explicit Kernels(const std::string& body)
      : memory(std::uint64_t{1} << 28, 0),
        module(std::make_unique<exec::LoadedModule>(
            ptx::load_module("test.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n" + body), memory)) {
  }

  std::uint64_t allocate(std::uint64_t bytes) { return memory.allocate(bytes, "cudaMalloc").value(); }

  template <class... T>
  result::KernelResult run(const device::Device& device, const Options& options, const std::string& kernel,
                           exec::Dim3 grid, exec::Dim3 block, T... values) {
    Study study(device, options);
    return run(study, device, kernel, grid, block, values...);
  }
  template <class... T>
  result::KernelResult run(Study& study, const device::Device& device, const std::string& kernel,
                           exec::Dim3 grid, exec::Dim3 block, T... values) {
    exec::LaunchParams p;
    p.module = module.get();
    p.function = static_cast<std::uint32_t>(module->module().find_function(kernel) -
                                            module->module().functions.data());
    p.grid = grid;
    p.block = block;
    p.sm_count = device.sm.count;
    p.max_warps_per_sm = device.sm.max_warps;
    const std::vector<std::byte> packed = exec::pack_arguments(values...);
    p.params = packed;
    const exec::Launch launch(p, memory);
    const stream::ExecutedLaunch source(launch);
    const device::Occupancy fit =
        device::occupancy(device, source.threads_per_block(), 20, source.shared_bytes());
    return study.run({.source = &source, .occupancy = fit, .buffers = buffers, .max_bytes = max_bytes});
  }

  exec::GlobalMemory memory;
  std::unique_ptr<exec::LoadedModule> module;
  std::vector<Buffer> buffers;
  std::uint64_t max_bytes = 0;
};

inline double metric(const result::KernelResult& r, const char* name) {
  const auto value = r.metrics.get(name);
  return value ? *value : -1;
}
inline device::Device device_with(const std::string& name,
                                  const std::vector<std::pair<std::string, std::string>>& changes = {}) {
  std::vector<device::Setting> settings;
  for (const auto& [key, value] : changes)
    settings.push_back({key, value, {"command line", "test", "", false}});
  return device::load_device(name, settings).device;
}
inline double cell(const result::KernelResult& r, const char* table, std::size_t row, const char* column) {
  return result::number(result::find(r.tables, table)->rows.at(row)[result::column(table, column)]);
}

}  // namespace simtlab::cache
