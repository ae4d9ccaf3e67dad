#include "studies/predict/nest_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "studies/predict/nest_inputs.h"

namespace simtlab::studies {
namespace {

using models::loops::Description;

std::vector<std::string> notes_of(const Description& nest, const models::loops::Shape& shape,
                                  const LoopOptions& o, const models::loops::NestCounts& best,
                                  const std::string& gpu) {
  std::vector<std::string> out;
  for (const models::loops::Pattern& p : best.patterns)
    if (const models::loops::Input& in =
            nest.inputs[static_cast<std::size_t>(nest.accesses[static_cast<std::size_t>(p.access)].input)];
        !p.evaluable && p.footprint == 0) {
      std::string text = fmt::format(
          "how much of '{}' is touched is not known: its copies are left out, its accesses are taken for the "
          "worst",
          in.name);
      if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
    }
  if (best.code.spills > 0)
    out.push_back(
        fmt::format("{} registers are more than the {} that {} gives a thread: {:.0f} spills and "
                    "reloads of a thread go to L1",
                    best.code.pressure, best.code.registers, gpu, best.code.spills));
  if (o.assume_parallel) out.emplace_back("taken for parallel because --assume-parallel says so");
  if (!shape.measured && std::ranges::any_of(shape.guessed, [](bool b) { return b; }))
    out.emplace_back("conditions that depend on data are taken for true on both sides; --run counts them");
  if (!nest.inlined.empty())
    out.push_back(fmt::format("calls replaced by their bodies: {}", fmt::join(nest.inlined, ", ")));
  return out;
}

}  // namespace

void add_notes(models::loops::Answer& answer, const LoopOptions& options, const compile::LoopRun& run,
               const std::string& why_not_followed, const std::string& gpu) {
  const models::loops::NestCounts& counts = answer.candidates.front().counts;
  if (run.calls > 1)
    answer.notes.push_back(fmt::format(
        "the program runs the nest {} times; all numbers are of the call with most to do, number {}",
        run.calls, run.call + 1));
  for (std::string& n : notes_of(answer.nest, answer.shape, options, counts, gpu))
    answer.notes.push_back(std::move(n));
  if (!counts.optimised)
    answer.notes.push_back(fmt::format(
        "instructions are those before the optimiser, as {}: the floor and roofline are estimates",
        why_not_followed));
}

void set_launch(result::KernelResult& kernel, const models::loops::NestCounts& counts) {
  for (std::size_t d = 0; d < 3; ++d) {
    kernel.grid[d] = static_cast<std::uint32_t>(std::min<std::uint64_t>(counts.mapping.grid[d], UINT32_MAX));
    kernel.block[d] = counts.mapping.block[d];
  }
  kernel.registers = counts.code.registers;
}

void add_simulation(models::loops::Answer& answer, result::KernelResult& kernel,
                    const NestSimulation& simulation, const models::Counts& counts, double threads,
                    const device::Device& device) {
  const NestSimulation& s = simulation;
  models::loops::Worth w = answer.worth.front();
  w.model = "simulation";
  w.kernel_ns = s.time_ns;
  w.l2_rate = possible_rate(s.l2_bytes, s.time_ns, l2_peak(counts));
  w.dram_rate = possible_rate(s.dram_bytes, s.time_ns, dram_peak(counts));
  answer.worth.insert(answer.worth.begin(), w);
  kernel.metrics.set("predict.nest.simulated.time", s.time_ns);
  kernel.metrics.set("predict.nest.simulated.cycles", s.cycles);
  kernel.metrics.set("predict.nest.simulated.instructions", s.thread_instructions / threads);
  kernel.metrics.set("predict.nest.difference", s.difference);
  if (s.registers > 0)
    answer.notes.push_back(
        fmt::format("the kernel's PTX needs {} registers a thread; it was simulated with the {} that {} has, "
                    "and without the accesses to memory of those that do not fit",
                    s.registers, device.sm.max_registers_per_thread, device.name));
}

}  // namespace simtlab::studies
