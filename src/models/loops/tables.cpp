#include "models/loops/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/loops/description.h"

namespace simtlab::models::loops {
namespace {

using result::Cell;
using result::Table;

std::uint64_t flag(bool b) { return b ? 1 : 0; }

class Writer {
 public:
  Writer(const Answer& answer, result::KernelResult& out)
      : a_(answer), nest_(answer.nest), best_(answer.candidates.front().counts), out_(out) {}

  void run() {
    mappings();
    accesses();
    blocks();
    staging();
    worth();
    notes();
    metrics();
    for (const char* id : {"D-LOOPS-1", "D-LOOPS-3", "D-LOOPS-4", "D-LOOPS-6", "D-LOOPS-7", "D-LOOPS-8",
                           "D-LOOPS-10", "D-LOOPS-11"})
      out_.not_modelled.emplace_back(id);
  }

 private:
  void keep(Table table) { out_.tables.push_back(std::move(table)); }
  std::string array(const Access& a) const { return a.input < 0 ? "thread" : nest_.inputs[at(a.input)].name; }

  void mappings() {
    Table t{"nest_mappings", {}};
    for (const Candidate& c : a_.candidates) {
      const Mapping& m = c.counts.mapping;
      double lines = 0, requests = 0;
      for (const Pattern& p : c.counts.patterns) {
        lines += p.lines * p.requests;
        requests += p.requests;
      }
      t.rows.push_back({nest_.loops[at(m.loops[0])].name,
                        m.loops.size() > 1 ? Cell(nest_.loops[at(m.loops[1])].name) : Cell(),
                        m.loops.size() > 2 ? Cell(nest_.loops[at(m.loops[2])].name) : Cell(),
                        std::uint64_t{m.block[0]}, std::uint64_t{m.block[1]}, std::uint64_t{m.block[2]},
                        m.grid[0], m.grid[1], m.grid[2], requests > 0 ? lines / requests : 0.0,
                        c.counts.l1_bytes, c.counts.l2_bytes, c.counts.dram_bytes,
                        c.time_ns > 0 ? Cell(c.time_ns) : Cell(), c.model, c.counts.occupancy.ratio});
    }
    keep(std::move(t));
  }

  void accesses() {
    Table t{"nest_accesses", {}};
    for (std::size_t i = 0; i < best_.patterns.size(); ++i) {
      const Pattern& p = best_.patterns[i];
      const Access& a = nest_.accesses[at(p.access)];
      t.rows.push_back({std::uint64_t{a.line}, std::uint64_t{a.column},
                        std::string(a.store ? "store" : "load"), array(a), std::uint64_t{a.bytes},
                        p.stride ? Cell(*p.stride) : Cell(), p.lines, p.sectors, p.passes, p.requests,
                        std::max({p.block_reuse, p.step_reuse, p.near_reuse}), best_.traffic[i].dram,
                        a_.idle.empty() ? Cell() : Cell(a_.idle[at(p.access)]), flag(p.evaluable)});
    }
    keep(std::move(t));
  }

  // Of the kernel's time by the first model: what arithmetic does not fill.
  double idle_share() const {
    if (a_.worth.empty() || a_.worth.front().kernel_ns <= 0) return 1;
    return std::clamp(1 - a_.worth.front().floor_ns / a_.worth.front().kernel_ns, 0.0, 1.0);
  }

  void blocks() {
    Table t{"nest_blocks", {}};
    for (const BlockCode& b : best_.code.blocks)
      if (b.instructions > 0)
        t.rows.push_back({std::uint64_t{b.line}, b.executions, b.instructions, b.longest, b.cycles, b.ilp,
                          std::uint64_t{b.pressure}, std::uint64_t{b.spills}, std::uint64_t{b.reloads},
                          flag(b.guessed)});
    keep(std::move(t));
  }

  void staging() {
    Table t{"nest_staging", {}};
    for (const Staging& s : a_.staging) {
      const Access& a = nest_.accesses[at(s.tile.accesses.front())];
      t.rows.push_back({std::uint64_t{a.line}, array(a), s.tile.reads, s.tile.shared_bytes, s.tile.passes,
                        s.saved, flag(s.chosen), flag(s.fits), flag(s.tile.padded),
                        std::uint64_t{s.tile.pieces.size()}, s.time_ns > 0 ? Cell(s.time_ns) : Cell()});
    }
    keep(std::move(t));
  }

  static Cell cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

