// The composition of a Gpu, and the way of a kernel through it: from the file of a checkpoint, past the
// simulation, or through the engine of the mode; and its result.
#include "gpu/impl.h"

#include <fmt/format.h>

#include "assembler/assemble.h"
#include "base/pulse.h"
#include "gpu/cache_kernels.h"
#include "gpu/cycle_kernels.h"
#include "gpu/prediction_kernels.h"
#include "gpu/shared_kernels.h"
#include "gpu/untimed_kernels.h"
#include "gpu/warnings.h"
#include "machine/code.h"

namespace simtlab::gpu {
namespace {

device::Device with_launch_cost(device::Device device, const device::WhatIf& what_if) {
  if (what_if.zero_launch_cost) device.host.launch_overhead_ns = 0;
  return device;
}

std::unique_ptr<timing::CycleGpu> make_timing(const device::Device& device, const Options& options) {
  if (options.mode != Mode::timing) return nullptr;
  timing::Options t = options;
  t.threads = usable_threads(options.threads);
  t.share = options.sharing.policy;
  return std::make_unique<timing::CycleGpu>(device, t);
}

std::uint64_t host_limit(const Options& options) {
  return options.max_memory_bytes != 0 ? options.max_memory_bytes : default_memory_limit();
}

// Deviations of what was executed, and those that follow from the module's directives: a limit of registers
// that took effect, a target above the device.
void note_code(const device::Device& device, const ptx::Module& module, const ptx::Function& function,
               result::KernelResult& result) {
  if (function.machine) {
    // Of PTX in the place of machine code.
    std::erase_if(result.not_modelled,
                  [](const std::string& id) { return id == "D-TIMING-1" || id == "D-TIMING-5"; });
    if (function.assembled && !result.not_modelled.empty()) result.not_modelled.emplace_back("D-TIMING-22");
  }
  if (result.registers == function.registers && function.registers < function.unlimited_registers)
    result.not_modelled.emplace_back("D-PTX-8");
  if (module.capability() > static_cast<unsigned>(device.cc_major * 10 + device.cc_minor))
    result.not_modelled.emplace_back("D-PTX-9");
}

// Deviations of launches that are read from a trace.
void note_trace(const stream::WarpSource& source, result::KernelResult& result) {
  if (const stream::trace::Code* code = source.code_of(source.function());
      code != nullptr && !code->mnemonics.empty() && (!source.function().machine || code->lanes_merged)) {
    result.not_modelled.emplace_back("D-TRACE-3");
    if (!code->guessed.empty()) result.not_modelled.emplace_back("D-TRACE-4");
  }
  if (source.block_count() != source.grid().count()) result.not_modelled.emplace_back("D-TRACE-2");
}

void describe(const KernelJob& job, std::uint32_t registers, result::KernelResult& result) {
  const stream::WarpSource& source = *job.source;
  const exec::Dim3 grid = source.grid(), block = source.block();
  result.name = source.function().name;
  result.demangled = job.demangled;
  result.grid[0] = grid.x, result.grid[1] = grid.y, result.grid[2] = grid.z;
  result.block[0] = block.x, result.block[1] = block.y, result.block[2] = block.z;
  result.shared_bytes = source.shared_bytes();
  result.registers = registers;
}

}  // namespace

Gpu::Impl::Impl(const device::Device& d, const Options& o)
    : device(with_launch_cost(d, o.what_if)),
      options(o),
      memory(d.dram.bytes, host_limit(o)),
      timing(make_timing(device, options)),
      recorder(options.record, fmt::format("{}, {}", device.name, timing ? "timing" : "functional")),
      launches(options.mode == Mode::functional ? KernelChoice()
                                                : options.kernels),  // without a clock all are run alike
      results(options.on_kept),
      checkpoint(options.checkpoint, {memory.global(), memory.heap(), timing.get()}, options.print, *this),
      blocks(device, options, [this] { return nobody_else_writes(); }) {
  if (options.check.memory)
    memory.let_misaligned_go_on();  // findings say it
  else if (options.outside_goes_on)
    memory.let_outside_go_on(options.on_outside);
  if (options.check.any()) checker = std::make_unique<check::Checker>(options.check, memory.global());
  blocks.check_with(checker.get());
  recorded.from = options.observe.timeline.from;
  recorded.to = options.observe.timeline.to;
  if (timing && options.shared) {
    engine = std::make_unique<SharedKernels>(*options.shared, device, options, blocks, *this);
  } else if (timing) {
    engine = std::make_unique<CycleKernels>(*timing, device, options, schedule, blocks, *this);
  } else if (options.mode == Mode::functional) {
    engine = std::make_unique<UntimedKernels>(device, options, blocks, *this);
  } else if (options.mode == Mode::cache) {
    auto study = std::make_unique<CacheKernels>(device, options, memory, blocks, *this);
    cache = study.get();
    engine = std::move(study);
  } else {
    engine = std::make_unique<PredictionKernels>(device, options, memory, blocks, *this);
  }
}

bool Gpu::Impl::idle() const { return checkpoint.idle() && engine->idle(); }

// A checkpoint holds what each launch did to memory, one after the other.
bool Gpu::Impl::full() const { return !options.shared && !idle() && (checkpoint.active() || engine->full()); }

bool Gpu::Impl::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  const HostSpeed::Stopwatch watch(speed);
  if (checkpoint.active())
    if (const std::optional<bool> ended = checkpoint.begin(work, at_ns)) return *ended;
  if (!job.chosen) {
    if (job.launch) blocks.run(job, 0, job.source->block_count(), options.pulse);
    checkpoint.after(job, nullptr);
    return true;
  }
  if (recorder.active()) job.recording.emplace(*job.source, recorder.writer(), job.place);
  return engine->begin(work, at_ns);
}

