// Launches through the analytical models.
//
// A part of the blocks is executed, counted and studied (counts/profile.h), the others are executed as fast
// as that goes; from the counts and the device the models answer.
#include "gpu/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "gpu/prediction_kernels.h"
#include "models/answer.h"
#include "models/counts/counted.h"
#include "models/counts/profile.h"
#include "models/counts/static_profile.h"
#include "models/units.h"

namespace simtlab::gpu {
namespace {

using C = models::Counts;

// Of a sample: warp instructions. A wave of blocks is always taken, whatever it executes.
constexpr std::uint64_t enough_instructions = 2'000'000;
// Of all blocks that the GPU holds at once: if they would execute more, fewer SMs are studied.
constexpr std::uint64_t most_instructions_at_once = 3'000'000;
constexpr std::uint64_t few_blocks = 8;  // of a grid: all SMs are studied, whatever its blocks execute
// Of the rest, where nobody looks at what the kernel leaves: executed all the same if that takes no longer
// than this.
constexpr std::uint64_t worth_executing = 40'000'000;

// Reuse distances are of no interest here: they are followed for next to no line.
cache::Options study_options(std::uint64_t seed, std::uint32_t sms, const device::Device& device) {
  cache::Options o;
  o.order = "lrr";  // whatever the device's scheduler: the models were compared with the cycle level so
  // Blocks are dealt as to all SMs: which blocks share an L1 decides what conflicts in it.
  if (sms < device.sm.count) o.sms = {0, sms - 1};
  o.sample = 1.0 / 1024;
  o.jitter = 0;
  o.l2_in_flight = true;
  o.seed = seed;
  return o;
}

// Blocks may wait for what others write: with volatile or ordered loads, or with the results of atomics. Then
// they must be able to run side by side.
bool may_wait_for_others(const ptx::Function& f) {
  return std::ranges::any_of(f.code, [](const ptx::Inst& inst) {
    return (inst.op == ptx::Op::ld && inst.mods.order != ptx::MemOrder::weak) ||
           (inst.op == ptx::Op::atom && inst.op_class == ptx::OpClass::atomic);
  });
}

// kernel: of the module. Machine code has what it calls in its own code.
bool may_wait_for_others(const ptx::Module& module, const ptx::Function& kernel) {
  if (kernel.machine) return may_wait_for_others(kernel);
  return std::ranges::any_of(module.functions, [](const ptx::Function& f) { return may_wait_for_others(f); });
}

// Alone, it may wait for other blocks, by loads that may_wait_for_others() takes for ordinary ones.
void check_first_block(stream::ResidentBlock& block, std::uint32_t steps,
                       const models::counts::CountedLaunch& source) {
  std::vector<exec::Stuck> who;
  if (!block.stuck(steps, who)) return;
  const auto by_others = [](const exec::Stuck& s) {
    return s.why == exec::Stuck::Why::read && s.space != ptx::Space::shared;
  };
  if (std::ranges::none_of(who, by_others)) exec::report_stuck(who, {});
  throw Error(
      ExitCode::unsupported, "kernel-waits",
      fmt::format("the first block of kernel '{}' waits for what others write", source.function().name),
      "--whole runs as many blocks side by side as the GPU");
}

// Executes the first block of a launch and returns its warp instructions.
std::uint64_t run_first_block(const models::counts::CountedLaunch& source, const volatile bool* interrupt) {
  const auto share = source.make_share(stream::Effects::at_once);
  const auto block = share->make_block();
  block->reset(0, 0, 0);
  const unsigned warps = source.warps_per_block();
  constexpr unsigned turn = 4096;
  exec::Lookout look(std::uint64_t{1} << 18, 512);
  std::uint64_t executed = 0;
  for (bool any = true; any;) {
    any = false;
    if (look.due(executed)) {
      check_first_block(*block, look.steps(), source);
      look.looked(executed);
    }
    if (interrupt != nullptr && *interrupt)
      throw Error(ExitCode::interrupted, "interrupted",
                  fmt::format("in kernel '{}'", source.function().name));
    for (unsigned w = 0; w < warps; ++w)
      for (unsigned i = 0; i < turn && block->status(w) == stream::WarpStatus::ready; ++i) {
        any = true;
        const exec::Run run = block->run_plain(w, turn);
        i += run.instructions;
        executed += run.instructions + 1;
        if (block->status(w) == stream::WarpStatus::ready) block->step(w, 0);
      }
  }
  block->check_progress();
  share->commit();
  return source.warp_instructions();
}

// A GPU on which some SMs have as much less of the bandwidth as they are fewer. L2 stays as large: what SMs
// share is as large for few of them.
device::Device with_share(device::Device device, double share) {
  device.l2.bytes_per_cycle *= share;
  for (double* bandwidth :
       {&device.dram.bandwidth, &device.dram.bandwidth_measured, &device.dram.read_bandwidth_measured})
    *bandwidth *= share;
  return device;
}

class Filler {
 public:
  Filler(models::Inputs& inputs, std::string origin) : in_(inputs), origin_(std::move(origin)) {}
  void operator()(double C::*member, double value, const char* how = nullptr) {
    if (!in_.has(member))
      in_.set(member, value, {how == nullptr ? origin_ : fmt::format("{}: {}", origin_, how)});
  }