  void worth() {
    Table t{"nest_worth", {}};
    for (const Worth& w : a_.worth) {
      const double overhead = w.launch_ns + w.transfer_ns, all = w.kernel_ns + overhead;
      Cell alone, with, with_context, even;
      if (a_.sequential_ns) {
        alone = *a_.sequential_ns / w.kernel_ns;
        with = *a_.sequential_ns / all;
        with_context = *a_.sequential_ns / (all + w.context_ns);
        // Iterations from which on the GPU is faster: what is paid once, by what is gained with each.
        const double gain = *a_.sequential_ns - w.kernel_ns - w.transfer_ns;
        if (gain > 0) even = (w.launch_ns + w.context_ns) / gain * a_.shape.iterations;
      }
      t.rows.push_back({w.model, w.kernel_ns, w.launch_ns, w.transfer_ns, w.context_ns, alone, with,
                        with_context, even, best_.useful_bytes / w.kernel_ns * 1e9,
                        flops() / w.kernel_ns * 1e9, cell(w.l2_rate), cell(w.dram_rate)});
    }
    keep(std::move(t));
  }

  void notes() {
    Table t{"nest_notes", {}};
    for (const Finding& f : a_.parallel.findings)
      t.rows.push_back({std::string(f.verdict == Verdict::carried ? "carried" : "unproven"), f.text, f.hint});
    for (const std::string& n : a_.parallel.notes) t.rows.push_back({std::string("note"), n, std::string()});
    for (const std::string& n : a_.notes) t.rows.push_back({std::string("note"), n, std::string()});
    keep(std::move(t));
  }

  double threads() const {
    double n = 1;
    for (const int l : best_.mapping.loops) n *= a_.shape.trips[at(l)];
    return n;
  }
  double flops() const { return best_.code.flops * threads(); }

  void metrics() {
    result::Metrics& m = out_.metrics;
    m.set("predict.nest.iterations", a_.shape.iterations);
    m.set("predict.nest.threads", threads());
    if (a_.sequential_ns) m.set("predict.nest.sequential.time", *a_.sequential_ns);
    m.set("predict.nest.instructions", best_.code.instructions / best_.working);
    m.set("predict.nest.registers", std::uint64_t{best_.code.registers});
    m.set("predict.nest.spills", best_.code.spills);
    m.set("predict.nest.ilp", best_.code.ilp);
    m.set("predict.nest.flops", flops());
    if (best_.l1_bytes > 0) m.set("predict.nest.intensity.on_chip", flops() / best_.l1_bytes);
    if (best_.dram_bytes > 0) m.set("predict.nest.intensity.off_chip", flops() / best_.dram_bytes);
    if (std::isfinite(a_.intensity)) m.set("predict.nest.intensity.instructions", a_.intensity);
    m.set("predict.nest.resios.even", a_.resios.even);
    m.set("predict.nest.resios.resident", a_.resios.resident);
    m.set("predict.nest.resios.latency", a_.resios.latency);
    m.set("predict.nest.resios.block", std::uint64_t{a_.resios.threads});
    m.set("predict.nest.bytes.l1", best_.l1_bytes);
    m.set("predict.nest.bytes.l2", best_.l2_bytes);
    m.set("predict.nest.bytes.dram", best_.dram_bytes);
    m.set("predict.nest.bytes.h2d", best_.h2d_bytes);
    m.set("predict.nest.bytes.d2h", best_.d2h_bytes);
    m.set("predict.nest.block.latency", std::uint64_t{a_.sizes.latency});
    m.set("predict.nest.block.occupancy", std::uint64_t{a_.sizes.occupancy});
    m.set("predict.nest.block.even", std::uint64_t{a_.sizes.even});
    m.set("predict.nest.block.chosen", std::uint64_t{best_.mapping.threads()});
    m.set("predict.nest.warps.compute", a_.sizes.warps_for_compute);
    m.set("predict.nest.warps.memory", a_.sizes.warps_for_memory);
    m.set("predict.nest.idle", idle_share());
    if (!a_.staging.empty() && a_.candidates.front().time_ns > 0) {
      m.set("predict.nest.staging.before", a_.candidates.front().time_ns);
      m.set("predict.nest.staging.after", a_.staged_ns);
    }
  }

  const Answer& a_;
  const Description& nest_;
  const NestCounts& best_;
  result::KernelResult& out_;
};

}  // namespace

std::string name_of(const Description& nest, const Mapping& m) {
  std::string out = fmt::format("x <- {}", nest.loops[at(m.loops[0])].name);
  if (m.loops.size() > 1) out += fmt::format(", y <- {}", nest.loops[at(m.loops[1])].name);
  if (m.loops.size() > 2) out += fmt::format(", z <- {}", nest.loops[at(m.loops[2])].name);
  return out;
}

void add_tables(const Answer& answer, result::KernelResult& out) { Writer(answer, out).run(); }

}  // namespace simtlab::models::loops
