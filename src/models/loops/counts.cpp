#include "models/loops/counts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/loops/description.h"
#include "stream/coalescer.h"

namespace simtlab::models::loops {
namespace {

constexpr double number_instructions = 2;  // products, and sums, for the number of a thread in its block
constexpr double index_instructions = 4;   // of a step of a copy to shared memory: place there, place here
// Of a read there: the distance of the element from the tile's begin, and its place. The division by a row's
// length is a product.
constexpr double read_instructions = 4, row_products = 2;

// What an input holds of the nest's data: from the run, else from the addresses.
double bytes_of_input(const Description& nest, std::size_t input, const std::vector<Pattern>& patterns,
                      const std::vector<Touched>& touched) {
  if (!touched.empty() && touched[input].high > touched[input].low)
    return static_cast<double>(touched[input].high - touched[input].low);
  std::uint64_t most = 0;
  for (const Pattern& p : patterns)
    if (nest.accesses[at(p.access)].input == static_cast<int>(input)) most = std::max(most, p.footprint);
  return static_cast<double>(most);
}

// Reloads come from L1, or from where the device keeps local memory; independent ones wait together.
double reload_cycles(const Code& code, const device::Device& device) {
  return code.reloads * device.latency[device::index(device::OpClass::load)] / std::max(1.0, code.ilp);
}

class Counter {
 public:
  Counter(const Description& nest, const Shape& shape, const device::Device& device, NestCounts& out)
      : nest_(nest), shape_(shape), device_(device), out_(out), in_shared_(nest.accesses.size()) {}

  void stage(const Tile& t) {
    for (const int a : t.accesses) in_shared_[at(a)] = true;
  }

  void run(const std::vector<Touched>& touched) {
    double threads = 1;
    for (const int l : out_.mapping.loops) threads *= shape_.trips[at(l)];
    const double warps_per_block = std::ceil(out_.mapping.threads() / 32.0);
    out_.warps = warps_per_block * static_cast<double>(out_.mapping.blocks());
    out_.active_lanes = std::min(32.0, std::max(1.0, threads / out_.warps));
    for (std::size_t i = 0; i < nest_.inputs.size(); ++i)
      inputs_.push_back(bytes_of_input(nest_, i, out_.patterns, touched));
    transfers();
    traffic();
    chain();
  }

 private:
  static std::size_t side_of(const Access& a) { return at(a.input) * 2 + (a.store ? 1u : 0u); }

  void transfers() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      bool read = false, written = false;
      for (const Pattern& p : out_.patterns) {
        const Access& a = nest_.accesses[at(p.access)];
        if (a.input == static_cast<int>(i)) (a.store ? written : read) = true;
      }
      if (read) out_.h2d_bytes += inputs_[i];
      if (written) out_.d2h_bytes += inputs_[i];
      if (read || written) out_.useful_bytes += inputs_[i] * (read && written ? 2 : 1);
    }
    // Of an array of unknown size, every thread's element.
    for (const Pattern& p : out_.patterns)
      if (const Access& a = nest_.accesses[at(p.access)]; inputs_[at(a.input)] == 0)
        out_.useful_bytes += p.requests * out_.active_lanes * a.bytes / p.parts;
  }

