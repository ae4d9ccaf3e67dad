// Kernel launches: checks, the run itself, its place on the timeline.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "device/occupancy.h"
#include "gpu/impl.h"
#include "result/totals.h"
#include "stream/executed.h"
#include "stream/trace/record.h"

namespace simtlab::gpu {
namespace {

constexpr std::size_t launches_kept = 4096;
// Lines of all launches with a profile of their own; later launches are added to the first of their kernel.
constexpr std::size_t profile_lines_kept = 20000;

std::string demangle(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return out;
}

[[noreturn]] void refuse_launch(const std::string& kernel, const std::string& what, const std::string& hint) {
  throw Error(ExitCode::bad_input, "launch-shape", fmt::format("kernel '{}': {}", kernel, what), hint);
}

std::string shape(const exec::Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

// Limits of every device of compute capability 3.0 and later; earlier ones had 65535 blocks in x as well.
void check_shape(const device::Device& device, const std::string& kernel, const exec::Dim3& grid,
                 const exec::Dim3& block) {
  const std::string empty = "every dimension must be at least 1";
  if (grid.count() == 0) refuse_launch(kernel, fmt::format("the grid {} is empty", shape(grid)), empty);
  if (block.count() == 0) refuse_launch(kernel, fmt::format("the block {} is empty", shape(block)), empty);
  const std::uint32_t most_x = device.cc_major >= 3 ? 0x7fffffffu : 65535u;
  if (grid.x > most_x || grid.y > 65535 || grid.z > 65535)
    refuse_launch(kernel, fmt::format("the grid {} is larger than ({}, 65535, 65535)", shape(grid), most_x),
                  "loop inside the kernel instead");
  const std::uint32_t most = device.sm.max_threads_per_block;
  if (block.x > most || block.y > most || block.z > 64 || block.count() > most)
    refuse_launch(kernel,
                  fmt::format("the block {} exceeds {} threads or the limits ({}, {}, 64)", shape(block),
                              most, most, most),
                  "use smaller blocks and more of them");
}

// .reqntid and .maxntid; the message points at the directive.
void check_attributes(const ptx::Module& module, const ptx::Function& function, const exec::Dim3& block) {
  const auto refuse = [&](const std::string& what, std::string hint) {
    throw Error(ExitCode::bad_input, "launch-shape",
                module.diagnostic(function.ntid_line, function.ntid_column,
                                  fmt::format("kernel '{}': {}", function.name, what), std::move(hint)));
  };
  const std::uint32_t dims[3] = {block.x, block.y, block.z};
  std::uint64_t most = 1;
  for (int i = 0; i < 3; ++i) {
    if (function.req_ntid[0] != 0 && dims[i] != std::max(1u, function.req_ntid[i]))
      refuse(fmt::format("the block {} is not the one that .reqntid demands", shape(block)),
             "launch with the block size the kernel was compiled for");
    most *= std::max(1u, function.max_ntid[i]);
  }
  if (function.max_ntid[0] != 0 && block.count() > most)
    refuse(fmt::format("the block {} has more threads than .maxntid allows ({})", shape(block), most),
           "launch smaller blocks or raise __launch_bounds__");
}

// Deviations that follow from the module's directives: a limit of registers that took effect, a target above the device.
void note_directives(const device::Device& device, const ptx::Module& module, const ptx::Function& function,
                     result::KernelResult& result) {
  if (result.registers == function.registers && function.registers < function.unlimited_registers)
    result.not_modelled.emplace_back("D-PTX-8");
  if (module.capability() > static_cast<unsigned>(device.cc_major * 10 + device.cc_minor))
    result.not_modelled.emplace_back("D-PTX-9");
}

}  // namespace

result::KernelResult Gpu::Impl::run_functional(const stream::WarpSource& launch, const exec::Launch* executed) {
  const ptx::Function& function = launch.function();
  const device::Occupancy fit =
      device::occupancy(device, launch.threads_per_block(), registers_of(function), launch.shared_bytes());
  if (fit.blocks_per_sm == 0)
    throw Error(
        ExitCode::bad_input, "launch-resources",
        fmt::format(
            "kernel '{}': one block needs {} threads, {} registers a thread and {} bytes of shared memory, "
            "more than an SM of {} has ({})",
            function.name, launch.threads_per_block(), registers_of(function), launch.shared_bytes(),
            device.name, device::name_of(fit.limit)),
        "use smaller blocks, less shared memory, or another --gpu");
  exec::FunctionalOptions functional;
  functional.max_warp_instructions = options.max_warp_instructions;
  functional.interrupt = options.interrupt;
  const exec::FunctionalResult ran = executed != nullptr ? exec::run_functional(*executed, functional) : step_through(launch, 0, launch.block_count());
  result::KernelResult out;
  out.metrics.set("gpu.instructions.warp", ran.warp_instructions);
  out.metrics.set("gpu.instructions.thread", ran.thread_instructions);
  out.metrics.set("occupancy.theoretical", fit.ratio);
  out.limiter = device::name_of(fit.limit);
  return out;
}

result::KernelResult Gpu::Impl::run_timed(const stream::WarpSource& launch, const exec::Launch* executed) {
  result::KernelResult result = timing->run(launch);
  const timing::Gpu::LeftOut rest = timing->left_out();
  std::optional<std::uint64_t> instructions;
  if (rest.count != 0 && recorder) {
    instructions = step_through(launch, rest.first, rest.count).warp_instructions;   // the trace holds them, too
  } else if (rest.count != 0 && executed == nullptr) {
    instructions = launch.recorded_instructions(rest.first, rest.count);
  } else if (rest.count != 0) {
    exec::FunctionalOptions functional;
    functional.interrupt = options.interrupt;
    functional.first_block = rest.first;
    functional.block_count = rest.count;
    instructions = exec::run_functional(*executed, functional).warp_instructions;
  }
  timing->complete(result, instructions);
  return result;
}

// Bounds the memory of a program with millions of launches.
void Gpu::Impl::keep(result::KernelResult&& result) {
  if (profile_lines + result.profile.lines.size() > profile_lines_kept) {
    const auto earlier = std::ranges::find_if(kernels, [&](const result::KernelResult& k) {
      return k.name == result.name && !k.profile.empty();
    });
    if (earlier != kernels.end()) {
      result::merge(earlier->profile, result.profile);
      result.profile = {};
    }
  }
  profile_lines += result.profile.lines.size();
  if (kernels.size() < launches_kept) {
    kernels.push_back(std::move(result));
    return;
  }
  const auto same = std::find_if(merged.begin(), merged.end(),
                                 [&](const result::KernelResult& k) { return k.name == result.name; });
  if (same == merged.end()) {
    merged.push_back(std::move(result));
    return;
  }
  std::vector<result::KernelResult> both;
  both.push_back(std::move(*same));
  both.push_back(std::move(result));
  *same = std::move(result::merge_by_name(both).front());
}

void Gpu::launch(Kernel kernel, exec::Dim3 grid, exec::Dim3 block, std::uint32_t dynamic_shared_bytes,
                 std::span<const std::byte> params, StreamId stream) {
  Impl& m = *impl_;
  const Impl::Slot& slot = m.slot(kernel.module);
  const ptx::Function& function = slot.module->functions[kernel.function];
  check_shape(m.device, function.name, grid, block);
  check_attributes(*slot.module, function, block);

  exec::LaunchParams p;
  p.module = slot.loaded.get();
  p.function = kernel.function;
  p.grid = grid;
  p.block = block;
  p.dynamic_shared_bytes = dynamic_shared_bytes;
  p.params = params;
  p.sm_count = m.device.sm.count;
  p.max_warps_per_sm = m.device.sm.max_warps;
  p.grid_id = ++m.launches;
  p.clock_hz = m.device.sm_clock_hz;
  p.textures = m.textures;
  p.print = m.options.print;
  if (m.checkpoint)
    p.print = [&m](std::string_view text) {
      m.printed += text;
      if (m.options.print) m.options.print(text);
    };
  if (slot.uses_heap) {
    m.heap.prepare();
    p.heap = &m.heap;
  }

  const exec::Launch launch(p, m.memory);
  m.run_kernel(stream::ExecutedLaunch(launch), &launch, stream);
}

bool Gpu::Impl::chosen(const std::string& name) {
  ++passed;
  if (!timing || options.kernels.all()) return true;
  return options.kernels.selects(name, demangle(name), passed, ++launches_of[name]);
}

void Gpu::Impl::run_kernel(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream) {
  const bool timed = chosen(launch.function().name);
  std::optional<result::KernelResult> result = checkpoint ? resumed_or_run(launch, executed, stream, timed) : run_chosen(launch, executed, stream, timed);
  if (!result) {
    timeline.submit(stream, Engine::compute, 0, device.host.launch_overhead_ns, false);
    ++skipped;
    return;
  }
  // The launch overhead is not in gpu.time: on the timeline it is the host's, so that launches pipeline.
  const double overhead = result->metrics.get("gpu.launch_overhead").value_or(device.host.launch_overhead_ns);
  const double duration = result->metrics.get("gpu.time").value_or(0);
  timeline.submit(stream, Engine::compute, duration, overhead, false);
  keep(std::move(*result));
}

std::optional<result::KernelResult> Gpu::Impl::run_chosen(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream, bool timed) {
  if (timed) return simulate(launch, executed, stream);
  if (executed != nullptr) run_functional(launch, executed);
  return std::nullopt;
}

result::KernelResult Gpu::Impl::simulate(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream) {
  const Clock::time_point begin = Clock::now();
  std::optional<stream::trace::RecordingLaunch> recording;
  if (recorder) recording.emplace(launch, *recorder, stream);
  const stream::WarpSource& source = recording ? *recording : launch;
  result::KernelResult result = timing ? run_timed(source, executed) : run_functional(source, recording ? nullptr : executed);
  if (recording) recording->finish();
  launch_wall_seconds += seconds_since(begin);
  wall_instructions += result.metrics.get("gpu.instructions.warp").value_or(0);

  const ptx::Function& function = launch.function();
  const exec::Dim3 grid = launch.grid(), block = launch.block();
  result.name = function.name;
  result.demangled = demangle(function.name);
  result.grid[0] = grid.x, result.grid[1] = grid.y, result.grid[2] = grid.z;
  result.block[0] = block.x, result.block[1] = block.y, result.block[2] = block.z;
  result.shared_bytes = launch.shared_bytes();
  result.registers = registers_of(function);
  note_directives(device, launch.module(), function, result);
  if (const stream::trace::Code* code = launch.code_of(function); code != nullptr && !code->mnemonics.empty()) {
    result.not_modelled.emplace_back("D-TRACE-3");
    if (!code->guessed.empty()) result.not_modelled.emplace_back("D-TRACE-4");
  }
  if (launch.block_count() != grid.count()) result.not_modelled.emplace_back("D-TRACE-2");
  return result;
}

}  // namespace simtlab::gpu
