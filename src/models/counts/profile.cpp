#include "models/counts/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stream/coalescer.h"

namespace simtlab::models::counts {
namespace {

using ptx::OpClass;
using timing::InstInfo;

double over(double part, double all) { return all > 0 ? part / all : 0; }

bool is_memory(OpClass c) { return ptx::accesses(c, device::Memory::global); }

// Sums over the instructions of the sample.
struct Sums {
  double executed = 0, threads = 0, flops = 0, fma = 0, barriers = 0;
  double requests = 0, sectors = 0, lines = 0, bytes = 0;
  double coalesced = 0, uncoalesced = 0, uncoalesced_sectors = 0;  // requests; sectors of one
  double shared = 0, passes = 0, ideal_passes = 0;
  double read_sectors = 0, missed_sectors = 0, l2_reads = 0, l2_misses = 0;
  std::array<double, device::op_class_names.size()> classes{};
  std::vector<CodeStep> code;
};

class Adder {
 public:
  Adder(const Measured& m, const timing::Lowering& lowering, timing::Programs& programs)
      : m_(m), lowering_(lowering), programs_(programs) {}

  Sums run() {
    for (const auto& [function, counts] : m_.launch.functions()) {
      const timing::Program& program = *programs_.of(*function);
      for (std::uint32_t pc = 0; pc < counts->at.size(); ++pc)
        if (counts->at[pc].executed != 0) add(*function, program, pc, counts->at[pc]);
    }
    return s_;
  }

 private:
  void add(const ptx::Function& function, const timing::Program& program, std::uint32_t pc,
           const InstCounts& c) {
    const InstInfo& info = program[pc];
    const auto executed = static_cast<double>(c.executed);
    s_.executed += executed;
    s_.threads += static_cast<double>(c.threads);
    s_.flops += static_cast<double>(c.threads) * info.flops;
    if (is_fused(*info.inst)) s_.fma += executed;
    if (info.kind == timing::Kind::barrier) s_.barriers += executed;
    add_machine_classes(info, lowering_(*info.inst), executed, s_.classes);
    if (c.shared_looks != 0) add_shared(c, executed);
    const cache::AccessCounts* accesses = m_.study.counts(function, pc);
    double spread = over(static_cast<double>(c.passes), static_cast<double>(c.shared_looks));
    if (is_memory(info.op_class) && accesses != nullptr)
      spread = over(static_cast<double>(accesses->lines), static_cast<double>(accesses->requests));
    add_code(m_.launch.module(), info, lowering_(*info.inst), executed, spread, s_.code);
    if (is_memory(info.op_class) && accesses != nullptr && accesses->requests != 0)
      add_accesses(info, c, *accesses);
  }

  void add_shared(const InstCounts& c, double executed) {
    const double looks = static_cast<double>(c.shared_looks);
    s_.shared += executed;
    s_.passes += executed * static_cast<double>(c.passes) / looks;
    s_.ideal_passes += executed * static_cast<double>(c.ideal_passes) / looks;
  }

  void add_accesses(const InstInfo& info, const InstCounts& c, const cache::AccessCounts& a) {
    // Blocks that the study has not seen accessed what the others did.
    const auto blocks = static_cast<double>(m_.launch.spread().blocks),
               scale = over(blocks, blocks - static_cast<double>(m_.unstudied_blocks));
    const double requests = static_cast<double>(a.requests) * scale,
                 sectors = static_cast<double>(a.sectors) * scale;
    s_.requests += requests;
    s_.sectors += sectors;
    s_.lines += static_cast<double>(a.lines) * scale;
    s_.bytes += static_cast<double>(a.bytes) * scale;
    const auto looks = static_cast<double>(c.coalesced + c.uncoalesced);
    const double uncoalesced = requests * over(static_cast<double>(c.uncoalesced), looks);
    s_.uncoalesced += uncoalesced;
    s_.coalesced += requests - uncoalesced;
    s_.uncoalesced_sectors +=
        uncoalesced * over(static_cast<double>(c.uncoalesced_sectors), static_cast<double>(c.uncoalesced));
    if (const device::Access access = device::traits(info.op_class).access;
        access == device::Access::store || access == device::Access::atomic)
      return;
    s_.read_sectors += sectors;
    s_.missed_sectors +=
        sectors *
        (a.l1.accesses == 0 ? 1 : over(static_cast<double>(a.l1.misses), static_cast<double>(a.l1.accesses)));
    s_.l2_reads += static_cast<double>(a.l2_accesses);
    s_.l2_misses += static_cast<double>(a.l2_misses);
  }

