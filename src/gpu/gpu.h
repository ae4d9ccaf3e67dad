// The GPU that a program sees: allocate, copy, load modules, launch, synchronise; on simulated time.
//
// Copies and kernels are submitted and take effect when simulated time reaches them (gpu/schedule.h): that is
// when the host waits for them or for something after them. Kernels of different streams run side by side.
// What a kernel does wrong is thrown by the call that makes time go on. In the other modes everything takes
// effect when it is submitted, a kernel's time on the stream is 0, and every time of the result is absent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/options.h"
#include "check/options.h"
#include "device/device.h"
#include "exec/executor.h"
#include "gpu/checkpoint.h"
#include "gpu/kernel_choice.h"
#include "gpu/prediction.h"
#include "gpu/sharing.h"
#include "result/metrics.h"
#include "timing/timing.h"

namespace simtlab {
struct Pulse;
}

namespace simtlab::stream::trace {
class Reader;
}

namespace simtlab::gpu {

class SharedDevice;

// What a GPU counted so far besides its kernels' own metrics: plain numbers, for totals.
struct Counters {
  // Kernels submitted; those that were not chosen; ended and kept
  std::uint64_t launches = 0, skipped = 0, ended = 0;
  // By Gpu::CopyKind
  std::uint64_t copies = 0, copied_bytes[3] = {0, 0, 0}, filled_bytes = 0, peak_bytes = 0;
  double copy_ns = 0, span_ns = 0;  // span_ns: from the first activity to the last
  std::uint64_t timed = 0;          // 1: span_ns means something
  bool operator==(const Counters&) const = default;
  // Kernels that are submitted and have not ended.
  std::uint64_t under_way() const { return launches - std::min(launches, skipped + ended); }
};
void set_totals(const Counters& counters, result::Metrics& total);

// A launch whose result is kept: alone, or added to those of the same kernel once there are too many.
struct EndedKernel {
  std::uint64_t number = 0;  // of the launch, from 1
  const result::KernelResult& kernel;
  bool merged = false;
};

enum class Mode : std::uint8_t { timing, functional, cache, predict };
Mode mode_of(std::string_view name);  // "timing" and so on; timing for what is none
std::string_view name_of(Mode mode);

// What a program's kernels run as, where it has both.
enum class Code : std::uint8_t { automatic, machine, ptx };

// timing::Options are those of the cycle-level GPU (timing mode); its interrupt and pulse serve every mode.
// What kernels in PTX run as: optimised and as machine code of the device's generation (assembler/assemble.h;
// counts before Volta), optimised (optimiser/optimiser.h), or as they stand. The last two differ in
// timing::Options::lowering.
enum class Ptx : std::uint8_t { machine, optimised, counts, off };
Ptx ptx_of(std::string_view name);  // of --lowering; machine for what is none

// `threads`: 0 = all that the process may use. `share` follows from `sharing`. With a sample_error or
// cold_caches kernels run one after another.
struct Options : timing::Options {
  Mode mode = Mode::timing;
  std::uint64_t max_warp_instructions = 0;  // functional, per kernel
  // Host memory for device allocations, blocks and studies; 0 = three quarters of what is free
  std::uint64_t max_memory_bytes = 0;
  // Launches that are simulated cycle by cycle; the others only take effect
  KernelChoice kernels;
  Sharing sharing;                              // of the GPU by kernels of different streams
  cache::Options cache{};                       // cache mode only
  PredictOptions predict{};                     // predict mode only
  check::Options check{};                       // functional mode only
  std::function<void(std::string_view)> print;  // device printf
  Code code = Code::automatic;
  Ptx ptx = Ptx::machine;
  exec::Results results = exec::Results::early;           // of machine code; late ones refuse PTX
  std::uint32_t stack_bytes = exec::default_stack_bytes;  // cudaLimitStackSize at first
  std::function<void(const std::string&)> on_note;  // about what is run, one sentence; empty: nobody reads it
  // Accesses outside of every allocation go on (exec/outside.h), and who hears of each place once
  bool outside_goes_on = false;
  std::function<void(const std::string&)> on_outside;
  std::function<void(const result::KernelResult&)> on_kernel;  // as each launch's result is known
  std::function<void(const EndedKernel&)> on_kept;             // as it has its place in the result
  // Trace of all that happens (docs/reference/traces.md); empty: none
  std::filesystem::path record;
  std::filesystem::path schedule;  // cache mode only: every access, in its order; empty: none
  CheckpointOptions checkpoint;
  // Kernels run there (timing mode); null: on a GPU of their own
  std::shared_ptr<SharedDevice> shared;
};

using ModuleId = std::uint32_t;
using StreamId = std::uint32_t;  // 0 = the default stream
using EventId = std::uint32_t;

struct Kernel {
  ModuleId module = 0;
  std::uint32_t function = 0;
};
struct Symbol {
  std::uint64_t address = 0, bytes = 0;
};

// Not thread-safe: callers serialise (libcudart holds one lock).
class Gpu {
 public:
  Gpu(const device::Device& device, const Options& options);
  ~Gpu();

  const device::Device& device() const;
  const Options& options() const;
  void check() const;  // throws if a shared GPU has gone

