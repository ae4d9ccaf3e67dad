#include "studies/predict/nest_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simtlab::studies {
namespace {

using C = models::Counts;

// Creation of a context as Resios measured it on a GTX 460 (65 ms once the driver is warm); newer GPUs take
// as long or longer.
constexpr double context_ns = 65e6;

// The instructions of the nest in the order of its blocks, with what each access touches.
std::vector<models::TraceStep> trace_of(const models::loops::Description& nest,
                                        const models::loops::NestCounts& n) {
  std::vector<models::TraceStep> out;
  for (const models::loops::BlockCode& b : n.code.blocks)
    for (const models::loops::Instruction& i : nest.blocks[static_cast<std::size_t>(b.block)].instructions) {
      if (i.op_class < 0 || b.executions <= 0) continue;
      models::TraceStep& step = out.emplace_back();
      step.op_class = static_cast<device::OpClass>(i.op_class);
      step.insts = i.count * b.executions;
      step.ilp = b.ilp / n.code.ilp;
      step.place = fmt::format("line {}", i.line);
      if (i.access >= 0) {
        const models::loops::Access& a = nest.accesses[static_cast<std::size_t>(i.access)];
        step.place =
            fmt::format("{} {}, line {}", a.store ? "store" : "load",
                        a.input < 0 ? "thread" : nest.inputs[static_cast<std::size_t>(a.input)].name, a.line);
        const auto p = std::ranges::find(n.patterns, i.access, &models::loops::Pattern::access);
        step.access = i.access;
        if (p != n.patterns.end()) step.spread = p->lines / n.lines_per_access;
      }
      if (i.more > 0) {
        models::TraceStep more = step;
        more.op_class = static_cast<device::OpClass>(i.more_class), more.insts = i.more * b.executions;
        out.push_back(std::move(more));
      }
    }
  return out;
}

double time_of(const result::KernelResult& k, const std::string& model) {
  return k.metrics.get(fmt::format("predict.{}.time", model)).value_or(0);
}

}  // namespace

models::Inputs inputs_of(const models::loops::Description& nest, const models::loops::Shape& shape,
                         const models::loops::NestCounts& n, const device::Device& device,
                         const models::Inputs& given) {
  models::Inputs in = given;
  in.counts.trace = trace_of(nest, n);
  const std::string nest_source = shape.measured ? "loop nest (counted in a run)" : "loop nest (evaluated)";
  const auto set = [&](double C::*member, double value) {
    if (in.has(member)) return;  // given by hand
    const models::Symbol& s = models::symbol(member);
    in.set(member, std::clamp(s.kind == models::Kind::whole ? std::ceil(value) : value, s.minimum, s.maximum),
           {nest_source});
  };
  const double blocks = static_cast<double>(n.mapping.blocks()), sms = device.sm.count;
  set(&C::blocks, blocks);
  set(&C::threads_per_block, n.mapping.threads());
  set(&C::active_sms, std::min(blocks, sms));
  set(&C::active_blocks_per_sm,
      std::min<double>(std::max(n.occupancy.blocks_per_sm, 1u), std::ceil(blocks / std::min(blocks, sms))));
  const double memory = n.coalesced + n.uncoalesced;
  set(&C::comp_insts, std::max(0.0, n.code.instructions - memory));
  set(&C::coal_mem_insts, n.coalesced);
  set(&C::uncoal_mem_insts, n.uncoalesced);
  set(&C::uncoal_per_mw, n.lines_per_uncoalesced);
  set(&C::synch_insts, n.barriers);
  if (n.shared_insts > 0) set(&C::shared_passes, n.shared_passes);
  if (n.bytes_per_access > 0) set(&C::load_bytes_per_warp, n.bytes_per_access);
  for (std::size_t c = 0; c < n.code.mix.size(); ++c)
    if (std::isnan(in.counts.mix.insts[c])) in.set_insts(c, n.code.mix[c], {nest_source});
  if (n.optimised) set(&C::fma_insts, n.fused);
  set(&C::ilp, std::max(1.0, n.code.ilp));
  set(&C::mlp, std::max(1.0, n.code.memory_parallelism));
  set(&C::avg_trans_warp, n.lines_per_access);
  set(&C::lines_per_access, n.lines_per_access);
  set(&C::active_lanes, n.active_lanes);
  set(&C::l1_bytes, n.l1_bytes);
  set(&C::l2_bytes, n.l2_bytes);
  set(&C::dram_bytes, n.dram_bytes);
  set(&C::useful_bytes, n.useful_bytes);
  // Bytes per level are given: the ratio is only for latencies
  if (n.l1_bytes > 0) set(&C::l1_miss_ratio, n.chain_miss_ratio);
  // Blocks that run at once go through the nest in step: what none had before all wait for, however many
  // share it afterwards.
  const double waves = blocks / (sms * std::max(n.occupancy.blocks_per_sm, 1u));
  if (n.l2_bytes > 0) set(&C::l2_miss_ratio, std::max(n.dram_bytes / n.l2_bytes, 1 / std::max(1.0, waves)));
  double threads = 1;
  for (const int l : n.mapping.loops) threads *= shape.trips[static_cast<std::size_t>(l)];
  set(&C::flops, n.code.flops * threads);
  set(&C::chain_cycles, n.chain_cycles);
  set(&C::chain_accesses, n.chain_accesses);
  set(&C::o_cfdiv, 0);
  set(&C::o_bank, n.shared_insts * (n.shared_passes - 1) * n.warps / std::min(blocks, sms));
  set(&C::h2d_bytes, n.h2d_bytes);
  set(&C::d2h_bytes, n.d2h_bytes);
  models::complete(in, &device);
  return in;
}

