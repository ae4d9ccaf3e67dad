// Entry points of the mock driver: modules, functions, launches, graphs, streams, events.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "calls.h"
#include "device/occupancy.h"

namespace {

// Before a launch: nullopt goes on.
std::optional<Result> refuse_launch(DeviceState& d, const FunctionTag& f, std::uint32_t shared_bytes) {
  if (std::uint64_t{f.static_shared} + shared_bytes >
      std::max<std::uint64_t>(d.facts.shared_bytes_per_block,
                              f.static_shared + std::uint64_t{f.max_dynamic_shared}))
    return invalid_value;
  if (d.launches >= state().faults.lost) return d.sticky = unknown;
  if (d.launches >= state().faults.hang) {
    d.hung = true;
    if (std::getenv("SIMTLAB_MOCK_VERBOSE") != nullptr)
      std::fputs("mock driver: this launch never ends\n", stderr);
    return success;
  }
  ++d.launches;
  d.asked = false;
  return std::nullopt;
}

// What a real driver takes from `extra`: one buffer.
std::optional<std::vector<std::byte>> arguments_of(void** parameters, void** extra) {
  if (parameters != nullptr || extra == nullptr) return std::nullopt;
  const std::byte* bytes = nullptr;
  std::size_t size = 0;
  for (; *extra != launch_end; extra += 2) {
    if (extra[0] == launch_buffer)
      bytes = static_cast<const std::byte*>(extra[1]);
    else if (extra[0] == launch_buffer_bytes)
      size = *static_cast<const std::size_t*>(extra[1]);
    else
      return std::nullopt;
  }
  if (bytes == nullptr && size > 0) return std::nullopt;
  return std::vector<std::byte>(bytes, bytes + size);
}

Result wait_or_not_yet(DeviceState& d, bool& asked) {
  if (d.hung || !std::exchange(asked, true)) return not_ready;
  return success;
}

}  // namespace

// Modules and functions.

Result cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned options, int* names,
                          void** values) {
  const auto log = [&](const std::string& text) {
    char* to = nullptr;
    std::size_t room = 0;
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == jit_error_log) to = static_cast<char*>(values[i]);
      if (names[i] == jit_error_log_bytes) room = reinterpret_cast<std::uintptr_t>(values[i]);
    }
    if (to != nullptr && room > 0) std::snprintf(to, room, "%s", text.c_str());
  };
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const char* ptx = static_cast<const char*>(image);
    Result result = success;
    if (const std::string why = refusal(state(), d.device, ptx, result); !why.empty()) {
      log(why);
      return result;
    }
    try {
      *module = keep(d, ModuleTag{gpu.load_module("mock.ptx", ptx)});
    } catch (const Error& e) {
      log(e.format());
      return invalid_ptx;
    }
    return success;
  });
}
Result cuModuleUnload(ModuleHandle module) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, module)) return invalid_handle;
    waits(d);
    std::erase_if(d.functions, [&](const auto& f) { return f.second.second == module; });
    gpu.unload_module(module->id);
    return drop(d, module);
  });
}
Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, module)) return invalid_handle;
    const auto kernel = gpu.find_kernel(module->id, name);
    if (!kernel) return not_found;
    const ptx::Function& f = gpu.module(kernel->module).functions[kernel->function];
    auto tag =
        std::make_unique<FunctionTag>(FunctionTag{*kernel, f.shared_bytes, std::max(1u, f.registers), 0});
    *function = tag.get();
    d.functions[*function] = {std::move(tag), module};
    return success;
  });
}
Result cuFuncGetAttribute(int* value, int which, FunctionHandle function) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (!d.functions.contains(function)) return invalid_handle;
    if (which == function_registers)
      *value = static_cast<int>(function->registers);
    else if (which == function_shared_bytes)
      *value = static_cast<int>(function->static_shared);
    else
      return invalid_value;
    return success;
  });
}
Result cuFuncSetAttribute(FunctionHandle function, int which, int value) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (!d.functions.contains(function)) return invalid_handle;
    if (which == function_carve_out) return value >= -1 && value <= 100 ? success : invalid_value;
    if (which != function_max_dynamic_shared || value < 0 ||
        std::uint64_t{function->static_shared} + static_cast<std::uint32_t>(value) >
            d.facts.shared_bytes_per_block_optin)
      return invalid_value;
    function->max_dynamic_shared = static_cast<std::uint32_t>(value);
    return success;
  });
}
Result cuFuncSetCacheConfig(FunctionHandle function, int preference) {
  return on_device([&](DeviceState& d, Gpu&) {
    return d.functions.contains(function) && preference >= 0 && preference <= 3 ? success : invalid_value;
  });
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle function, int threads,
                                                   std::size_t shared_bytes) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (threads <= 0 || !d.functions.contains(function)) return invalid_value;
    *blocks = static_cast<int>(device::occupancy(d.device, static_cast<std::uint32_t>(threads),
                                                 function->registers, shared_bytes + function->static_shared)
                                   .blocks_per_sm);
    return success;
  });
}

