#include "models/loops/counts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/loops/description.h"
#include "stream/coalescer.h"

namespace simtlab::models::loops {
namespace {

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

class Counter {
 public:
  Counter(const Description& nest, const Shape& shape, const device::Device& device, NestCounts& out)
      : nest_(nest), shape_(shape), device_(device), out_(out) {}

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
    shares();
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
      t.l2 = cached ? t.l1 / std::max(p.block_reuse, p.step_reuse) : t.l1;
      t.dram = t.l2 / p.wave_reuse;
      through_l2[side_of(a)] += t.l2;
      beyond_l2[side_of(a)] += t.dram;
      requests += p.requests;
      lines += p.requests * p.lines;
      bytes += p.requests * a.bytes * out_.active_lanes;
      // Uncoalesced: more lines than the bytes of a warp fill, beyond one for being out of step with them.
      if (p.lines > std::ceil(a.bytes * 32.0 / stream::line_bytes) + 1) {
        uncoalesced += p.requests;
        uncoalesced_lines += p.requests * p.lines;
      }
      out_.l1_bytes += t.l1;
      out_.l2_bytes += t.l2;
      out_.traffic.push_back(t);
    }
    // An array comes at least once; no more often, if all of them fit into L2. Its accesses share what it
    // brings.
    double written = 0;
    std::vector<double> scale(beyond_l2.size(), 1);
    for (std::size_t i = 0; i < beyond_l2.size(); ++i) {
      if (beyond_l2[i] == 0) continue;
      const double once = inputs_[i / 2];
      const double sum =
          std::min(through_l2[i],
                   all_inputs <= static_cast<double>(device_.l2.bytes) ? once : std::max(once, beyond_l2[i]));
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

  // Of each access, the time of the level that needs longest for it.
  void shares() {
    double sum = 0;
    const double clock = device_.sm_clock_hz, sms = device_.sm.count;
    for (std::size_t i = 0; i < out_.traffic.size(); ++i) {
      Traffic& t = out_.traffic[i];
      const double passes = out_.patterns[i].requests * out_.patterns[i].lines / sms;
      const double l2 = device_.l2.bytes_per_cycle > 0 ? t.l2 / device_.l2.bytes_per_cycle : 0;
      const double dram = device_.dram.bandwidth > 0 ? t.dram / (device_.dram.bandwidth / clock) : 0;
      t.share = std::max({passes, l2, dram});
      sum += t.share;
    }
    for (Traffic& t : out_.traffic) t.share = sum > 0 ? t.share / sum : 0;
  }

  // Share of the accesses of a load that find what the warp itself brought before.
  double misses(int access) const {
    const auto p = std::ranges::find(out_.patterns, access, &Pattern::access);
    return p == out_.patterns.end() || !device_.l1_caches_global ? 1 : 1 / std::max(1.0, p->step_reuse);
  }

  void chain() {
    double waits = 0;
    for (const BlockCode& b : out_.code.blocks) {
      double loads = 0, miss = 0;
      for (const Instruction& i : nest_.blocks[at(b.block)].instructions)
        if (i.access >= 0 && !nest_.accesses[at(i.access)].store && nest_.accesses[at(i.access)].input >= 0)
          miss = std::max(miss, misses(i.access));
      for (const Instruction& i : nest_.blocks[at(b.block)].instructions)
        if (i.access >= 0 && !nest_.accesses[at(i.access)].store && nest_.accesses[at(i.access)].input >= 0)
          ++loads;
      const double in_turn = loads > 0 ? loads / b.memory_parallelism : 0;
      out_.chain_accesses += in_turn * b.executions;
      waits += in_turn * b.executions * miss;
      out_.chain_cycles +=
          std::max(b.cycles - in_turn * device_.latency[device::index(device::OpClass::load)],
                   b.instructions) *
          b.executions;
    }
    if (out_.chain_accesses > 0) out_.chain_miss_ratio = std::min(1.0, waits / out_.chain_accesses);
  }

  const Description& nest_;
  const Shape& shape_;
  const device::Device& device_;
  NestCounts& out_;
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

}  // namespace simtlab::models::loops
