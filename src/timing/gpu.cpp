// The GPU under the clock: wires the parts together and moves time.
//
// Time advances in quanta of the network's latency. In a quantum the SMs and the memory system run on their own, on as many host
// threads as there are; nothing that one of them sends can reach another before the quantum's end. There requests and replies
// change hands and what the SMs wrote to memory becomes visible, SM by SM: results are the same for any number of threads.
// Quanta without events are skipped.
#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/team.h"
#include "stream/executed.h"
#include "stream/trace/code.h"
#include "timing/dispatcher.h"
#include "timing/main_memory.h"
#include "timing/line_profile.h"
#include "timing/memory_system.h"
#include "timing/metrics.h"
#include "timing/sampling.h"
#include "timing/series.h"
#include "timing/sm.h"
#include "timing/timing.h"

namespace simtlab::timing {
namespace {

void require(bool condition, const device::Device& device, const char* what) {
  if (!condition)
    throw Error(ExitCode::bad_input, "device-value", fmt::format("device '{}': {}", device.name, what),
                "correct the value in the device file or with --set");
}

bool cache_ok(const device::CacheParams& c, std::uint64_t bytes) {
  const auto size_ok = [](std::uint32_t n) { return n == 32 || n == 64 || n == 128; };
  return size_ok(c.line_bytes) && size_ok(c.sector_bytes) && c.sector_bytes <= c.line_bytes && c.ways > 0 && bytes >= c.line_bytes &&
         bytes / c.line_bytes < (std::uint64_t{1} << 28);
}

void check(const device::Device& d) {
  require(d.sm.count > 0 && d.sm.count <= 4096, d, "sm.count is not between 1 and 4096");
  require(d.sm.schedulers > 0 && d.sm.schedulers <= 64, d, "sm.schedulers is not between 1 and 64");
  require(d.sm.issue_width > 0 && d.sm.issue_width <= 4, d, "sm.issue_width is not between 1 and 4");
  require((d.sm.max_warps + d.sm.schedulers - 1) / d.sm.schedulers <= max_scheduler_warps, d, "a scheduler has more than 64 warps");
  require(d.sm_clock_hz > 0, d, "sm.clock is missing");
  require(d.l2_slices > 0 && d.l2_slices <= 4096, d, "l2.slices is not between 1 and 4096");
  require(cache_ok(d.l1, d.l1.bytes), d, "l1: bytes, line_bytes, sector_bytes or ways are missing or not supported");
  require(cache_ok(d.l2, d.l2.bytes / d.l2_slices), d, "l2: bytes, line_bytes, sector_bytes or ways are missing or not supported");
  require(cache_ok(d.constant, d.constant.bytes), d, "constant: bytes, line_bytes, sector_bytes or ways are missing or not supported");
  require(d.l1.bytes_per_cycle > 0 && d.l2.bytes_per_cycle > 0, d, "l1.bytes_per_cycle or l2.bytes_per_cycle is missing");
  require(d.l1.mshr_entries > 0 && d.l1.mshr_merge > 0 && d.l2.mshr_entries > 0 && d.l2.mshr_merge > 0, d,
          "mshr_entries or mshr_merge of a cache is missing");
  require(d.l1.mshr_entries <= 65536 && d.l2.mshr_entries <= 65536, d, "mshr_entries is above 65536");
  require(std::has_single_bit(d.shared.banks) && d.shared.banks <= 64, d, "shared.banks is not a power of two up to 64");
  require(std::has_single_bit(d.shared.bank_bytes) && d.shared.bank_bytes <= 16, d, "shared.bank_bytes is not a power of two up to 16");
  require(d.interconnect.sm_bytes_per_cycle > 0 && d.interconnect.sm_write_bytes_per_cycle > 0, d, "interconnect bandwidth is missing");
  require(d.dram.partitions > 0 && d.dram.partitions <= 4096, d, "dram.partitions is not between 1 and 4096");
  require(d.dram.bandwidth > 0 && d.dram.row_bytes >= 128, d, "dram.bandwidth or dram.row_bytes is missing");
}

// Twice the room of an SM; a scheduler can have 64 warps.
void double_room(device::Device& d) {
  const std::uint32_t most = max_scheduler_warps * d.sm.schedulers;
  d.sm.max_warps = std::min(2 * d.sm.max_warps, std::max(most, d.sm.max_warps));
  d.sm.max_threads = d.sm.max_warps * 32;
  d.sm.max_blocks *= 2;
  d.sm.registers *= 2;
  d.sm.shared_bytes *= 2;
}

// What runs on pipelines of the schedulers, not on units that an SM or the GPU shares.
bool is_arithmetic(ptx::OpClass c) { return c <= ptx::OpClass::convert64; }

device::Device lift_limits(device::Device d, const device::WhatIf& what_if) {
  if (what_if.double_occupancy) double_room(d);
  if (what_if.double_math)
    for (std::size_t c = 0; c < d.throughput.size(); ++c)
      if (is_arithmetic(static_cast<ptx::OpClass>(c))) d.throughput[c] *= 2;
  if (what_if.zero_launch_cost) d.host.launch_overhead_ns = d.host.block_launch_cycles = 0;
  return d;
}

// A device whose memory may turn out to be another than its file says.
struct Machine {
  Machine(const device::Device& d, const device::WhatIf& what_if)
      : device(lift_limits((check(d), d), what_if)), latencies(device), dram(make_dram(device, latencies, what_if.infinite_dram_bandwidth)) {}
  device::Device device;
  Latencies latencies;
  std::unique_ptr<memory::Dram> dram;
};

}  // namespace

struct Gpu::Impl {
  Impl(Machine machine, const Options& o)
      : device(std::move(machine.device)),
        options(o),
        pipes(device),
        lowering(device, options.lowering),
        latencies(machine.latencies),
        sm_config{device, pipes, latencies, scheduler_policy(device.sm.scheduler), options.what_if},
        network(device, latencies.network),
        memory(device, latencies, network, std::move(machine.dram)),
        listener(device.sm.count, device.l2_slices, memory.dram_channels() == nullptr ? latencies.dram : 0),
        series(options.observe.series),
        team(o.threads) {
    sms.reserve(device.sm.count);
    for (std::uint32_t i = 0; i < device.sm.count; ++i) sms.emplace_back(i, sm_config, network);
    if (!options.observe.sms()) return;
    memory.observe(&listener);
    for (std::uint32_t i = 0; i < device.sm.count; ++i)
      sms[i].observe(std::make_unique<SmObserver>(i, device.sm.schedulers, options.observe, listener));
  }