 private:
  models::Inputs& in_;
  std::string origin_;
};

std::string origin_of(const models::counts::Profile& p) {
  if (p.sampled_blocks == p.blocks) return "executed";
  return fmt::format("executed, {} of {} blocks", p.sampled_blocks, p.blocks);
}

void fill_inputs(models::Inputs& in, const models::counts::Profile& p, const std::string& origin,
                 const device::Device& device) {
  Filler set(in, origin);
  const double warps = p.warps_per_block;
  set(&C::blocks, static_cast<double>(p.blocks));
  set(&C::threads_per_block, p.threads_per_block);
  const std::uint64_t sms = std::min<std::uint64_t>(p.blocks, device.sm.count);
  const std::uint64_t most = (p.blocks + sms - 1) / sms;
  set(&C::active_blocks_per_sm, static_cast<double>(std::min<std::uint64_t>(p.occupancy.blocks_per_sm, most)),
      "occupancy");
  double insts = 0;
  for (std::size_t i = 0; i < p.class_insts.size(); ++i) {
    if (std::isnan(in.counts.mix.insts[i])) in.set_insts(i, p.class_insts[i], {origin});
    insts += in.counts.mix.insts[i];
  }
  set(&C::insts, insts);
  set(&C::mem_insts, p.global_insts);
  set(&C::comp_insts, std::max(0.0, insts - p.global_insts));
  set(&C::coal_mem_insts, p.coalesced_insts);
  set(&C::uncoal_mem_insts, p.uncoalesced_insts);
  set(&C::synch_insts, p.sync_insts);
  set(&C::sync_insts, p.sync_insts);
  set(&C::uncoal_per_mw, std::max(1.0, p.sectors_per_uncoalesced));
  set(&C::load_bytes_per_warp, std::max(1.0, p.bytes_per_access));
  set(&C::avg_trans_warp, std::max(1.0, p.sectors_per_access));
  set(&C::lines_per_access, std::max(1.0, p.lines_per_access));
  set(&C::shared_insts, p.shared_insts);
  set(&C::shared_passes, std::max(1.0, p.shared_passes));
  set(&C::active_lanes, std::clamp(p.active_lanes, 1.0, 32.0));
  set(&C::warp_latency, p.warp_latency, "way of a few warps");
  set(&C::warp_memory_wait, p.warp_memory_wait, "way of a few warps");
  set(&C::warp_spread, p.warp_spread);
  set(&C::ilp, p.ilp, "way of a few warps");
  set(&C::mlp, p.mlp, "way of a few warps");
  const double sm_warps = static_cast<double>(p.blocks) * warps / static_cast<double>(sms);
  set(&C::o_cfdiv, 0, "instructions of both sides of a branch are counted");
  set(&C::o_bank, p.shared_insts * std::max(0.0, p.shared_passes - p.shared_passes_ideal) * sm_warps,
      "passes beyond those without conflicts");
  set(&C::flops, p.flops);
  set(&C::fma_insts, p.fma_insts);
  set(&C::l1_bytes, p.l1_bytes);
  set(&C::l2_bytes, p.l2_bytes);
  set(&C::dram_bytes, p.dram_bytes);
  set(&C::useful_bytes, p.global_insts > 0 ? std::max(1.0, p.useful_bytes) : 0);
  set(&C::l1_miss_ratio, std::clamp(p.l1_miss_ratio, 0.0, 1.0), "cache study");
  set(&C::l2_miss_ratio, std::clamp(p.l2_miss_ratio, 0.0, 1.0), "cache study");
}

// Relative to the means of the profile, which counts by hand may replace.
std::vector<models::TraceStep> trace_of(const models::counts::Profile& p) {
  std::vector<models::TraceStep> out;
  for (const models::counts::CodeStep& s : p.code) {
    const double mean = device::accesses(s.op_class, device::Memory::shared)   ? p.shared_passes
                        : device::accesses(s.op_class, device::Memory::global) ? p.lines_per_access
                                                                               : 0;
    out.push_back({s.place, s.op_class, s.insts, mean > 0 && s.spread > 0 ? s.spread / mean : 1});
  }
  return out;
}

// What the models were given, and where it is from.
result::Table counts_table(const models::Inputs& inputs) {
  result::Table table{.name = "counts", .rows = {}};
  for (const models::Symbol& s : models::symbols())
    if (inputs.has(s.member))
      table.rows.push_back(
          {std::string(s.key), inputs.counts.*s.member, std::string(s.unit), inputs.source(s.member).text});
  for (std::size_t i = 0; i < device::op_class_names.size(); ++i)
    if (inputs.counts.mix.insts[i] > 0)
      table.rows.push_back({fmt::format("class.{}.insts", device::op_class_names[i]),
                            inputs.counts.mix.insts[i], std::string("1"),
                            inputs.mix_source(models::mix_symbols()[0], i).text});
  return table;
}

result::KernelResult answer(const std::string& name, const models::counts::Profile& profile,
                            const std::string& origin, const device::Device& device,
                            const PredictOptions& options) {
  models::Inputs inputs = models::parse_counts(options.counts, options.counts_file);
  fill_inputs(inputs, profile, origin, device);
  inputs.counts.trace = trace_of(profile);
  models::complete(inputs, &device);
  if (inputs.source(&C::warp_latency).text.starts_with(origin) && !inputs.has(&C::sampled_latency))
    inputs.set(&C::sampled_latency, models::access_latency(inputs.counts),
               {"derived: hit rates and latencies of the machine"});
  result::KernelResult out =
      models::answer(name, inputs, options.model, models::parse_options(options.rule, options.resios));
  out.tables.push_back(counts_table(inputs));
  out.metrics.set("occupancy.theoretical", profile.occupancy.ratio);
  out.limiter = device::name_of(profile.occupancy.limit);
  return out;
}

}  // namespace

std::string to_text(const PredictOptions& o) {
  return nlohmann::json{
      {"model", o.model}, {"rule", o.rule},       {"counts", o.counts}, {"counts_file", o.counts_file},
      {"whole", o.whole}, {"effects", o.effects}, {"resios", o.resios}}
      .dump();
}

PredictOptions parse_predict_options(std::string_view text) {
  PredictOptions o;
  if (text.empty()) return o;
  try {
    const auto j = nlohmann::json::parse(text);
    o.model = j.at("model"), o.rule = j.at("rule"), o.counts = j.at("counts"),
    o.counts_file = j.at("counts_file");
    o.whole = j.at("whole"), o.effects = j.at("effects");
    o.resios = j.at("resios");
  } catch (const nlohmann::json::exception& e) {
    throw Error(ExitCode::bad_input, "run-config", fmt::format("predict: {}", e.what()));
  }
  return o;
}

bool PredictionKernels::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  sink_.ended(job, predict(job), at_ns);
  return true;
}

