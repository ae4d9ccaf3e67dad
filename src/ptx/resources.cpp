#include "ptx/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace simtlab::ptx {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// Alive in a function of PTX at once, callees included.
std::uint32_t values_of(const Function& f) {
  return f.unlimited_registers - std::min(f.unlimited_registers, register_overhead);
}

[[noreturn]] void refuse_frame(const Module& module, const Function& f) {
  Diagnostic out = module.diagnostic(f.line, 1,
                                     fmt::format("local memory of '{}' and the functions it calls needs more "
                                                 "than the limit of {} bytes per thread",
                                                 f.name.substr(0, 64), Limits::local_bytes));
  if (const std::size_t at = out.text.find(f.name); at != std::string::npos)
    out.pos.column = static_cast<std::uint32_t>(at) + 1;
  throw Error(ExitCode::bad_input, "ptx-limit", std::move(out));
}

}  // namespace

// The assembler ignores .minnctapersm when the blocks can't be resident together for their threads alone.
std::uint32_t register_limit(const Function& fn, std::uint32_t blocks) {
  constexpr std::uint64_t file = 65536, resident_threads = 2048;
  std::uint32_t limit = fn.max_nreg != 0 ? fn.max_nreg : no_pc;
  const std::uint32_t(&ntid)[3] = fn.req_ntid[0] != 0 ? fn.req_ntid : fn.max_ntid;
  if (blocks == 0 || ntid[0] == 0) return limit;
  std::uint64_t threads = 1;
  for (const std::uint32_t n : ntid)
    threads = std::min<std::uint64_t>(threads * std::max(n, 1u), resident_threads + 1);
  threads = round_up(threads, 32) * blocks;
  if (threads > resident_threads) return limit;
  return std::min(limit, static_cast<std::uint32_t>(file / threads / 8 * 8));
}

Resources::Resources(CallGraph graph, std::uint64_t frame_align)
    : graph_(std::move(graph)), frame_align_(frame_align) {}

void Resources::sum(const Module& module, std::uint32_t which, const Allocation& a, Function& fn) const {
  const std::vector<std::uint32_t>& callees = graph_.callees[which];
  for (const std::uint32_t c : callees) fn.barriers = std::max(fn.barriers, module.functions[c].barriers);
  if (fn.machine) return;  // it has what it needs; functions that it called are a part of it
  fn.frame_bytes = static_cast<std::uint32_t>(round_up(fn.frame_bytes, frame_align_));
  fn.total_reg_rows = fn.reg_rows;
  fn.total_preds = fn.pred_count;
  std::uint64_t frame = fn.frame_bytes;
  for (const std::uint32_t c : callees) {
    const Function& callee = module.functions[c];
    fn.max_call_depth = std::max(fn.max_call_depth, callee.max_call_depth + 1);
    fn.total_reg_rows = std::max(fn.total_reg_rows, fn.reg_rows + callee.total_reg_rows);
    fn.total_preds = std::max(fn.total_preds, fn.pred_count + callee.total_preds);
    frame = std::max(frame, std::uint64_t{fn.frame_bytes} + callee.total_frame_bytes);
  }
  if (frame > Limits::local_bytes) refuse_frame(module, fn);
  fn.total_frame_bytes = static_cast<std::uint32_t>(frame);
  std::uint32_t values = a.max_live;
  for (std::size_t s = 0; s < fn.call_sites.size(); ++s) {
    const CallSite& site = fn.call_sites[s];
    std::uint32_t callee = 0;
    if (!site.indirect) callee = values_of(module.functions[site.function]);
    for (const std::uint32_t c : site.candidates) callee = std::max(callee, values_of(module.functions[c]));
    values = std::max(values, a.live_at_call[s] + callee);
  }
  fn.unlimited_registers = values + register_overhead;
  fn.registers = fn.is_entry ? std::min(fn.unlimited_registers, register_limit(fn, fn.min_nctapersm))
                             : fn.unlimited_registers;
}

void Resources::total_all(Module& module, std::span<const Allocation> allocations) {
  for (const std::uint32_t i : graph_.bottom_up) sum(module, i, allocations[i], module.functions[i]);
  for (const auto& back : graph_.back) {
    for (const std::uint32_t c : back) {
      const Function& f = module.functions[c];
      cycle_.rows = std::max(cycle_.rows, f.total_reg_rows);
      cycle_.preds = std::max(cycle_.preds, f.total_preds);
      cycle_.frame = std::max(cycle_.frame, f.total_frame_bytes);
      cycle_.depth = std::max(cycle_.depth, f.max_call_depth + 1);
    }
  }
  for (Function& f : module.functions) add_room_for_cycles(f);
}

void Resources::total(const Module& module, std::uint32_t which, const Allocation& allocation,
                      Function& kernel) const {
  sum(module, which, allocation, kernel);
  add_room_for_cycles(kernel);
}

// Calls through pointers that lead back: room for some turns of the longest such cycle. A warp that goes
// deeper is stopped with a stack overflow when it does.
void Resources::add_room_for_cycles(Function& kernel) const {
  constexpr std::uint64_t most_rows = 512, fewest_turns = 4, most_turns = 24;
  if (cycle_.depth == 0 || !kernel.is_entry || kernel.machine || kernel.max_call_depth == 0) return;
  const auto turns =
      static_cast<std::uint32_t>(std::clamp(most_rows / std::max(cycle_.rows, 1u), fewest_turns, most_turns));
  kernel.total_reg_rows += turns * cycle_.rows;
  kernel.total_preds += turns * cycle_.preds;
  kernel.total_frame_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      kernel.total_frame_bytes + std::uint64_t{turns} * cycle_.frame, Limits::local_bytes));
  kernel.max_call_depth += turns * cycle_.depth;
}

}  // namespace simtlab::ptx
