// Private state of Gpu, shared by the files that implement it.
#pragma once

#include <chrono>
#include <map>

#include "base/team.h"
#include "exec/heap.h"
#include "gpu/gpu.h"
#include "gpu/host_memory.h"
#include "gpu/timeline.h"
#include "stream/trace/writer.h"
#include "timing/timing.h"

namespace simtlab::gpu {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Gpu::Impl {
  Impl(const device::Device& d, const Options& o)
      : device(d),
        options(o),
        memory(d.dram.bytes, o.max_memory_bytes != 0 ? o.max_memory_bytes : default_memory_limit()) {
    if (options.what_if.zero_launch_cost) device.host.launch_overhead_ns = 0;
    recorded.from = options.observe.timeline.from;
    recorded.to = options.observe.timeline.to;
    if (options.mode == Mode::timing) {
      timing::Options t;
      t.max_cycles = options.max_cycles;
      t.interrupt = options.interrupt;
      t.registers_override = options.registers_override;
      t.sample_error = options.sample_error;
      t.threads = usable_threads(options.threads);
      t.what_if = options.what_if;
      t.lowering = options.lowering;
      t.observe = options.observe;
      timing = std::make_unique<timing::Gpu>(device, t);
    }
    begin_recording();
    if (options.checkpoint.wanted()) checkpoint = std::make_unique<Checkpoint>(options.checkpoint);
  }

  struct Slot {
    std::shared_ptr<const ptx::Module> module;
    std::unique_ptr<exec::LoadedModule> loaded;
    std::map<std::string_view, std::uint32_t> entries;
    bool uses_heap = false;
  };

  double copy_time(std::uint64_t bytes, CopyKind kind) const;
  double fill_time(std::uint64_t bytes) const;
  void charge(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async);
  void charge_fill(std::uint64_t bytes, StreamId stream, bool async);
  void invalidate(std::uint64_t address, std::uint64_t bytes) {
    if (bytes == 0) return;
    note(stream::trace::OpKind::invalidate, {.a = address, .b = bytes});
    if (timing) timing->invalidate(address, bytes);
  }
  // recording.cpp
  void begin_recording();
  struct Noted { bool flag = false; std::uint32_t stream = 0; std::uint64_t a = 0, b = 0; };
  void note(stream::trace::OpKind kind, const Noted& what) {
    if (recorder) record(kind, what);
  }
  void record(stream::trace::OpKind kind, const Noted& what);
  void apply(const stream::trace::Operation& operation, const stream::trace::Reader& trace);
  exec::FunctionalResult step_through(const stream::WarpSource& launch, std::uint64_t first, std::uint64_t count) const;
  // launches.cpp
  void run_kernel(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream);
  // None: the launch is not one of those that are simulated.
  std::optional<result::KernelResult> run_chosen(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream, bool timed);
  result::KernelResult simulate(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream);
  // checkpointing.cpp
  Checkpoint::Launch describe(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream) const;
  std::optional<result::KernelResult> resumed_or_run(const stream::WarpSource& launch, const exec::Launch* executed, StreamId stream, bool timed);
  Slot& slot(ModuleId id);
  std::uint32_t registers_of(const ptx::Function& f) const {
    return options.registers_override != 0 ? options.registers_override : f.registers;
  }
  bool chosen(const std::string& name);
  // executed: the launch itself, if it is executed and nothing is recorded.
  result::KernelResult run_timed(const stream::WarpSource& launch, const exec::Launch* executed);
  result::KernelResult run_functional(const stream::WarpSource& launch, const exec::Launch* executed);
  void keep(result::KernelResult&& result);

  device::Device device;
  Options options;
  exec::GlobalMemory memory;            // before modules: they hold places in it
  exec::DeviceHeap heap{memory};
  std::unique_ptr<timing::Gpu> timing;  // null in functional mode
  std::vector<Slot> modules;
  std::vector<exec::Texture> textures;  // handle = index + 1; address 0 = free
  Timeline timeline;
  std::vector<result::KernelResult> kernels;
  std::size_t profile_lines = 0;             // that `kernels` hold
  result::Timeline recorded;                 // --timeline
  std::vector<result::KernelResult> merged;  // launches beyond launches_kept, one entry a kernel
  std::uint64_t copy_bytes[3] = {0, 0, 0};   // by CopyKind
  std::uint64_t fill_bytes = 0, copy_count = 0, peak_bytes = 0;
  double copy_time_ns = 0;
  std::uint64_t launches = 0;
  std::uint64_t passed = 0, skipped = 0;     // launches seen by run_kernel; those of them that were not chosen
  std::map<std::string, std::uint64_t> launches_of;   // by kernel, while there is a choice
  double launch_wall_seconds = 0;
  double wall_instructions = 0;
  Clock::time_point start = Clock::now();
  std::unique_ptr<stream::trace::Writer> recorder;
  std::unique_ptr<Checkpoint> checkpoint;
  std::string printed;                       // by the kernel, for the checkpoint
};

}  // namespace simtlab::gpu
