// Private state of Gpu, shared by the files that implement it.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/error.h"
#include "base/team.h"
#include "cache/study.h"
#include "exec/heap.h"
#include "gpu/gpu.h"
#include "gpu/host_memory.h"
#include "gpu/schedule.h"
#include "gpu/shared_device.h"
#include "gpu/untimed.h"
#include "models/counts/counted.h"
#include "stream/trace/record.h"
#include "timing/timing.h"

namespace simtlab::gpu {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// launches.cpp: throws Error(bad_input, "launch-shape") for a shape that no launch can have, or that the
// kernel's directives exclude.
void check_launch(const device::Device& device, const ptx::Module& module, const ptx::Function& function,
                  const exec::Dim3& grid, const exec::Dim3& block);

// What stands in for a deadlock where a kernel waits for what nobody can do before it has ended, though
// somebody might afterwards.
Error waits_for_others(Mode mode);

// A launch on its way.
struct KernelJob {
  std::shared_ptr<const std::vector<exec::Texture>> textures;
  std::unique_ptr<exec::Launch> launch;  // null: recorded
  std::unique_ptr<stream::WarpSource> source;
  std::optional<stream::trace::RecordingLaunch> recording;
  stream::trace::Writer::Place place = 0;
  std::string demangled;
  std::uint64_t number = 0;  // of the launch, from 1
  bool chosen = true;        // it is simulated cycle by cycle
  StreamId stream = 0;
  Checkpoint::Launch description;  // for a checkpoint
  // What it did, from the file that is resumed, while it is under way
  std::optional<Checkpoint::Replayed> known;
  bool batched = false;  // launching it costs the host nothing
  timing::Gpu::Setup setup;
  timing::Gpu::Id id = 0;               // while it is under way
  std::unique_ptr<UntimedRun> untimed;  // while it is under way without a clock
  const stream::WarpSource& read() const {
    return recording ? static_cast<const stream::WarpSource&>(*recording) : *source;
  }
};

struct Gpu::Impl final : KernelEngine {
  Impl(const device::Device& d, const Options& o)
      : device(d),
        options(o),
        host_limit(o.max_memory_bytes != 0 ? o.max_memory_bytes : default_memory_limit()),
        memory(d.dram.bytes, host_limit) {
    if (options.what_if.zero_launch_cost) device.host.launch_overhead_ns = 0;
    recorded.from = options.observe.timeline.from;
    recorded.to = options.observe.timeline.to;
    if (options.mode == Mode::timing) {
      timing::Options t;
      t.max_cycles = options.max_cycles;
      t.interrupt = options.interrupt;
      t.pulse = options.pulse;
      t.registers_override = options.registers_override;
      t.sample_error = options.sample_error;
      t.threads = usable_threads(options.threads);
      t.what_if = options.what_if;
      t.lowering = options.lowering;
      t.observe = options.observe;
      t.sharing = options.sharing.policy;
      timing = std::make_unique<timing::Gpu>(device, t);
    }
    if (options.mode == Mode::cache) study = std::make_unique<cache::Study>(device, options.cache);
    begin_recording();
    if (options.checkpoint.wanted()) checkpoint = std::make_unique<Checkpoint>(options.checkpoint);
  }

  // Nothing of the GPU may outlive the launches that it runs.
  ~Impl() override {
    if (timing && !options.shared && !under_way.empty()) timing->partial();
  }

  struct Slot {
    std::shared_ptr<const ptx::Module> module;
    std::unique_ptr<exec::LoadedModule> loaded;
    std::map<std::string_view, std::uint32_t> entries;
    bool uses_heap = false;
  };