// Launches.

Result cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      StreamHandle stream, void** parameters, void** extra) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    const auto arguments = arguments_of(parameters, extra);
    if (!id || !d.functions.contains(function)) return invalid_handle;
    if (!arguments) return invalid_value;
    if (const auto refused = refuse_launch(d, *function, shared_bytes)) return *refused;
    gpu.launch(function->kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
               *arguments, *id);
    return success;
  });
}
Result cuGraphCreate(Graph* graph, unsigned flags) {
  return on_device([&](DeviceState& d, Gpu&) {
    *graph = keep(d, GraphTag{});
    return flags == 0 ? success : invalid_value;
  });
}
Result cuGraphAddKernelNode(GraphNode* node, Graph graph, const GraphNode* after, std::size_t count,
                            const KernelNode* kernel) {
  return on_device([&](DeviceState& d, Gpu&) {
    auto arguments = arguments_of(kernel->parameters, kernel->extra);
    // A chain, each after the one before: all that the simulator's graph is asked for.
    const bool chained =
        graph->nodes.empty() ? count == 0 : count == 1 && *after == graph->nodes.back().get();
    if (!lives(d, graph) || !arguments || !chained) return invalid_value;
    graph->nodes.push_back(
        std::make_unique<GraphNodeTag>(GraphNodeTag{kernel->function,
                                                    {kernel->grid_x, kernel->grid_y, kernel->grid_z},
                                                    {kernel->block_x, kernel->block_y, kernel->block_z},
                                                    kernel->shared_bytes,
                                                    std::move(*arguments)}));
    *node = graph->nodes.back().get();
    return success;
  });
}
Result cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long flags) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (!lives(d, graph) || flags != 0) return invalid_value;
    GraphExecTag tag;
    for (const auto& node : graph->nodes) tag.nodes.push_back(*node);
    *exec = keep(d, std::move(tag));
    return success;
  });
}
Result cuGraphInstantiate_v2(GraphExec* exec, Graph graph, GraphNode*, char*, std::size_t) {
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
Result cuGraphLaunch(GraphExec exec, StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    if (!id || !lives(d, exec)) return invalid_handle;
    bool paid = false;
    for (const GraphNodeTag& node : exec->nodes) {
      if (const auto refused = refuse_launch(d, *node.function, node.shared_bytes)) return *refused;
      gpu.launch(node.function->kernel, node.grid, node.block, node.shared_bytes, node.arguments, *id,
                 std::exchange(paid, true));
    }
    return success;
  });
}
Result cuGraphExecDestroy(GraphExec exec) {
  return on_device([&](DeviceState& d, Gpu&) { return drop(d, exec); });
}
Result cuGraphDestroy(Graph graph) {
  return on_device([&](DeviceState& d, Gpu&) { return drop(d, graph); });
}

// Streams and events.

Result cuStreamCreate(StreamHandle* stream, unsigned flags) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    *stream = keep(d, StreamTag{gpu.create_stream(flags == stream_non_blocking)});
    return success;
  });
}
Result cuStreamDestroy_v2(StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, stream)) return invalid_handle;
    gpu.destroy_stream(stream->id);
    return drop(d, stream);
  });
}
Result cuStreamQuery(StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    if (!id) return invalid_handle;
    if (const Result result = wait_or_not_yet(d, d.asked); result != success) return result;
    gpu.synchronize(*id);
    return success;
  });
}
Result cuEventCreate(EventHandle* event, unsigned) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    *event = keep(d, EventTag{gpu.create_event(), false, false});
    return success;
  });
}
Result cuEventDestroy_v2(EventHandle event) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, event)) return invalid_handle;
    gpu.destroy_event(event->id);
    return drop(d, event);
  });
}
Result cuEventRecord(EventHandle event, StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    if (!id || !lives(d, event)) return invalid_handle;
    gpu.record_event(event->id, *id);
    event->recorded = true, event->asked = false;
    return success;
  });
}
Result cuEventQuery(EventHandle event) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, event) || !event->recorded) return invalid_handle;
    if (const Result result = wait_or_not_yet(d, event->asked); result != success) return result;
    return gpu.event_time_ns(event->id) ? success : unknown;
  });
}
Result cuEventElapsedTime(float* ms, EventHandle from, EventHandle to) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, from) || !lives(d, to) || !from->recorded || !to->recorded) return invalid_handle;
    const auto begin = gpu.event_time_ns(from->id), end = gpu.event_time_ns(to->id);
    if (!begin || !end) return not_ready;
    *ms = static_cast<float>((*end - *begin) * 1e-6);
    return success;
  });
}
