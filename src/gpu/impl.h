// What a Gpu is made of: memory, tables of what the host has made, a schedule, and an engine that runs
// kernels as the mode says. Shared by the files that implement Gpu.
#pragma once

#include <set>
#include <utility>

#include "base/team.h"
#include "check/checker.h"
#include "check/host_work.h"
#include "gpu/copy_counters.h"
#include "gpu/device_memory.h"
#include "gpu/host_memory.h"
#include "gpu/host_speed.h"
#include "gpu/kept_results.h"
#include "gpu/launch_checkpoint.h"
#include "gpu/launch_numbers.h"
#include "gpu/module_table.h"
#include "gpu/shared_device.h"
#include "gpu/texture_table.h"
#include "gpu/trace_recorder.h"
#include "gpu/untimed_blocks.h"

namespace simtlab::gpu {

class CacheKernels;

struct Gpu::Impl final : KernelEngine, KernelSink {
  Impl(const device::Device& d, const Options& o);

  // gpu.cpp: engines
  bool idle() const override;
  bool full() const override;
  bool begin(Work& work, double at_ns) override;
  Work* advance(double until_ns) override;
  void give_up() override;
  void ended(KernelJob& job, result::KernelResult&& result, double begin_ns) override;
  void keep(const KernelJob& job, result::KernelResult&& result, double begin_ns) override;
  ModuleTable::Code code_of_ptx() const;
  void warn(const KernelJob& job, result::KernelResult& result);
  bool nobody_else_writes() const;

  // copies.cpp
  // effect: what the copy does to memory when it ends; may be empty.
  void charge(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async, std::function<void()> effect);
  void charge_fill(std::uint64_t bytes, StreamId stream, bool async, std::function<void()> effect);
  // A copy or a fill is submitted; null: nobody checks.
  std::shared_ptr<check::HostWork> host_work(check::HostWork::Kind kind, StreamId stream, bool blocking);
  void watch(const check::HostWork* work) {  // it is executed
    if (work != nullptr) check::watch_host_work(*checker, *work);
  }
  void invalidate(std::uint64_t address, std::uint64_t bytes);

  // replay.cpp: what a trace says
  void apply(const stream::trace::Operation& operation, const stream::trace::Reader& trace);
  std::function<void()> replayed_write();

  // launches.cpp
  void check_host_memory(const exec::Launch& launch, std::uint32_t blocks_per_sm) const;
  void submit_kernel(std::shared_ptr<KernelJob> job, StreamId stream);
  void submit(StreamId stream, Work work, double host_ns, bool blocking);
  // On a shared GPU time goes on while the program waits for others.
  void catch_up() {
    if (options.shared) schedule.host_has_waited_until(options.shared->clock_ns());
  }

  device::Device device;
  Options options;
  DeviceMemory memory;                       // before modules: they hold places in it
  std::unique_ptr<check::Checker> checker;   // null: nothing is checked
  std::unique_ptr<timing::CycleGpu> timing;  // null in the modes without a clock
  TraceRecorder recorder;                    // before the schedule, whose kernels write to it
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      replayed_writes;  // by the next copy of a trace: address, bytes
  ModuleTable modules;
  TextureTable textures;
  LaunchNumbers launches;
  CopyCounters copies;
  KeptResults results;
  std::set<const ptx::Function*> looked_at;  // for warnings
  HostSpeed speed;
  result::Timeline recorded;  // --timeline
  LaunchCheckpoint checkpoint;
  Schedule schedule{*this};
  UntimedBlocks blocks;
  CacheKernels* cache = nullptr;         // the engine of cache mode
  std::unique_ptr<KernelEngine> engine;  // behind the schedule, whose kernels it runs
};

}  // namespace simtlab::gpu