  void begin(const stream::WarpSource& launch);
  Cycle simulate();
  Cycle next_event() const;
  void run_quantum(Cycle end);
  void send_observed(Sm& sm);
  Snapshot snapshot(Cycle at) const;
  void take_snapshots(Cycle now);
  void check_end() const;
  void add_observations(LaunchStatistics& statistics, InstTable& lines);
  void watch(Cycle now);
  void check_locked() const;
  void check_limits(Cycle now) const;
  std::uint32_t l1_ways() const;
  void sample(BlockDispatcher& dispatcher, Cycle now);
  LaunchStatistics statistics_of(Cycle cycles, bool channels);
  result::KernelResult collect(Cycle cycles);

  const device::Device device;
  const Options options;
  const PipeTable pipes;
  const Lowering lowering, as_it_is{device, false};
  const Latencies latencies;
  const SmConfig sm_config;
  Interconnect network;
  MemorySystem memory;
  std::vector<Sm> sms;
  MemoryObserver listener;   // listens only if somebody asked
  Series series;
  Programs programs;
  std::optional<stream::ExecutedLaunch> executed;   // kept for partial()
  LaunchContext context;
  device::Occupancy occupancy;
  std::uint32_t registers = 0;
  Team team;
  std::vector<Sm*> active;                       // in the current quantum
  std::vector<std::exception_ptr> failures;      // theirs; the last one is the memory system's
  bool watching = false;                         // for lack of progress, before --max-cycles
  std::uint64_t epoch = 0;
  Cycle horizon = 0;   // nothing has been simulated beyond
  std::optional<Sampler> sampler;
  LeftOut left_out;
};

Gpu::Gpu(const device::Device& device, const Options& options) : impl_(std::make_unique<Impl>(Machine(device, options.what_if), options)) {}
Gpu::~Gpu() = default;

void Gpu::move_timeline_to(result::Timeline& out) {
  for (Sm& sm : impl_->sms)
    if (sm.observer() != nullptr) sm.observer()->timeline().move_to(out);
}

void Gpu::invalidate(std::uint64_t address, std::uint64_t bytes) { impl_->memory.invalidate(address, bytes); }

void Gpu::save(stream::trace::Buffer& out) const {
  stream::trace::put_number(out, impl_->epoch);
  impl_->memory.save(out);
}

void Gpu::restore(stream::trace::Bytes& in) {
  impl_->epoch = in.number();
  impl_->memory.restore(in);
}

result::KernelResult Gpu::run(const exec::Launch& launch) {
  impl_->executed.emplace(launch);
  return run(*impl_->executed);
}

result::KernelResult Gpu::run(const stream::WarpSource& launch) {
  impl_->begin(launch);
  return impl_->collect(impl_->simulate());
}

Gpu::LeftOut Gpu::left_out() const { return impl_->left_out; }

void Gpu::complete(result::KernelResult& result, std::optional<std::uint64_t> warp_instructions) const {
  if (impl_->left_out.count == 0) {
    if (!impl_->sampler) return;
    result.metrics.set("gpu.cycles.error", 0.0);
    result.metrics.set("sampling.blocks", impl_->context.launch->block_count());
    return;
  }
  result.metrics = impl_->sampler->extrapolate(result.metrics, impl_->left_out.count, warp_instructions);
  result.not_modelled.emplace_back("D-TIMING-13");
}

result::KernelResult Gpu::partial() { return impl_->collect(impl_->horizon); }

// Where L1 and shared memory share their storage, L1 gets what the resident blocks leave, in whole ways.
std::uint32_t Gpu::Impl::l1_ways() const {
  const device::CacheParams& l1 = device.l1;
  const auto way_bytes = static_cast<double>(l1.bytes) / l1.ways;
  if (device.l1_unified_bytes == 0) return std::max(1u, static_cast<std::uint32_t>(static_cast<double>(l1.bytes) / way_bytes));
  const std::uint64_t room = options.what_if.double_occupancy ? 2 : 1;   // of shared memory; L1 stays what it was
  const std::uint64_t shared = std::uint64_t{occupancy.blocks_per_sm} * occupancy.shared_per_block / room;
  const std::uint64_t rest = device.l1_unified_bytes > shared ? device.l1_unified_bytes - shared : 0;
  return std::clamp(static_cast<std::uint32_t>(static_cast<double>(rest) / way_bytes), 1u, l1.ways);
}

void Gpu::Impl::begin(const stream::WarpSource& launch) {
  const ptx::Function& function = launch.function();
  registers = std::max(1u, options.registers_override != 0 ? options.registers_override : function.registers);
  occupancy = device::occupancy(device, launch.threads_per_block(), registers, launch.shared_bytes());
  if (occupancy.blocks_per_sm == 0)
    throw Error(ExitCode::bad_input, "launch-resources",
                fmt::format("a block of kernel '{}' does not fit an SM of {}: {} threads, {} registers per thread, {} bytes of shared memory",
                            function.name, device.name, launch.threads_per_block(), registers, launch.shared_bytes()),
                fmt::format("its limit is the {}: use a smaller block, fewer registers (--regs) or less shared memory",
                            device::name_of(occupancy.limit)));
  const stream::trace::Code* code = launch.code_of(function);
  const bool machine_code = code != nullptr && !code->mnemonics.empty();
  programs.begin(function, pipes, machine_code ? as_it_is : lowering);
  context.launch = &launch;
  context.programs = &programs;
  context.warps_per_block = launch.warps_per_block();
  context.blocks_per_sm = occupancy.blocks_per_sm;
  context.l1_ways = l1_ways();
  context.sm_count = device.sm.count;
  context.epoch = epoch;
  horizon = 0;
  left_out = {};
  sampler.reset();
  if (options.sample_error > 0)
    sampler.emplace(options.sample_error, std::uint64_t{device.sm.count} * occupancy.blocks_per_sm, 64 * latencies.network);
  watching = false;
  network.restart();
  memory.restart();
  listener.begin();
  series.begin();
  for (Sm& sm : sms) sm.begin(context);
}

Cycle Gpu::Impl::next_event() const {
  Cycle next = memory.next_event();
  for (const Sm& sm : sms) next = std::min(next, sm.next_event());
  return next;
}

// The memory system is the first job, for it is the longest.
void Gpu::Impl::run_quantum(Cycle end) {
  active.clear();
  for (Sm& sm : sms)
    if (sm.next_event() < end) active.push_back(&sm);
  failures.assign(active.size() + 1, nullptr);
  const auto job = [&](std::size_t i) {
    try {
      if (i == 0) memory.advance(end);
      else active[i - 1]->run(end);
    } catch (...) {
      failures[i == 0 ? active.size() : i - 1] = std::current_exception();
    }
  };
  if (context.launch->one_at_a_time())
    for (std::size_t i = 0; i <= active.size(); ++i) job(i);
  else
    team.run(active.size() + 1, job);
  for (Sm* sm : active) {
    if (sm->observer() != nullptr) send_observed(*sm);
    for (const TimedRequest& request : sm->outbox()) memory.push(request);
    sm->outbox().clear();
    sm->commit();
  }
  network.deliver();
  if (options.observe.sms()) listener.deliver();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// The same, and what its observer noted of each request goes along.
void Gpu::Impl::send_observed(Sm& sm) {
  std::vector<Flight>& flights = sm.observer()->outbox();
  SIMTLAB_ASSERT(flights.size() == sm.outbox().size(), "every request is observed");
  for (std::size_t i = 0; i < flights.size(); ++i) {
    memory.push(sm.outbox()[i]);
    memory.observe_last(flights[i]);
  }
  sm.outbox().clear();
  flights.clear();
}

Snapshot Gpu::Impl::snapshot(Cycle at) const {
  Snapshot out;
  out.end = at;
  for (const Sm& sm : sms) {
    const SmCounters& c = sm.counters();
    out.warp_instructions += c.warp_instructions;
    out.thread_instructions += c.thread_instructions;
    out.l1_accesses += c.l1.read_accesses;
    out.l1_hits += c.l1.read_hits;
    out.warp_cycles += sm.warp_cycles(at);
    sm.add_slots(at, out.slots);
  }
  const CacheCounters& l2 = memory.cache_counters();
  out.l2_accesses = l2.read_accesses;
  out.l2_hits = l2.read_hits;
  const memory::DramStatistics dram = memory.dram_statistics();
  out.dram_read_bytes = dram.read_bytes;
  out.dram_write_bytes = dram.write_bytes;
  return out;
}

// Before anything happens at `now`: of the quantum that has ended, and of intervals in which nothing happens.
void Gpu::Impl::take_snapshots(Cycle now) {
  if (series.due(horizon)) series.take(snapshot(horizon));
  while (series.next() <= now && series.next() > horizon) series.take(snapshot(series.next()));
}

void Gpu::Impl::add_observations(LaunchStatistics& statistics, InstTable& lines) {
  statistics.unlimited_dram = options.what_if.infinite_dram_bandwidth;
  for (Sm& sm : sms) {
    if (sm.observer() == nullptr) return;
    statistics.loads.add(sm.observer()->latency());
    lines.add(sm.observer()->table());
  }
}

// Everything that was sent has arrived. What does not hold is a fault of the simulator.
void Gpu::Impl::check_end() const {
  for (const Sm& sm : sms) SIMTLAB_ASSERT(sm.unfinished().empty(), sm.unfinished().c_str());
  SIMTLAB_ASSERT(memory.unfinished().empty(), memory.unfinished().c_str());
  SIMTLAB_ASSERT(listener.replies_left() == 0, "every observed reply reached its SM");
}

// In the second half of what --max-cycles allows, at most that many cycles.
void Gpu::Impl::watch(Cycle now) {
  constexpr Cycle longest = 1'000'000;
  const Cycle begin = options.max_cycles - std::min(options.max_cycles / 2, longest);
  if (now < begin || watching) return;
  watching = true;
  for (Sm& sm : sms) sm.begin_watch();
}

// Throws if no warp can ever go on: the program's fault, not that of the limit.
void Gpu::Impl::check_locked() const {
  std::vector<Wait> waits;
  for (const Sm& sm : sms)
    if (!sm.locked(waits)) return;
  if (waits.empty()) return;
  constexpr std::size_t most = 16;
  const ptx::Module& module = context.launch->module();
  std::uint64_t warps = 0;
  std::string list;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const Wait& w = waits[i];
    warps += w.warps;
    if (i >= most) continue;
    const std::string who = fmt::format("warp {} of block {}{}", w.first_warp, w.first_block, w.warps > 1 ? fmt::format(" and {} more", w.warps - 1) : "");
    const std::string what = w.barrier ? std::string("a barrier") : fmt::format("the word at {:#x} ({})", w.address, ptx::name_of(w.inst->op));
    list += fmt::format("; {} for {} at {}:{}", who, what, module.name, w.inst->line);
    if (const auto file = module.files.find(w.inst->file); w.inst->source_line != 0 && file != module.files.end())
      list += fmt::format(" ({}:{})", file->second, w.inst->source_line);
  }
  if (waits.size() > most) list += fmt::format("; {} other waits", waits.size() - most);
  const auto poll = std::ranges::find(waits, false, &Wait::barrier);
  if (poll == waits.end()) return;
  throw exec::Fault(exec::Fault::Kind::deadlock, "livelock",
                    module.diagnostic(poll->inst->line, poll->inst->column,
                                      fmt::format("kernel '{}' has locked itself: all {} warps that are there ask for the same words again and again or wait "
                                                  "at barriers, and none writes{}",
                                                  context.launch->function().name, warps, list),
                                      "blocks that wait for others need those to be resident; lanes of a warp that take a lock must be able to release it"));
}

void Gpu::Impl::check_limits(Cycle at) const {
  const auto where = [&] {
    for (const Sm& sm : sms)
      if (std::string text = sm.whereabouts(); !text.empty()) return text;
    return "kernel " + context.launch->function().name;
  };
  if (options.interrupt != nullptr && *options.interrupt) throw Error(ExitCode::interrupted, "interrupted", where());
  if (options.max_cycles != 0 && at >= options.max_cycles) check_locked();
  if (options.max_cycles != 0 && at >= options.max_cycles)
    throw Error(ExitCode::failure, "limit-cycles",
                fmt::format("kernel '{}' reached the limit of {} cycles: {}", context.launch->function().name, options.max_cycles, where()),
                "raise --max-cycles, or shrink the problem");
}

void Gpu::Impl::sample(BlockDispatcher& dispatcher, Cycle now) {
  if (dispatcher.all_handed_out() || !sampler->note(dispatcher.handed_out(), now)) return;
  sampler->keep(to_metrics(statistics_of(now, false)));
  if (!sampler->steady()) return;
  left_out = {dispatcher.handed_out(), context.launch->block_count() - dispatcher.handed_out()};
  dispatcher.stop();
}

Cycle Gpu::Impl::simulate() {
  BlockDispatcher dispatcher(context.launch->block_count(), sms.size(), static_cast<Cycle>(std::llround(device.host.block_launch_cycles)));
  dispatcher.hand_out(0, sms);
  const Cycle quantum = latencies.network;
  for (Cycle now = next_event(); now != never; now = next_event()) {
    if (series.on()) take_snapshots(now);
    horizon = std::max(horizon, now);
    check_limits(now);
    if (options.max_cycles != 0) watch(now);
    horizon = now + quantum;
    run_quantum(now + quantum);
    if (dispatcher.all_handed_out()) continue;
    dispatcher.hand_out(now + quantum, sms);
    if (sampler) sample(dispatcher, now + quantum);
  }
  Cycle cycles = 0;
  for (const Sm& sm : sms) {
    if (!sm.idle()) sm.check_progress();
    // Not the program's doing: its own deadlocks have been thrown.
    SIMTLAB_ASSERT(sm.idle(), ("an SM with resident blocks has something to do: " + sm.unfinished()).c_str());
    cycles = std::max(cycles, sm.finished_at());
  }
  check_end();
  return cycles;
}

// channels: the end of the launch, when the clocks of a detailed memory may be settled.
LaunchStatistics Gpu::Impl::statistics_of(Cycle cycles, bool channels) {
  LaunchStatistics statistics(device, occupancy, cycles);
  for (Sm& sm : sms) statistics.sm.add(sm.counters_at(cycles));
  if (channels) {
    statistics.channel_clocks = memory.settle(cycles);
    statistics.channels = memory.dram_channels();
  }
  statistics.l2 = memory.counters();
  statistics.dram = memory.dram_statistics();
  statistics.interconnect_read_bytes = network.read_bytes();
  statistics.request_busy = network.request_busy_cycles();
  statistics.reply_busy = network.reply_busy_cycles();
  return statistics;
}

result::KernelResult Gpu::Impl::collect(Cycle cycles) {
  LaunchStatistics statistics = statistics_of(cycles, true);
  for (Sm& sm : sms) sm.finish(cycles);
  InstTable lines;
  add_observations(statistics, lines);
  epoch += cycles;
  std::uint64_t slots = 0;
  for (const std::uint64_t count : statistics.sm.slots) slots += count;
  SIMTLAB_ASSERT(slots == cycles * device.sm.count * device.sm.schedulers, "every scheduler slot has exactly one reason");

  result::KernelResult result;
  const ptx::Function& function = context.launch->function();
  result.name = result.demangled = function.name;
  result.shared_bytes = context.launch->shared_bytes();
  result.registers = registers;
  result.metrics = to_metrics(statistics);
  result.limiter = std::string(device::name_of(occupancy.limit));
  result.bottleneck = bottleneck_of(result.metrics, statistics);
  result.not_modelled = not_modelled(statistics);
  if (options.observe.lines) result.profile = lines.profile(context.launch->module(), statistics.sm.slots);
  if (series.on()) result.series = series.finish(snapshot(cycles), device);
  return result;
}

}  // namespace simtlab::timing
