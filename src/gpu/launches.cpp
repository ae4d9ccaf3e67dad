// Kernel launches: checks, and their way to the schedule.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/kernel_name.h"
#include "gpu/impl.h"
#include "stream/executed.h"

namespace simtlab::gpu {
namespace {

[[noreturn]] void refuse_launch(const std::string& kernel, const std::string& what, const std::string& hint) {
  throw Error(ExitCode::bad_input, "launch-shape", fmt::format("kernel '{}': {}", kernel, what), hint);
}

std::string shape(const exec::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

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

void check_clusters(const device::Device& device, const exec::Launch& launch) {
  if (launch.cluster_blocks() == 1 || device.shared.cluster_blocks != 0) return;
  throw Error(ExitCode::bad_input, "launch-cluster",
              fmt::format("kernel '{}' needs clusters of {} blocks, which {} does not have",
                          launch.function().name, launch.cluster_blocks(), device.name),
              "simulate a GPU that has them: --gpu h100");
}

}  // namespace

void check_launch(const device::Device& device, const ptx::Module& module, const ptx::Function& function,
                  const exec::Dim3& grid, const exec::Dim3& block) {
  check_shape(device, function.name, grid, block);
  check_attributes(module, function, block);
}

void Gpu::launch(Kernel kernel, exec::Dim3 grid, exec::Dim3 block, std::uint32_t dynamic_shared_bytes,
                 std::span<const std::byte> params, StreamId stream, bool batched,
                 std::optional<exec::Dim3> cluster) {
  Impl& m = *impl_;
  const ModuleTable::Module& slot = m.modules.at(kernel.module);
  const ptx::Function& function = slot.module->functions[kernel.function];
  check_launch(m.device, *slot.module, function, grid, block);

  exec::LaunchParams p;
  p.module = slot.loaded.get();
  p.function = kernel.function;
  p.grid = grid;
  p.block = block;
  p.cluster = cluster.value_or(exec::Dim3{});
  p.explicit_cluster = cluster.has_value();
  p.dynamic_shared_bytes = dynamic_shared_bytes;
  p.params = params;
  p.sm_count = m.device.sm.count;
  p.max_warps_per_sm = m.device.sm.max_warps;
  p.grid_id = m.launches.launches() + 1;
  p.clock_hz = m.device.sm_clock_hz;
  p.results = m.options.results;
  p.stack_bytes = m.options.stack_bytes;
  p.print = m.options.print;
  if (m.checkpoint.active()) p.print = [&m](std::string_view text) { m.checkpoint.print(text); };
  if (slot.uses_heap) {
    m.memory.heap().prepare();
    p.heap = &m.memory.heap();
  }
  auto job = std::make_shared<KernelJob>();
  job->textures = m.textures.snapshot();
  p.textures = *job->textures;
  job->launch = std::make_unique<exec::Launch>(p, m.memory.global());
  check_clusters(m.device, *job->launch);
  job->source = std::make_unique<stream::ExecutedLaunch>(*job->launch);
  m.check_host_memory(*job->launch,
                      timing::fit(m.device, *job->source, registers_of(m.options, function)).blocks_per_sm);
  job->batched = batched;
  m.submit_kernel(std::move(job), stream);
}

// Told before the launch instead of by the host when nothing is left. Only where a limit was given: local
// memory that no thread touches costs nothing. Functional runs have few blocks at once.
void Gpu::Impl::check_host_memory(const exec::Launch& launch, std::uint32_t blocks_per_sm) const {
  if (options.max_memory_bytes == 0 || options.mode == Mode::functional) return;
  const std::uint64_t blocks =
      std::min<std::uint64_t>(launch.params().grid.count(), std::uint64_t{blocks_per_sm} * device.sm.count);
  const std::uint64_t bytes = blocks * launch.state_bytes_per_block(), left = memory.host_room();
  if (bytes <= left) return;
  throw Error(ExitCode::failure, "limit-memory",
              fmt::format("kernel '{}': registers, shared and local memory of {} resident blocks take {} MiB "
                          "of the host, and {} MiB are left of the limit",
                          launch.function().name, blocks, (bytes >> 20) + 1, left >> 20),
              "raise --max-memory, or have fewer blocks at once: --set sm.count=4");
}

void Gpu::Impl::submit_kernel(std::shared_ptr<KernelJob> job, StreamId stream) {
  const std::string& name = job->source->function().name;
  job->stream = stream;
  job->demangled = demangle(name);
  const LaunchNumbers::Launch launch = launches.next(name, job->demangled);
  job->number = launch.number;
  job->chosen = launch.chosen;
  if (job->chosen) {
    // May refuse it: before it has a place in the trace
    job->setup = setup_of(options.sharing, device, name, job->demangled);
    job->setup.priority = schedule.priority(stream);
    if (recorder.active()) job->place = recorder.writer().reserve_kernel(stream, job->batched);
  }
  if (checker) checker->submitted(job->number, stream);
  const double overhead = job->batched ? 0 : device.host.launch_overhead_ns;
  Work work;
  work.engine = Engine::kernels;
  work.kernel = std::move(job);
  submit(stream, std::move(work), overhead, false);
}

// Without a clock there is nothing to wait for.
void Gpu::Impl::submit(StreamId stream, Work work, double host_ns, bool blocking) {
  catch_up();
  schedule.submit(stream, std::move(work), host_ns, blocking);
  if (!timing) schedule.run_ready();
}

}  // namespace simtlab::gpu