Work* Gpu::Impl::advance(double until_ns) {
  const HostSpeed::Stopwatch watch(speed);
  return checkpoint.idle() ? engine->advance(until_ns) : checkpoint.advance(until_ns);
}

void Gpu::Impl::give_up() {
  checkpoint.give_up();
  engine->give_up();
}

// Only what has been submitted can still happen where the host waits; where it does not, it may do anything
// afterwards.
bool Gpu::Impl::nobody_else_writes() const {
  return schedule.pending() == 1 &&
         (timing != nullptr || (schedule.only_default_stream() && !memory.global().host_writes()));
}

void Gpu::Impl::ended(KernelJob& job, result::KernelResult&& result, double begin_ns) {
  if (job.recording) job.recording->finish();
  checkpoint.after(job, &result);
  keep(job, std::move(result), begin_ns);
}

ModuleTable::Code Gpu::Impl::code_of_ptx() const {
  ModuleTable::Code code;
  const auto generation = static_cast<unsigned>(10 * device.cc_major + device.cc_minor);
  if (options.ptx == Ptx::machine && assembler::makes(generation)) code.generation = generation;
  code.optimise = code.generation != 0 || options.ptx == Ptx::optimised;
  code.needs_optimiser = options.ptx == Ptx::optimised;
  return code;
}

// Once a kernel.
void Gpu::Impl::warn(const KernelJob& job, result::KernelResult& result) {
  const stream::WarpSource& source = *job.source;
  if (!looked_at.insert(&source.function()).second) return;
  std::optional<result::Table> found = warnings_of(source.module(), source.function(),
                                                   timing ? std::optional(options.lowering) : std::nullopt);
  if (found) result.tables.push_back(std::move(*found));
}

void Gpu::Impl::keep(const KernelJob& job, result::KernelResult&& result, double begin_ns) {
  if (options.pulse != nullptr) options.pulse->end_kernel();
  speed.add_instructions(result.metrics.get("gpu.instructions.warp").value_or(0));
  const stream::WarpSource& source = *job.source;
  describe(job, registers_of(options, source.function()), result);
  if (timing) result.metrics.set("gpu.begin", begin_ns);
  if (source.function().machine)
    result.metrics.set("code.generation", std::uint64_t{source.function().machine->generation});
  if (source.function().assembled) result.metrics.set("code.assembled", std::uint64_t{1});
  if (source.function().optimised) result.metrics.set("code.optimised", std::uint64_t{1});
  if (options.on_kernel) options.on_kernel(result);
  note_code(device, source.module(), source.function(), result);
  note_trace(source, result);
  warn(job, result);
  results.keep(job.number, std::move(result));
}

}  // namespace simtlab::gpu