  // copies.cpp
  // effect: what the copy does to memory when it ends; may be empty.
  void charge(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async, std::function<void()> effect);
  void charge_fill(std::uint64_t bytes, StreamId stream, bool async, std::function<void()> effect);
  void invalidate(std::uint64_t address, std::uint64_t bytes) {
    if (options.shared)
      options.shared->invalidate(address, bytes);
    else if (timing)
      timing->invalidate(address, bytes);
  }
  // recording.cpp
  void begin_recording();
  struct Noted {
    bool flag = false;
    std::uint32_t stream = 0;
    std::uint64_t a = 0, b = 0;
  };
  void note(stream::trace::OpKind kind, const Noted& what) {
    if (recorder) record(kind, what);
  }
  void record(stream::trace::OpKind kind, const Noted& what);
  void apply(const stream::trace::Operation& operation, const stream::trace::Reader& trace);
  std::function<void()> replayed_write();
  // checkpointing.cpp
  Checkpoint::Machine machine() { return {memory, heap, timing.get()}; }
  Checkpoint::Launch describe(const KernelJob& job) const;
  std::optional<bool> resumed(Work& work, double at_ns);
  Work* advance_resumed(double until_ns);
  void end_resumed(double end_ns);
  // launches.cpp
  // Bytes that are left of the limit.
  std::uint64_t host_room() const {
    return std::max<std::uint64_t>(1, host_limit - std::min(host_limit, memory.used()));
  }
  void check_host_memory(const exec::Launch& launch, std::uint32_t blocks_per_sm) const;
  void submit_kernel(std::shared_ptr<KernelJob> job, StreamId stream);
  void submit(StreamId stream, Work work, double host_ns, bool blocking);
  Slot& slot(ModuleId id);
  std::uint32_t registers_of(const ptx::Function& f) const {
    return std::max(1u, options.registers_override != 0 ? options.registers_override : f.registers);
  }
  // kernel_engine.cpp
  bool idle() const override;
  bool full() const override;
  bool begin(Work& work, double at_ns) override;
  Work* advance(double until_ns) override;
  void give_up() override;
  static KernelJob& job_of(Work& work) { return *static_cast<KernelJob*>(work.kernel.get()); }
  double time_of(std::uint64_t cycle) const;
  std::uint64_t cycle_of(double ns) const;
  void begin_shared(Work& work, double at_ns);  // shared.cpp
  Work* advance_shared(double until_ns);
  // On a shared GPU time goes on while the program waits for others.
  void catch_up() {
    if (options.shared) schedule.host_has_waited_until(options.shared->clock_ns());
  }
  // untimed_engine.cpp: kernels without a clock
  std::unique_ptr<UntimedRun> untimed_run(const KernelJob& job, std::uint64_t first, std::uint64_t count,
                                          Pulse* pulse) const;
  std::uint64_t run_to_end(UntimedRun& run) const;  // its warp instructions
  bool begin_untimed(Work& work, double at_ns);
  Work* advance_untimed(double until_ns);
  Work* ended_untimed();
  void end_untimed(KernelJob& job, double at_ns);
  std::optional<timing::Gpu::Id> advance_clock(double until_ns);  // kernel_engine.cpp
  bool nobody_else_writes() const;
  std::function<void()> waiting() const {  // Study::Launch::waits_for_others
    if (nobody_else_writes()) return {};
    return [this] { throw waits_for_others(options.mode); };
  }
  std::uint64_t resident_blocks(const stream::WarpSource& source) const;  // that the GPU holds at once
  result::KernelResult run_study(const KernelJob& job);                   // study.cpp
  struct SampledLaunch : cache::Study::Launch {
    std::uint64_t first_block_instructions = 0;  // of a first block that was executed alone
  };
  std::uint64_t run_rest(const KernelJob& job, std::uint64_t rest, double instructions_a_block);
  cache::Study* choose_study(const models::counts::CountedLaunch& source, const device::Occupancy& fit,
                             SampledLaunch& launch);
  result::KernelResult run_prediction(const KernelJob& job);  // prediction.cpp
  void study_totals(result::Metrics& total) const;
  void run_left_out(const KernelJob& job, result::KernelResult& result);
  void keep(const KernelJob& job, result::KernelResult&& result, double begin_ns);
  void warn(const KernelJob& job, result::KernelResult& result);
  void keep_within_bounds(std::uint64_t number, result::KernelResult&& result);
  void halve_longest_series();

  device::Device device;
  Options options;
  std::uint64_t host_limit;   // bytes
  exec::GlobalMemory memory;  // before modules: they hold places in it
  exec::DeviceHeap heap{memory};
  std::unique_ptr<timing::Gpu> timing;              // null in functional and cache mode
  std::unique_ptr<cache::Study> study;              // of cache mode; of predictions
  std::uint32_t studied_sms = 0;                    // of predictions
  double study_seconds = 0;                         // of the processor
  std::unique_ptr<stream::trace::Writer> recorder;  // before the schedule, whose kernels write to it
  // By the next copy of a trace: address, bytes
  std::vector<std::pair<std::uint64_t, std::uint64_t>> replayed_writes;
  std::vector<Slot> modules;
  std::vector<exec::Texture> textures;                              // handle = index + 1; address 0 = free
  std::shared_ptr<const std::vector<exec::Texture>> textures_seen;  // by the launch before
  Schedule schedule{*this};
  std::vector<Work*> under_way;                    // kernels on the cycle-level GPU
  double period_ns = 0;                            // when its clock was 0
  std::vector<result::KernelResult> kernels;       // in the order of the launches
  std::vector<std::uint64_t> kernel_numbers;       // theirs
  std::size_t profile_lines = 0, series_rows = 0;  // that `kernels` hold
  result::Timeline recorded;                       // --timeline
  std::vector<result::KernelResult> merged;        // launches beyond launches_kept, one entry a kernel
  std::uint64_t copy_bytes[3] = {0, 0, 0};         // by CopyKind
  std::uint64_t fill_bytes = 0, copy_count = 0, peak_bytes = 0;
  double copy_time_ns = 0;
  // Launches submitted; those of them that were not chosen; that are kept
  std::uint64_t launches = 0, skipped = 0, ended = 0;
  std::set<const ptx::Function*> looked_at;          // for warnings
  std::map<std::string, std::uint64_t> launches_of;  // by kernel, while there is a choice
  double launch_wall_seconds = 0;
  double wall_instructions = 0;
  Clock::time_point start = Clock::now();
  std::unique_ptr<Checkpoint> checkpoint;
  std::string printed;  // by the kernel, for the checkpoint
};

}  // namespace simtlab::gpu