  const Measured& m_;
  const timing::Lowering& lowering_;
  timing::Programs& programs_;
  Sums s_;
};

void follow_ways(Profile& p, const Measured& m, timing::Programs& programs) {
  const timing::Latencies latencies(m.device);
  const LoadLatency load_latency = [&](const ptx::Function& function, std::uint32_t pc) {
    if (function.code[pc].op_class == OpClass::atomic)
      return m.device.latency[static_cast<std::size_t>(OpClass::atomic)];
    const cache::AccessCounts* a = m.study.counts(function, pc);
    return a == nullptr ? m.device.l1.latency
                        : over(static_cast<double>(a->waited), static_cast<double>(a->requests));
  };
  Dependences sum;
  for (const WarpWay& way : m.launch.ways()) sum.add(follow(way, programs, latencies, load_latency));
  set_dependences(p, sum);
}

// What the rest of the grid moves: as much for an instruction as the second half of the sample.
double with_rest(const Measured& m, double rest_instructions, std::uint64_t cache::Study::Mark::*what) {
  const auto& marks = m.study.marks();
  if (marks.empty()) return 0;
  const auto& last = marks.back();
  cache::Study::Mark middle;
  for (const auto& mark : marks)
    if (2 * mark.warp_instructions <= last.warp_instructions) middle = mark;
  if (middle.warp_instructions == last.warp_instructions) middle = {};
  const double pace = over(static_cast<double>(last.*what - middle.*what),
                           static_cast<double>(last.warp_instructions - middle.warp_instructions));
  return static_cast<double>(last.*what) + pace * rest_instructions;
}

void set_accesses(Profile& p, const Sums& s, double warps) {
  p.global_insts = s.requests / warps;
  p.coalesced_insts = s.coalesced / warps;
  p.uncoalesced_insts = s.uncoalesced / warps;
  p.sectors_per_uncoalesced = over(s.uncoalesced_sectors, s.uncoalesced);
  p.sectors_per_access = over(s.sectors, s.requests);
  p.lines_per_access = over(s.lines, s.requests);
  p.bytes_per_access = over(s.bytes, s.requests);
  p.shared_insts = s.shared / warps;
  p.shared_passes = over(s.passes, s.shared);
  p.shared_passes_ideal = over(s.ideal_passes, s.shared);
  p.l1_miss_ratio = over(s.missed_sectors, s.read_sectors);
  p.l2_miss_ratio = over(s.l2_misses, s.l2_reads);
}

}  // namespace

void add_machine_classes(const InstInfo& info, const timing::Lowered& lowered, double executed,
                         std::array<double, device::op_class_names.size()>& classes) {
  const auto add = [&](OpClass op_class, unsigned count) {
    classes[static_cast<std::size_t>(op_class)] += executed * count;
  };
  if (lowered.count == 0) return;
  if (lowered.count == 1) return add(lowered.op_class, 1);
  add(lowered.part, info.switch_at);
  add(lowered.rated > 0 ? lowered.rest : lowered.op_class, lowered.count - info.switch_at);
}

void add_code(const ptx::Module& module, const InstInfo& info, const timing::Lowered& lowered,
              double executed, double spread, std::vector<CodeStep>& code) {
  const auto file = module.files.find(info.inst->file);
  const bool machine = module.late || (!module.functions.empty() && module.functions.front().machine);
  const std::string at =
      file == module.files.end()
          ? (machine ? fmt::format("0x{:04x}", info.inst->line) : fmt::format("PTX line {}", info.inst->line))
          : fmt::format("{}:{}", file->second.substr(file->second.find_last_of('/') + 1),
                        info.inst->source_line);
  const auto add = [&](OpClass op_class, unsigned count) {
    code.push_back({fmt::format("{} {}", at, device::name_of(op_class)), op_class, executed * count, spread});
  };
  if (lowered.count == 0) return;
  if (lowered.count == 1) return add(lowered.op_class, 1);
  add(lowered.part, info.switch_at);
  add(lowered.rated > 0 ? lowered.rest : lowered.op_class, lowered.count - info.switch_at);
}

bool is_fused(const ptx::Inst& inst) {
  return inst.op == ptx::Op::fma || (inst.op == ptx::Op::mad && ptx::is_float(inst.type));
}

void set_dependences(Profile& p, const Dependences& sum) {
  if (sum.insts == 0) return;
  p.ilp = std::max(1.0, sum.machine_insts / sum.groups);
  p.mlp = std::max(1.0, over(sum.loads, sum.load_groups));
  // Long ways are known in part, and no way is the mean one: the time goes with the instructions.
  const double scale = p.ptx_insts / sum.insts;
  p.warp_latency = sum.latency * scale, p.warp_memory_wait = sum.memory_wait * scale;
}

Profile profile_of(const Measured& m) {
  Profile p;
  const stream::WarpSource& launch = m.launch;
  p.blocks = launch.block_count();
  p.threads_per_block = launch.threads_per_block();
  p.warps_per_block = launch.warps_per_block();
  p.occupancy = m.occupancy;
  const BlockSpread& spread = m.launch.spread();
  p.sampled_blocks = spread.blocks;
  p.sampled_instructions = m.launch.warp_instructions();

  const timing::PipeTable pipes(m.device);
  const timing::Lowering lowering(m.device, m.lowering);
  timing::Programs programs;
  programs.begin(launch.function(), pipes, lowering);
  const Sums s = Adder(m, lowering, programs).run();
  const double warps = std::max(1.0, static_cast<double>(spread.blocks) * p.warps_per_block);
  // Of all warps of the grid, as far as it is known what they execute.
  const double rest = m.rest_instructions != 0 ? static_cast<double>(m.rest_instructions)
                                               : spread.mean * static_cast<double>(m.rest_blocks);
  // The grid's work over the sample's
  const double whole = over(s.executed + rest, s.executed);
  const double all_warps = static_cast<double>(p.blocks) * p.warps_per_block;
  // A warp of the grid over one of the sample
  const double per_warp = whole * warps / all_warps;
  for (std::size_t i = 0; i < p.class_insts.size(); ++i) p.class_insts[i] = s.classes[i] / warps * per_warp;
  p.ptx_insts = s.executed / warps * per_warp;
  p.code = s.code;
  for (CodeStep& step : p.code) step.insts *= per_warp / warps;
  p.active_lanes = over(s.threads, s.executed);
  p.fma_insts = s.fma / warps * per_warp;
  p.sync_insts = s.barriers / warps * per_warp;
  set_accesses(p, s, warps / per_warp);
  follow_ways(p, m, programs);
  p.warp_spread = std::max(1.0, over(static_cast<double>(spread.longest_warp), p.ptx_insts));

  p.flops = s.flops * whole;
  p.l1_bytes = s.sectors * whole * stream::sector_bytes;
  const double unstudied = rest + static_cast<double>(m.unstudied_instructions);
  p.l2_bytes = with_rest(m, unstudied, &cache::Study::Mark::l2);
  p.dram_bytes = with_rest(m, unstudied, &cache::Study::Mark::dram_read) +
                 with_rest(m, unstudied, &cache::Study::Mark::dram_write);
  p.useful_bytes = std::min(p.dram_bytes, s.bytes * whole);
  if (m.rest_blocks != 0 && m.rest_instructions == 0 && spread.blocks > 1) {
    const double n = static_cast<double>(spread.blocks),
                 left = static_cast<double>(m.rest_blocks) / static_cast<double>(p.blocks);
    p.error = over(1.96 * std::sqrt(spread.variance() / n) * std::sqrt(left), spread.mean);
  }
  return p;
}

}  // namespace simtlab::models::counts
