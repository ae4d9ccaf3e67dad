// Runs kernels given as PTX text on a simulated GPU under the clock.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/catalogue.h"
#include "exec/arguments.h"
#include "exec/executor.h"
#include "timing/timing.h"

namespace simtlab::timing {

class Simulator {
 public:
  explicit Simulator(const device::Device& d, std::string body, const Options& options = {})
      : device(d),
        memory(std::uint64_t{1} << 30, 0),
        module(std::make_unique<exec::LoadedModule>(
            ptx::load_module("test.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n" + std::move(body)),
            memory)),
        gpu(d, options) {}

  std::uint64_t allocate(std::uint64_t bytes) { return memory.allocate(bytes, "cudaMalloc").value(); }
  template <class T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t address = allocate(values.size() * sizeof(T));
    memory.write(address, std::as_bytes(std::span(values)));
    return address;
  }

  template <class... T>
  std::unique_ptr<exec::Launch> prepare(const std::string& kernel, exec::Dim3 grid, exec::Dim3 block,
                                        T... values) {
    exec::LaunchParams p;
    p.module = module.get();
    p.function = static_cast<std::uint32_t>(module->module().find_function(kernel) -
                                            module->module().functions.data());
    p.grid = grid;
    p.block = block;
    p.sm_count = device.sm.count;
    p.max_warps_per_sm = device.sm.max_warps;
    p.clock_hz = device.sm_clock_hz;
    const std::vector<std::byte> packed = exec::pack_arguments(values...);
    p.params = packed;
    return std::make_unique<exec::Launch>(p, memory);
  }
  template <class... T>
  result::KernelResult run(const std::string& kernel, exec::Dim3 grid, exec::Dim3 block, T... values) {
    const auto launch = prepare(kernel, grid, block, values...);
    return gpu.run(*launch);
  }

  device::Device device;
  exec::GlobalMemory memory;
  std::unique_ptr<exec::LoadedModule> module;
  CycleGpu gpu;
};

inline double metric(const result::KernelResult& result, const char* name) {
  const auto value = result.metrics.get(name);
  if (!value) throw std::logic_error(std::string("no metric ") + name);
  return *value;
}
inline std::uint64_t cycles(const result::KernelResult& result) {
  return static_cast<std::uint64_t>(metric(result, "gpu.cycles"));
}

// Every device file of the catalogue.
inline std::vector<std::string> all_devices() { return device::list_devices(); }
// Instructions are at hand: laws of other parts are found by kernels of different length, whose cold start
// would be part of the difference. Launches cost nothing and memory is simple, for the same reason.
inline device::Device device_of(const std::string& name) {
  device::Device device = device::load_device(name, {{"dram.model", "simple", {}}}).device;
  device.instruction.caches = false;
  device.launch = {};
  return device;
}
inline std::string test_name(const std::string& device) {
  std::string name = device;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

}  // namespace simtlab::timing
