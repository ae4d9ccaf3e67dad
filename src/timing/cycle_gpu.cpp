// The GPU under the clock: wires the parts together and moves time.
//
// Time advances in quanta of the network's latency. In a quantum the SMs and the memory system run on their
// own, on as many host threads as there are; nothing that one of them sends can reach another before the
// quantum's end. There requests and replies change hands and what the SMs wrote to memory becomes visible, SM
// by SM: results are the same for any number of threads. Quanta without events are skipped. The clock starts
// at 0 whenever a launch finds the GPU idle; launches that come later join it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/pulse.h"
#include "device/carve_out.h"
#include "stream/trace/code.h"
#include "timing/cycle_gpu_impl.h"

namespace simtlab::timing {

CycleGpu::Impl::Impl(Machine machine, const Options& o)
    : device(std::move(machine.device)),
      options(o),
      models(device, options.lowering, machine.latencies),
      sm_config{device, models.pipes, models.latencies, scheduler_policy(device.sm.scheduler),
                options.what_if},
      network(device, models.latencies.network),
      memory(device, models.latencies, network, std::move(machine.dram)),
      listener(device.sm.count, device.l2_slices,
               memory.channel_memory() == nullptr ? models.latencies.dram : 0),
      quantum(o.threads),
      dispatcher(device) {
  for (std::uint32_t i = 0; i < device.sm.count; ++i) sms.emplace_back(i, sm_config, network);
  if (!options.observe.sms()) return;
  memory.observe(&listener);
  for (std::uint32_t i = 0; i < device.sm.count; ++i)
    sms[i].observe(std::make_unique<SmObserver>(i, device.sm.schedulers, options.observe, listener));
}

CycleGpu::CycleGpu(const device::Device& device, const Options& options)
    : impl_(std::make_unique<Impl>(Machine(device, options.what_if), options)) {}
CycleGpu::~CycleGpu() = default;

void CycleGpu::move_timeline_to(result::Timeline& out) {
  for (Sm& sm : impl_->sms)
    if (sm.observer() != nullptr) sm.observer()->timeline().move_to(out);
}

void CycleGpu::invalidate(std::uint64_t address, std::uint64_t bytes) {
  impl_->memory.invalidate(address, bytes);
}

void CycleGpu::save(stream::trace::Buffer& out) const {
  stream::trace::put_number(out, impl_->epoch);
  impl_->memory.save(out);
  for (const Sm& sm : impl_->sms) sm.front_end().save(out);
}

void CycleGpu::restore(stream::trace::Bytes& in) {
  impl_->epoch = in.number();
  impl_->memory.restore(in);
  for (Sm& sm : impl_->sms) sm.front_end().restore(in);
}

result::KernelResult CycleGpu::run(const exec::Launch& launch) {
  impl_->executed.emplace(launch);
  return run(*impl_->executed);
}

result::KernelResult CycleGpu::run(const stream::WarpSource& launch) {
  impl_->give_up();
  impl_->begin(launch, {}, 0);
  return impl_->finish(*impl_->advance(never)).result;
}

CycleGpu::Id CycleGpu::begin(const stream::WarpSource& launch, const Setup& setup, std::uint64_t at) {
  return impl_->begin(launch, setup, at).id;
}
bool CycleGpu::idle() const { return impl_->active.empty(); }
bool CycleGpu::full() const {
  const std::size_t most = impl_->options.share == SharePolicy::serial || impl_->options.what_if.alone ||
                                   impl_->options.sample_error > 0 || impl_->options.cold_caches
                               ? 1
                               : impl_->device.host.max_grids;
  return impl_->active.size() >= std::min<std::size_t>(most, max_launches);
}
std::uint64_t CycleGpu::clock() const { return impl_->horizon; }
CycleGpu::Ended CycleGpu::finish(Id id) { return impl_->finish(impl_->find(id)); }

std::optional<CycleGpu::Id> CycleGpu::advance(std::uint64_t until) {
  const ActiveLaunch* launch = impl_->advance(until);
  return launch == nullptr ? std::nullopt : std::optional<Id>(launch->id);
}

std::vector<CycleGpu::Ended> CycleGpu::partial() { return impl_->partial(); }

CycleGpu::LeftOut CycleGpu::left_out() const { return impl_->last.left_out; }

void CycleGpu::complete(result::KernelResult& result, std::optional<std::uint64_t> warp_instructions) const {
  if (impl_->last.left_out.count == 0) {
    if (!impl_->last.sampler) return;
    result.metrics.set("gpu.cycles.error", 0.0);
    result.metrics.set("sampling.blocks", impl_->last.blocks);
    return;
  }
  result.metrics =
      impl_->last.sampler->extrapolate(result.metrics, impl_->last.left_out.count, warp_instructions);
  result.not_modelled.emplace_back("D-TIMING-13");
}

namespace {

void refuse_too_large_cluster(const LaunchContext& launch, std::uint32_t sms) {
  if (launch.cluster_blocks <= sms) return;
  throw Error(
      ExitCode::bad_input, "launch-cluster",
      fmt::format("kernel '{}' has clusters of {} blocks, which go to an SM each; there {} {} for it",
                  launch.launch->function().name, launch.cluster_blocks, sms == 1 ? "is" : "are", sms));
}

}  // namespace

device::Occupancy fit(const device::Device& device, const stream::WarpSource& launch,
                      std::uint32_t registers) {
  return fit(device, launch.function(), launch.threads_per_block(), registers, launch.shared_bytes());
}

device::Occupancy fit(const device::Device& device, const ptx::Function& kernel, unsigned threads,
                      std::uint32_t registers, std::uint64_t shared_bytes) {
  // What PTX keeps alive may be more than a thread can have: a compiler would spill the others.
  if (registers == kernel.registers) registers = std::min(registers, device.sm.max_registers_per_thread);
  const device::Occupancy occupancy = device::occupancy(device, threads, registers, shared_bytes);
  if (occupancy.blocks_per_sm == 0) {
    // The most that would fit
    std::uint32_t fewer = registers;
    while (fewer > 1 && device::occupancy(device, threads, fewer, shared_bytes).blocks_per_sm == 0) --fewer;
    const bool fewer_help = device::occupancy(device, threads, fewer, shared_bytes).blocks_per_sm != 0;
    throw Error(
        ExitCode::bad_input, "launch-resources",
        fmt::format("a block of kernel '{}' does not fit an SM of {}: {} threads, {} registers per thread, "
                    "{} bytes of shared memory",
                    kernel.name, device.name, threads, registers, shared_bytes),
        fewer_help ? fmt::format("--regs {} fits: the kernel is run as one that was compiled for so many "
                                 "registers; or use a smaller block",
                                 fewer)
                   : fmt::format("its limit is the {}: use a smaller block or less shared memory",
                                 device::name_of(occupancy.limit)));
  }
  return occupancy;
}

std::uint32_t CycleGpu::Impl::l1_ways(const LaunchContext& launch) const {
  // Of shared memory; L1 stays what it was
  const std::uint64_t room = options.what_if.double_occupancy ? 2 : 1;
  return device::l1_ways_beside(
      device, std::uint64_t{launch.occupancy.blocks_per_sm} * launch.occupancy.shared_per_block / room);
}

void CycleGpu::Impl::begin_period() {
  horizon = 0;
  accounted = {};
  watch.begin_period();
  if (options.pulse != nullptr) options.pulse->begin_period();
  network.restart();
  memory.restart();
  listener.begin();
  dispatcher.begin();
  for (Sm& sm : sms) sm.begin(epoch);
  if (options.cold_caches) memory.make_cold();
}

void CycleGpu::Impl::place(ActiveLaunch& launch, const stream::WarpSource& source, const Setup& setup) {
  LaunchContext& context = launch.context;
  context.launch = &source;
  context.registers = std::max(
      1u, options.registers_override != 0 ? options.registers_override : source.function().registers);
  context.occupancy = fit(device, source, context.registers);
  const stream::trace::Code* code = source.code_of(source.function());
  const bool machine_code = source.function().machine || (code != nullptr && !code->mnemonics.empty());
  context.programs.begin(source.function(), models.pipes, machine_code ? models.as_it_is : models.lowering);
  context.machine_code = machine_code;
  context.programs.place(device, source);
  context.warps_per_block = source.warps_per_block();
  context.cluster_blocks = source.cluster_blocks();
  refuse_too_large_cluster(context, device.sm.count);
  context.l1_ways = l1_ways(context);
  context.priority = setup.priority;
  SIMTLAB_ASSERT(
      setup.sms == 0 || (setup.first_sm < device.sm.count && setup.sms <= device.sm.count - setup.first_sm),
      "a launch is bound to SMs that the device has");
  context.own_first_sm = setup.first_sm;
  context.own_sms = setup.sms;
  while (std::ranges::any_of(active, [&](const auto& other) { return other->context.slot == context.slot; }))
    ++context.slot;
  launch.grid = {&context, source.block_count(), 0};
}

ActiveLaunch& CycleGpu::Impl::begin(const stream::WarpSource& source, const Setup& setup, Cycle at) {
  SIMTLAB_ASSERT(active.size() < max_launches, "a slot for the launch");
  auto launch = std::make_unique<ActiveLaunch>(launches++, options.observe.series);
  place(*launch, source, setup);
  if (active.empty()) {
    begin_period();
    last.left_out = {};
    last.sampler.reset();
    if (options.sample_error > 0 && launch->context.cluster_blocks == 1)  // clusters run whole
      launch->sampler.emplace(options.sample_error,
                              std::uint64_t{device.sm.count} * launch->context.occupancy.blocks_per_sm,
                              64 * models.latencies.network);
  } else {
    account(horizon);
    launch->alone = false;
    for (const auto& other : active) other->alone = false;
  }
  launch->begun = std::max(at, horizon);
  launch->opens = launch->begun + static_cast<Cycle>(std::llround(device.launch.floor));
  if (launch->series.on()) launch->series.begin(launch->begun == 0 ? Snapshot{} : snapshot(launch->begun));
  const auto behind = std::ranges::find_if(
      active, [&](const auto& other) { return other->context.priority < setup.priority; });
  ActiveLaunch& placed = **active.insert(behind, std::move(launch));
  reshare();
  arrived = true;
  return placed;
}

ActiveLaunch& CycleGpu::Impl::find(Id id) {
  const auto at = std::ranges::find(active, id, [](const auto& launch) { return launch->id; });
  SIMTLAB_ASSERT(at != active.end(), "a launch that is under way");
  return **at;
}

void CycleGpu::Impl::reshare() {
  contexts.clear();
  for (const auto& launch : active) contexts.push_back(&launch->context);
  share(options.share, device.sm.count, contexts);
  for (const LaunchContext* context : contexts)
    if (context->cluster_blocks > 1) refuse_too_large_cluster(*context, context->end_sm - context->first_sm);
}

// Those behind a launch that still has blocks get none of what is left, if the policy goes by their order.
// Who is bound to SMs neither holds others up nor waits for them.
void CycleGpu::Impl::hand_out(Cycle at) {
  bool held_up = false;
  for (const auto& launch : active) {
    const bool bound = launch->context.own_sms != 0;
    if (launch->grid.all_handed_out() || !launch->opened || (held_up && !bound)) continue;
    dispatcher.hand_out(launch->grid, launch->opens, at, sms);
    held_up = held_up || (!bound && !launch->grid.all_handed_out() && options.share == SharePolicy::leftover);
  }
}

Cycle CycleGpu::Impl::next_event() const {
  Cycle next = memory.next_event();
  for (const Sm& sm : sms) next = std::min(next, sm.next_event());
  return std::min(next, next_opening());
}

// When blocks of another launch may be handed out, for the first time.
Cycle CycleGpu::Impl::next_opening() const {
  Cycle next = never;
  for (const auto& launch : active)
    if (!launch->opened) next = std::min(next, launch->opens);
  return next;
}

// Those whose time comes within the quantum that begins now.
void CycleGpu::Impl::open(Cycle now) {
  for (const auto& launch : active)
    launch->opened = launch->opened || launch->opens < now + models.latencies.network;
  hand_out(now);
}

void CycleGpu::Impl::run_quantum(Cycle end) {
  const bool in_turn = std::ranges::any_of(
      contexts, [](const LaunchContext* context) { return context->launch->one_at_a_time(); });
  quantum.run(memory, sms, end, in_turn);
  for (Sm* sm : quantum.ran()) {
    sm->commit();
    collect_ended(*sm);
  }
  if (std::ranges::any_of(contexts, [](const LaunchContext* c) { return c->cluster_blocks > 1; }))
    for (Sm& sm : sms) sm.meet_in_clusters(end);
  const std::vector<Sm*>& ran = quantum.ran();
  for (std::size_t first = 0, last = 0; first < ran.size(); first = last) {
    while (last < ran.size() && network.share_a_port(ran[first]->id(), ran[last]->id())) ++last;
    send({ran.data() + first, last - first});
  }
  network.deliver();
  if (options.observe.sms()) listener.deliver();
  quantum.rethrow();
}

// What SMs on one way into the network have sent: in the order of time, the first SM first. What an observer
// noted of each request goes along.
void CycleGpu::Impl::send(std::span<Sm* const> neighbours) {
  std::array<std::size_t, most_on_a_port> sent{};
  for (;;) {
    std::size_t next = neighbours.size();
    Cycle earliest = never;
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const std::vector<TimedRequest>& outbox = neighbours[i]->outbox();
      if (sent[i] == outbox.size() || outbox[sent[i]].at >= earliest) continue;
      next = i;
      earliest = outbox[sent[i]].at;
    }
    if (next == neighbours.size()) break;
    Sm& sm = *neighbours[next];
    TimedRequest request = sm.outbox()[sent[next]];
    request.at = network.pass(request);
    memory.push(request);
    if (sm.observer() != nullptr) memory.observe_last(sm.observer()->outbox()[sent[next]]);
    ++sent[next];
  }
  for (Sm* sm : neighbours) {
    network.hold(sm->id());
    sm->outbox().clear();
    if (sm->observer() != nullptr) sm->observer()->outbox().clear();
  }
}