models::loops::Candidate rated(const models::loops::Description& nest, const models::loops::Shape& shape,
                               models::loops::NestCounts counts, const device::Device& device,
                               const std::string& wanted, const models::Options& options,
                               const models::Inputs& given) {
  models::loops::Candidate out;
  out.counts = std::move(counts);
  const models::Inputs inputs = inputs_of(nest, shape, out.counts, device, given);
  std::vector<std::string> order = {"throughput", "resios", "mwp-cwp-2012", "mwp-cwp", "roofline"};
  if (wanted != "all") order.insert(order.begin(), wanted);
  for (const std::string& name : order)
    for (const models::Model* m : models::models()) {
      if (out.time_ns > 0 || m->name() != name || !models::missing(inputs, *m).empty()) continue;
      out.time_ns = models::predict(*m, inputs.counts, options).time_ns;
      out.model = name;
    }
  return out;
}

std::vector<double> idle_of(const models::loops::Description& nest, const models::Inputs& inputs,
                            const models::Options& options) {
  if (!models::missing(inputs, models::resios_model()).empty()) return {};
  std::vector<double> out(nest.accesses.size());
  for (const models::Hotspot& h : models::resios_model().evaluate(inputs.counts, options).hotspots)
    if (h.access >= 0) out[static_cast<std::size_t>(h.access)] += h.idle_share;
  return out;
}

double l2_peak(const models::Counts& c) { return c.l2_bytes_per_cycle * c.freq * 1e9; }
double dram_peak(const models::Counts& c) { return c.mem_peak_bandwidth * 1e9; }

std::optional<double> possible_rate(double bytes, double ns, double peak) {
  constexpr double rounding = 1e-6;  // a model may meet the peak exactly
  const double rate = bytes / ns * 1e9;
  if (!std::isfinite(rate) || rate > peak * (1 + rounding))
    return std::nullopt;  // unknown bytes are NaN; an unknown peak refuses nothing
  return std::min(rate, std::isnan(peak) ? rate : peak);
}

std::vector<models::loops::Worth> worth_of(const result::KernelResult& result,
                                           const models::loops::NestCounts& counts,
                                           const device::Device& device, const std::string& first,
                                           const models::Inputs& given, const models::Counts& evaluated) {
  std::vector<models::loops::Worth> out;
  const auto or_given = [&](double C::*member, double unit, double value) {
    return given.has(member) ? given.counts.*member * unit : value;
  };
  std::vector<std::string> names = models::model_names();
  std::ranges::stable_partition(names, [&](const std::string& n) { return n == first; });
  for (const std::string& name : names) {
    const double kernel = time_of(result, name);
    if (kernel <= 0) continue;
    models::loops::Worth w;
    w.model = name;
    w.kernel_ns = kernel;
    w.l2_rate = possible_rate(evaluated.l2_bytes, kernel, l2_peak(evaluated));
    w.dram_rate = possible_rate(evaluated.dram_bytes, kernel, dram_peak(evaluated));
    w.launch_ns = or_given(&C::launch_overhead, 1e3, device.host.launch_overhead_ns);
    const auto copy = [&](double bytes, double bandwidth) {
      return bytes > 0 && bandwidth > 0
                 ? bytes / bandwidth * 1e9 + or_given(&C::copy_latency, 1e3, device.host.copy_latency_ns)
                 : 0;
    };
    w.transfer_ns = copy(or_given(&C::h2d_bytes, 1, counts.h2d_bytes),
                         or_given(&C::h2d_bandwidth, 1e9, device.host.copy_bandwidth_h2d)) +
                    copy(or_given(&C::d2h_bytes, 1, counts.d2h_bytes),
                         or_given(&C::d2h_bandwidth, 1e9, device.host.copy_bandwidth_d2h));
    w.context_ns = or_given(&C::context_init, 1e6, context_ns);
    // Arithmetic alone: every instruction at the rate of its class.
    double cycles = 0;
    for (std::size_t c = 0; c < counts.code.mix.size(); ++c) {
      if (device::accesses_memory(static_cast<device::OpClass>(c)) || device.throughput[c] <= 0) continue;
      cycles = std::max(cycles, counts.code.mix[c] * 32 / device.throughput[c]);
    }
    const double issue =
        counts.code.instructions / std::max(1.0, device.sm.issuing_schedulers() * device.sm.issue_width);
    w.floor_ns = std::max(cycles, issue) * counts.warps / device.sm.count / device.sm_clock_hz * 1e9;
    out.push_back(std::move(w));
  }
  return out;
}

}  // namespace simtlab::studies