  // The reuse that the caches find: within a block and from step to step in L1, between the blocks that run
  // at once in L2.
  void traffic() {
    double all_inputs = 0;
    for (const double b : inputs_) all_inputs += b;
    double requests = 0, lines = 0, bytes = 0, uncoalesced_lines = 0, uncoalesced = 0;
    // Of each array, reads and writes
    std::vector<double> through_l2(inputs_.size() * 2), beyond_l2(inputs_.size() * 2);
    for (const Pattern& p : out_.patterns) {
      const Access& a = nest_.accesses[at(p.access)];
      Traffic t;
      t.l1 = p.requests * p.sectors * stream::sector_bytes;
      const bool cached = !a.store && device_.l1_caches_global;
      t.l2 = cached ? t.l1 / std::max({p.block_reuse, p.step_reuse, p.near_reuse}) : t.l1;
      t.dram = t.l2 / p.wave_reuse;
      through_l2[side_of(a)] += t.l2;
      beyond_l2[side_of(a)] += t.dram;
      requests += p.requests;
      lines += p.requests * p.lines;
      bytes += p.requests * a.bytes / p.parts * out_.active_lanes;
      // Uncoalesced: more lines than the bytes of a warp fill, beyond one for being out of step with them.
      if (p.lines > std::ceil(a.bytes * 32.0 / stream::line_bytes) + 1) {
        uncoalesced += p.requests;
        uncoalesced_lines += p.requests * p.lines;
      }
      out_.l1_bytes += t.l1;
      out_.l2_bytes += t.l2;
      out_.traffic.push_back(t);
    }
    // Spilled registers are read and written in L1, a line a warp.
    out_.l1_bytes += out_.code.spills * out_.warps * stream::line_bytes;
    // An array comes at least once; no more often, if all of them fit into L2. Its accesses share what it
    // brings. One of unknown size comes as often as it is asked for.
    double written = 0;
    std::vector<double> scale(beyond_l2.size(), 1);
    for (std::size_t i = 0; i < beyond_l2.size(); ++i) {
      if (beyond_l2[i] == 0) continue;
      const double once = inputs_[i / 2];
      const double sum =
          std::min(through_l2[i], once > 0 && all_inputs <= static_cast<double>(device_.l2.bytes)
                                      ? once
                                      : std::max(once, beyond_l2[i]));
      scale[i] = sum / beyond_l2[i];
      (i % 2 == 0 ? out_.dram_bytes : written) += sum;
    }
    for (std::size_t i = 0; i < out_.traffic.size(); ++i)
      out_.traffic[i].dram *= scale[side_of(nest_.accesses[at(out_.patterns[i].access)])];
    // What was written last is still in L2 when the kernel ends.
    out_.dram_bytes += std::max(0.0, written - static_cast<double>(device_.l2.bytes));
    if (requests > 0) {
      out_.lines_per_access = std::max(1.0, lines / requests);
      out_.bytes_per_access = bytes / requests;
    }
    if (uncoalesced > 0) out_.lines_per_uncoalesced = std::max(1.0, uncoalesced_lines / uncoalesced);
    out_.uncoalesced = uncoalesced / out_.warps;
    out_.coalesced = (requests - uncoalesced) / out_.warps;
  }

  // Share of the accesses of a load that find what the warp itself brought before.
  double misses(int access) const {
    const auto p = std::ranges::find(out_.patterns, access, &Pattern::access);
    return p == out_.patterns.end() || !device_.l1_caches_global ? 1 : 1 / std::max(1.0, p->step_reuse);
  }

  void chain() {
    double waits = 0;
    for (const BlockCode& b : out_.code.blocks) {
      double loads = 0, miss = 0, from_shared = 0;
      for (const Instruction& i : nest_.blocks[at(b.block)].instructions)
        if (i.access >= 0 && !nest_.accesses[at(i.access)].store && nest_.accesses[at(i.access)].input >= 0 &&
            !in_shared_[at(i.access)])
          miss = std::max(miss, misses(i.access));
      for (const Instruction& i : nest_.blocks[at(b.block)].instructions)
        if (i.access >= 0 && !nest_.accesses[at(i.access)].store && nest_.accesses[at(i.access)].input >= 0) {
          ++loads;
          if (in_shared_[at(i.access)]) ++from_shared;
        }
      // Loads that wait together wait as long if only one of them goes to memory.
      const double in_turn = loads > 0 ? loads / b.memory_parallelism : 0,
                   short_ones = in_turn - std::min(in_turn, loads - from_shared);
      out_.chain_accesses += (in_turn - short_ones) * b.executions;
      waits += (in_turn - short_ones) * b.executions * miss;
      out_.chain_cycles +=
          (std::max(b.cycles - in_turn * device_.latency[device::index(device::OpClass::load)],
                    b.instructions) +
           short_ones * device_.shared.latency) *
          b.executions;
    }
    out_.chain_cycles += reload_cycles(out_.code, device_);
    if (out_.chain_accesses > 0) out_.chain_miss_ratio = std::min(1.0, waits / out_.chain_accesses);
  }