void CycleGpu::Impl::collect_ended(Sm& sm) {
  for (const auto& tenant : sm.accounts().all()) {
    for (const auto& launch : active) {
      if (&launch->context != tenant->context) continue;
      launch->ended_blocks += tenant->ended;
      launch->ended = std::max(launch->ended, tenant->finished_at);
    }
    tenant->ended = 0;
  }
}

// The one that ended first. A launch is over when its stores are in L2.
ActiveLaunch* CycleGpu::Impl::ended() {
  ActiveLaunch* first = nullptr;
  const auto stores = [&](const ActiveLaunch& launch) {
    return std::ranges::any_of(sms, [&](const Sm& sm) { return sm.stores_under_way(launch.context); });
  };
  for (const auto& launch : active)
    if (launch->over() && !stores(*launch) && (first == nullptr || launch->ended < first->ended))
      first = launch.get();
  return first;
}

void CycleGpu::Impl::step(Cycle now) {
  take_snapshots(now);
  horizon = now + models.latencies.network;
  run_quantum(horizon);
}

ActiveLaunch* CycleGpu::Impl::advance(Cycle until) {
  // Launches that have come at the same time are served together.
  if (std::exchange(arrived, false)) open(horizon);
  for (;;) {
    if (ActiveLaunch* launch = ended()) return launch;
    if (active.empty()) return nullptr;
    const Cycle now = next_event();
    if (now == never) stuck();
    if (now >= until) return nullptr;
    horizon = std::max(horizon, now);
    check_limits(now, until);
    if (options.pulse != nullptr) beat(now);
    if (next_opening() < now + models.latencies.network) open(now);
    look_ahead(until);
    step(now);
    if (std::ranges::all_of(active, [](const auto& launch) { return launch->grid.all_handed_out(); }))
      continue;
    hand_out(horizon);
    if (active.front()->sampler) sample(*active.front(), horizon);
  }
}

// What the last launch left under way: write-backs, requests that nobody waits for.
void CycleGpu::Impl::drain() {
  for (Cycle now = next_event(); now != never; now = next_event()) step(now);
}

}  // namespace simtlab::timing