  // Nullopt: out of device memory
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::string what);
  // Somebody writes there whom nobody sees: the host, a symbol's initial value. For checks.
  void note_written(std::uint64_t address, std::uint64_t bytes);
  // The host takes what is there, elements of so many bytes. For checks.
  void note_read(std::uint64_t address, std::uint64_t bytes, unsigned element);
  // A call of the program returned an error. For checks.
  void note_api_error(const std::string& call, const std::string& error);
  // stream: in the order of that one; the host does not wait.
  bool release(std::uint64_t address, std::optional<StreamId> stream = {});
  // The allocation is there for what its stream does from now on.
  void allocated_in_stream(std::uint64_t address, StreamId stream);
  exec::GlobalMemory& memory();

  // Copies return false when a range is outside allocations. Device side times follow the device file; a
  // pageable or pinned host side is not distinguished here.
  enum class CopyKind : std::uint8_t { host_to_device, device_to_host, device_to_device };
  bool copy(void* dst, const void* src, std::uint64_t bytes, CopyKind kind, StreamId stream, bool async);
  bool fill(std::uint64_t address, std::byte value, std::uint64_t bytes, StreamId stream, bool async);
  // Strided copies and fills: `depth` slices of `height` rows of `width` bytes; time is that of the bytes
  // moved. False also when the strides overflow.
  struct Box {
    std::uint64_t width = 0, height = 1, depth = 1;
    // Bytes between rows and between slices
    std::uint64_t dst_pitch = 0, src_pitch = 0, dst_slice = 0, src_slice = 0;
  };
  bool copy_box(void* dst, const void* src, const Box& box, CopyKind kind, StreamId stream, bool async);
  bool fill_box(std::uint64_t address, std::byte value, const Box& box, StreamId stream, bool async);
  // Charges the time of a copy that the caller made.
  void charge_copy(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async);
  void charge_fill(std::uint64_t bytes, StreamId stream, bool async);

  ModuleId load_module(std::string name, std::string ptx);  // throws Error
  void unload_module(ModuleId module);
  const ptx::Module& module(ModuleId module) const;
  exec::LoadedModule& loaded(ModuleId module);
  std::optional<Kernel> find_kernel(ModuleId module, std::string_view name) const;
  std::optional<Symbol> find_symbol(ModuleId module, std::string_view name) const;

  std::uint64_t create_texture(const exec::Texture& texture);  // handle
  bool destroy_texture(std::uint64_t handle);
  const exec::Texture* texture(std::uint64_t handle) const;  // null: no such handle

  // Submits the kernel. Throws Error for bad launches ("launch-...").
  // batched: part of a batch that has been paid for, it costs the host no time.
  // cluster: its blocks; nullopt: what the kernel says.
  void launch(Kernel kernel, exec::Dim3 grid, exec::Dim3 block, std::uint32_t dynamic_shared_bytes,
              std::span<const std::byte> params, StreamId stream, bool batched = false,
              std::optional<exec::Dim3> cluster = {});

  // priority: 0 to most_priority; higher is served first.
  static constexpr int most_priority = 5;
  StreamId create_stream(bool non_blocking, int priority = 0);
  int priority(StreamId stream) const;
  bool destroy_stream(StreamId stream);
  bool has_stream(StreamId stream) const;
  bool non_blocking(StreamId stream) const;
  bool idle(StreamId stream);  // nothing left to wait for, on simulated time
  // Time goes on until everything submitted has ended; throws what kernels do wrong, as every call that
  // waits.
  void synchronize();
  void synchronize(StreamId stream);
  void host_knows_end(StreamId stream);  // of all that was submitted, for the checks of what is ordered

  EventId create_event();
  bool destroy_event(EventId event);
  bool has_event(EventId event) const;
  void wait_host(EventId event);  // the host waits for the event
  void record_event(EventId event, StreamId stream);
  std::optional<double> event_time_ns(EventId event);  // nullopt: never recorded
  // Of the first operation behind it in its stream; nullopt: none
  std::optional<double> next_begin_ns(EventId event);
  void wait_event(StreamId stream, EventId event);
  double now_ns() const;  // simulated host time
  // Size of the heap that malloc in kernels uses (8 MiB); false once a kernel that uses it has run.
  bool set_heap_bytes(std::uint64_t bytes);
  // cudaLimitStackSize, of launches from now on; false: more than a thread may have.
  bool set_stack_bytes(std::uint64_t bytes);
  std::uint32_t stack_bytes() const;
  // Repeats what a trace recorded: kernels, copies, streams. Throws as launch(), and Error(bad_input
  // "trace-...").
  void replay(stream::trace::Reader& trace);
  // Completes the files of Options::record and Options::schedule; what comes later is not recorded. Throws
  // Error(failure "file-write").
  void finish_recording();
  // Completes the file of Options::checkpoint. ended: the run came to its end; Error(bad_input
  // "checkpoint-mismatch") if what it resumes holds more launches.
  void finish_checkpoint(bool ended);
  // Waits for everything, then drops modules, textures, streams and events. Allocations stay: release them.
  // Results stay.
  void reset();

  // Everything so far: kernels in launch order, totals (sums, time from first to last activity, copies). Of
  // very many launches the first 4096 stand one by one; the later ones of a kernel are merged, with
  // `launches` > 1.
  // ended: the process ends; memory that is still allocated has leaked.
  result::Result result(bool ended = false) const;
  Counters counters() const;
  // What a study counted over all launches so far; nothing in other modes.
  void add_study_totals(result::Metrics& total) const;
  // What was recorded of the window that was asked for.
  const result::Timeline& timeline() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simtlab::gpu
