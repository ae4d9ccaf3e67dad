// A CUDA driver of our own for the tests: the entry points of gpu/cuda_api.h on the simulator.
// docs/guide/boards.md lists its environment variables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/device.h"
#include "gpu/board/board.h"
#include "gpu/board/cuda_api.h"
#include "gpu/gpu.h"

namespace simtlab::gpu::board {

struct ModuleTag {
  ModuleId id;
};
struct FunctionTag {
  Kernel kernel;
  std::uint32_t static_shared, registers, max_dynamic_shared;
};
struct StreamTag {
  StreamId id;
};
struct EventTag {
  EventId id;
  bool recorded, asked;
};
struct GraphNodeTag {
  FunctionTag* function;
  exec::Dim3 grid, block;
  std::uint32_t shared_bytes;
  std::vector<std::byte> arguments;
};
struct GraphTag {
  std::vector<std::unique_ptr<GraphNodeTag>> nodes;
};
struct GraphExecTag {
  std::vector<GraphNodeTag> nodes;
};

namespace mock {

// SIMTLAB_MOCK_FAULT: what is to go wrong.
struct Faults {
  bool no_device = false, busy = false, busy_old = false, jit = false, ptx_version = false, mismatch = false,
       permission = false, no_uuid = false;
  std::uint64_t memory = ~std::uint64_t{0};  // bytes that can be allocated
  std::uint64_t used = 0;                    // bytes that others have
  std::uint64_t lost = ~std::uint64_t{0};    // launches after which the device is lost
  std::uint64_t hang = ~std::uint64_t{0};    // launches after which the next one never ends
};

struct DeviceState {
  device::Device device;
  BoardFacts facts;
  std::unique_ptr<Gpu> gpu;  // while a context is retained
  unsigned retained = 0;
  std::uint64_t allocated = 0, launches = 0;
  std::map<DevicePointer, std::size_t> sizes;
  // Modules, streams, events, graphs that live
  std::map<void*, std::shared_ptr<void>> handles;
  // Gone with their module
  std::map<FunctionTag*, std::pair<std::unique_ptr<FunctionTag>, ModuleTag*>> functions;
  std::set<void*> host;
  Result sticky = success;  // what a kernel did wrong stays, as on hardware
  bool hung = false;
  bool asked = true;  // the first question after something was queued is answered "not ready"
};

struct State {
  bool initialised = false;
  int version = 12020;
  int mode = mode_default;
  Faults faults;
  std::vector<std::unique_ptr<DeviceState>> devices;
  DeviceState* current = nullptr;
};

State& state();
// Reads the environment; throws Error.
void start(State& s);
// Of PTX that a real driver would refuse: what its assembler would say. Empty: fine.
std::string refusal(const State& s, const device::Device& device, const char* ptx, Result& result);

}  // namespace mock
}  // namespace simtlab::gpu::board