// Blocks outside of the sample; returns their warp instructions, 0 if nobody has executed them.
std::uint64_t PredictionKernels::run_rest(const KernelJob& job, std::uint64_t rest,
                                          double instructions_a_block) {
  if (rest == 0) return 0;
  if (job.launch && !options_.predict.effects &&
      instructions_a_block * static_cast<double>(rest) > static_cast<double>(worth_executing))
    return 0;
  std::uint64_t sum = 0;
  bool known = true;
  for (const auto& [first, count] : study_->left_out()) {
    if (job.recording || job.launch) {
      sum += blocks_.run(job, first, count);
    } else {
      const auto recorded = job.source->recorded_instructions(first, count);
      known = known && recorded.has_value();
      sum += recorded.value_or(0);
    }
  }
  return known ? sum : 0;
}

// All SMs, or as many as are worth it.
cache::Study& PredictionKernels::choose_study(const models::counts::CountedLaunch& source,
                                              const device::Occupancy& fit, SampledLaunch& launch) {
  std::uint32_t sms = device_.sm.count;
  if (!options_.predict.whole) {
    launch.enough_instructions = enough_instructions;
    if (source.block_count() > few_blocks && !may_wait_for_others(source.module(), source.function())) {
      launch.first_block_instructions = run_first_block(source, options_.interrupt);
      launch.first_block = 1;
      const double at_once =
          static_cast<double>(std::max<std::uint64_t>(launch.first_block_instructions, 1)) *
          fit.blocks_per_sm;
      sms = static_cast<std::uint32_t>(
          std::clamp(most_instructions_at_once / at_once, 1.0, static_cast<double>(sms)));
    }
    launch.least_blocks = std::uint64_t{fit.blocks_per_sm} * sms;
  }
  // Contents of L2 stay from launch to launch, as long as the same SMs are studied.
  if (study_ == nullptr || studied_sms_ != sms) {
    const double share = static_cast<double>(sms) / device_.sm.count;
    study_ = std::make_unique<cache::Study>(with_share(device_, share),
                                            study_options(options_.cache.seed, sms, device_));
  }
  studied_sms_ = sms;
  return *study_;
}