  const Description& nest_;
  const Shape& shape_;
  const device::Device& device_;
  NestCounts& out_;
  std::vector<bool> in_shared_;  // accesses
  std::vector<double> inputs_;
};

}  // namespace

NestCounts counts_of(const Description& nest, const Shape& shape, const Mapping& mapping,
                     const device::Device& device, const std::vector<Touched>& touched) {
  NestCounts out;
  out.mapping = mapping;
  out.code = code_of(nest, shape, mapping, device);
  out.patterns = patterns(nest, shape, mapping, device);
  out.occupancy = device::occupancy(device, mapping.threads(), std::max(out.code.registers, 16u), 0);
  Counter(nest, shape, device, out).run(touched);
  return out;
}

NestCounts with_code(const Description& nest, const Shape& shape, const NestCounts& plain,
                     const KernelCode& code, const device::Device& device,
                     const std::vector<Touched>& touched) {
  NestCounts out;
  out.mapping = plain.mapping;
  out.occupancy = plain.occupancy;
  out.code = plain.code;
  out.code.mix = code.mix;
  out.code.instructions = code.instructions;
  out.code.memory = code.memory;
  out.code.ilp = code.ilp;
  out.code.memory_parallelism = code.memory_parallelism;
  add_spills(out.code);  // PTX is before the registers are dealt
  out.optimised = true;
  out.fused = code.fused;
  out.working = code.working;
  out.patterns = plain.patterns;
  // Accesses that the optimiser found to be the same, or took apart: the second half of an element asks for
  // sectors that the first one brought.
  double requests = 0;
  for (const Pattern& p : out.patterns) requests += p.requests / plain.warps;
  if (requests > 0)
    for (Pattern& p : out.patterns) {
      const double times = code.memory / requests;
      p.requests *= times;
      if (times > 1) p.block_reuse *= times, p.step_reuse *= times, p.near_reuse *= times, p.parts *= times;
    }
  Counter(nest, shape, device, out).run(touched);
  out.chain_cycles = code.chain_cycles + reload_cycles(out.code, device);
  out.chain_accesses = code.chain_accesses;
  // As many waits for L2 as the accesses of an iteration have together; the others find the line in L1.
  if (code.chain_accesses > 0)
    out.chain_miss_ratio = std::min(1.0, plain.chain_accesses * plain.chain_miss_ratio / code.chain_accesses);
  return out;
}