result::KernelResult PredictionKernels::predict(const KernelJob& job) {
  const stream::WarpSource& source = job.read();
  const device::Occupancy fit = timing::fit(device_, source, registers_of(options_, source.function()));
  const models::counts::CountedLaunch counted(source, device_);
  SampledLaunch launch{{.source = &counted,
                        .occupancy = fit,
                        .buffers = {},
                        .interrupt = options_.interrupt,
                        .max_cycles = options_.max_cycles,
                        .max_bytes = memory_.host_room(),
                        .waits_for_others = blocks_.waiting()}};
  cache::Study& used = choose_study(counted, fit, launch);
  used.run(launch);
  const std::uint64_t counted_blocks =
      launch.first_block + (used.marks().empty() ? 0 : used.marks().back().blocks);
  const std::uint64_t rest = source.block_count() - std::min(counted_blocks, source.block_count());
  const std::uint64_t rest_instructions = run_rest(job, rest, counted.spread().mean);
  const models::counts::Profile profile = models::counts::profile_of(
      {.launch = counted,
       .study = used,
       .device = device_,
       .occupancy = fit,
       .unstudied_blocks = launch.first_block,
       .unstudied_instructions = launch.first_block_instructions,
       .rest_blocks = rest,
       .rest_instructions = rest_instructions,
       .lowering =
           options_.lowering && source.code_of(source.function()) == nullptr && !source.function().machine});
  result::KernelResult out =
      answer(source.function().name, profile, origin_of(profile), device_, options_.predict);
  out.metrics.set("gpu.instructions.warp",
                  static_cast<std::uint64_t>(profile.sampled_instructions + rest_instructions));
  out.metrics.set("counts.blocks", profile.sampled_blocks);
  if (rest != 0 && rest_instructions == 0) out.metrics.set("counts.error", profile.error);
  return out;
}

result::KernelResult predict_static(const device::Device& device, const StaticKernel& kernel,
                                    const PredictOptions& options) {
  const std::uint32_t registers =
      std::max(1u, kernel.registers_override != 0 ? kernel.registers_override : kernel.function.registers);
  check_launch(device, kernel.module, kernel.function, kernel.grid, kernel.block);
  const std::uint64_t shared = std::uint64_t{kernel.function.shared_bytes} + kernel.dynamic_shared_bytes;
  const device::Occupancy fit = timing::fit(
      device, kernel.function, static_cast<std::uint32_t>(kernel.block.count()), registers, shared);
  const models::counts::StaticProfile s = models::counts::static_profile(
      {kernel.module, kernel.function, kernel.grid, kernel.block, fit, kernel.trips, kernel.lowering},
      device);
  const std::string assumed = fmt::format(
      "not executed: {} loops taken to run {:g} times, {} branches not taken, {} accesses taken to lie apart",
      s.assumed_loops, kernel.trips, s.assumed_branches, s.unknown_accesses);
  result::KernelResult out = answer(kernel.function.name, s.profile, "static", device, options);
  for (result::Table& table : out.tables) {
    if (table.name != "remarks") continue;
    const auto remark = [&](std::string text) {
      table.rows.insert(table.rows.begin(), {std::string("counts"), std::move(text)});
    };
    if (!s.complete)
      remark(fmt::format("Only the first {} instructions of a warp are counted: its loops run longer.",
                         s.instructions));
    remark(fmt::format("The kernel was {}. Every load is taken to come from DRAM.", assumed));
  }
  out.not_modelled.emplace_back("D-PREDICT-16");
  out.demangled = out.name;
  out.grid[0] = kernel.grid.x, out.grid[1] = kernel.grid.y, out.grid[2] = kernel.grid.z;
  out.block[0] = kernel.block.x, out.block[1] = kernel.block.y, out.block[2] = kernel.block.z;
  out.registers = registers;
  out.shared_bytes = static_cast<std::uint32_t>(shared);
  return out;
}

}  // namespace simtlab::gpu