NestCounts staged(const Description& nest, const Shape& shape, const NestCounts& plain,
                  const std::vector<Tile>& tiles, const device::Device& device,
                  const std::vector<Touched>& touched) {
  using device::OpClass;
  NestCounts out;
  out.mapping = plain.mapping;
  out.code = plain.code;
  out.patterns = plain.patterns;
  Counter counter(nest, shape, device, out);
  const double warps = std::ceil(plain.mapping.threads() / 32.0),
               blocks = static_cast<double>(plain.mapping.blocks());
  double passes = 0, rounds = 0, index_cycles = 0;
  auto& mix = out.code.mix;
  const auto add = [&](OpClass c, double n) {
    mix[device::index(c)] = std::max(0.0, mix[device::index(c)] + n);
  };
  if (!tiles.empty()) {
    add(OpClass::int_mul, number_instructions);
    add(OpClass::int_alu, number_instructions);
    out.code.instructions += 2 * number_instructions;
  }
  for (const Tile& t : tiles) {
    counter.stage(t);
    // Where the block's tile begins in the array
    const auto mapped = static_cast<double>(std::ranges::count_if(t.factors, [&](const auto& f) {
      return std::ranges::find(plain.mapping.loops, f.first) != plain.mapping.loops.end();
    }));
    add(OpClass::int_mul, mapped);
    add(OpClass::int_alu, mapped);
    out.code.instructions += 2 * mapped;
    const unsigned element = nest.accesses[at(t.accesses.front())].bytes;
    for (Pattern& p : out.patterns)
      if (std::ranges::find(t.accesses, p.access) != t.accesses.end()) p.requests = 0;
    // One element a thread and step, in the order in which they lie.
    const TileCopy plan = copy_of(t, element, plain.mapping.threads());
    const double copy = static_cast<double>(plan.rounds * plan.at_once);
    Pattern p;
    p.access = t.accesses.front();
    p.evaluable = true;
    p.requests = copy * warps * blocks;
    p.sectors = static_cast<double>(t.sectors) / (copy * warps);
    p.lines = std::max(1.0, std::ceil(element * 32.0 / stream::line_bytes));
    p.passes = 1;
    p.wave_reuse = t.wave_reuse;
    p.footprint = plain.patterns.empty() ? 0 : t.bytes;
    out.patterns.push_back(p);
    const double loads = t.requests / warps, rows = t.pieces.size() > 1 ? row_products : 0;
    add(OpClass::load, copy - loads);
    add(OpClass::shared, copy + loads);
    add(OpClass::int_alu, copy * index_instructions + loads * (read_instructions + rows));
    add(OpClass::int_mul, (copy + loads) * rows);
    index_cycles += loads * (read_instructions * device.latency[device::index(OpClass::int_alu)] +
                             rows * device.latency[device::index(OpClass::int_mul)]);
    add(OpClass::control, static_cast<double>(plan.rounds));
    add(OpClass::barrier, out.barriers > 0 ? 0 : 1);
    out.barriers = 1;
    out.code.instructions +=
        copy * (3 + index_instructions + rows) + loads * (read_instructions + 2 * rows) + 1;
    out.code.memory += copy - loads;
    out.shared_insts += copy + loads;
    // Copies across the end of a padded row meet one bank twice.
    const bool crosses = t.padded && (t.pieces.front().high - t.pieces.front().low) % (32 * element) != 0;
    passes += copy * (crosses ? 2 : 1) + loads * t.passes;
    rounds += static_cast<double>(plan.rounds);
    out.shared_bytes += t.shared_bytes;
  }
  if (out.shared_insts > 0) out.shared_passes = std::max(1.0, passes / out.shared_insts);
  out.occupancy = device::occupancy(device, plain.mapping.threads(), std::max(plain.code.registers, 16u),
                                    out.shared_bytes);
  counter.run(touched);
  out.optimised = plain.optimised;
  out.fused = plain.fused;
  out.working = plain.working;
  if (plain.optimised) {
    // As much less of the round trips, and more of the cycles, as in the code before the optimiser.
    NestCounts before;
    before.mapping = plain.mapping;
    before.code = plain.code;
    before.patterns = plain.patterns;
    Counter(nest, shape, device, before).run(touched);
    const double left = before.chain_accesses > 0 ? out.chain_accesses / before.chain_accesses : 1;
    out.chain_accesses = plain.chain_accesses * left;
    out.chain_cycles = plain.chain_cycles + plain.chain_accesses * (1 - left) * device.shared.latency;
  }
  // No copy finds its line in L1.
  if (out.chain_accesses + rounds > 0)
    out.chain_miss_ratio =
        (out.chain_accesses * out.chain_miss_ratio + rounds) / (out.chain_accesses + rounds);
  out.chain_accesses += rounds;
  // Reads that do not need each other overlap.
  out.chain_cycles += index_cycles / std::max(1.0, out.code.memory_parallelism) / std::max(1.0, out.code.ilp);
  return out;
}

}  // namespace simtlab::models::loops
