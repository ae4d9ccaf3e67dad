// From what a counts file says to all that a model needs: other names of one quantity, the machine, what
// follows from the launch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/derive.h"

namespace simtlab::models {
namespace {

using C = Counts;

[[noreturn]] void contradict(const Inputs& in, double C::*at, std::string message, std::string hint) {
  Diagnostic d = in.source(at).here;
  if (d.pos.file.empty()) d.pos.file = in.file;
  d.message = std::move(message);
  d.hint = std::move(hint);
  throw Error(ExitCode::bad_input, "counts-contradiction", std::vector<Diagnostic>{std::move(d)});
}

void adopt_other_names(Inputs& in) {
  for (const Symbol& s : symbols()) {
    double C::*const other = other_name(s.member);
    if (other == nullptr || !in.has(other)) continue;
    const Symbol& o = symbol(other);
    if (!in.has(s.member)) in.set(s.member, in.counts.*other, {fmt::format("derived: {}", o.key)});
    // Said at the second of the two.
    if (in.counts.*s.member != in.counts.*other && &o < &s)
      contradict(in, s.member,
                 fmt::format("{} is {:g} and {} is {:g}; both name the same quantity", o.key,
                             in.counts.*other, s.key, in.counts.*s.member),
                 "give one of them");
  }
}

void add_constants(Inputs& in) {
  for (const auto member : {&C::threads_per_warp, &C::warp_size})
    if (!in.has(member)) in.set(member, 32, {"every NVIDIA GPU"});
  if (!in.has(&C::coal_per_mw)) in.set(&C::coal_per_mw, 1, {"what coalesced means"});
}

// DRAM's latency under the load of the threads that are on the GPU at once: Y = aX + b (Sanchez, equation
// 7.1), which holds as far as it is above the latency of one access.
void add_loaded_latency(Inputs& in, const device::Device* gpu) {
  const Counts& c = in.counts;
  const auto member = in.has(&C::dram_lat_per_thread) ? &C::dram_lat_per_thread : &C::dram_lat_at_none;
  if (!in.has(member)) return;
  if (!in.has(&C::dram_lat_per_thread) || !in.has(&C::dram_lat_at_none))
    contradict(in, member, fmt::format("{} alone is no line", symbol(member).key),
               "give dram_lat_per_thread and dram_lat_at_none: a and b of Y = aX + b");
  if (in.has(&C::dram_lat))
    contradict(in, member, fmt::format("{} and dram_lat both say DRAM's latency", symbol(member).key),
               "leave one of them out");
  if (!in.has(&C::blocks) || !in.has(&C::threads_per_block))
    contradict(in, member, fmt::format("{} needs the number of threads", symbol(member).key),
               "give blocks and threads_per_block");
  double blocks = c.blocks;
  const double sms = in.has(&C::sm_count) ? c.sm_count : gpu != nullptr ? gpu->sm.count : 0;
  if (in.has(&C::active_blocks_per_sm) && (sms > 0 || in.has(&C::active_sms)))
    blocks = std::min(blocks, c.active_blocks_per_sm * (sms > 0 ? sms : c.active_sms));
  const double threads = blocks * c.threads_per_block;
  const double line = c.dram_lat_per_thread * threads + c.dram_lat_at_none;
  const double idle = gpu != nullptr ? gpu->dram.latency : 1;
  const std::string how =
      fmt::format("derived: {:g} * {:g} threads {:+g}", c.dram_lat_per_thread, threads, c.dram_lat_at_none);
  for (const auto latency : {&C::dram_lat, &C::mem_ld})
    in.set(latency, std::max(line, idle), {line > idle ? how : how + ", below one access"});
}

void add_launch(Inputs& in) {
  const Counts& c = in.counts;
  if (!in.has(&C::threads_per_block)) return;
  const double warps = std::ceil(c.threads_per_block / c.threads_per_warp);
  const auto derive = [&](double C::*member, double C::*factor, const char* how) {
    if (!in.has(factor)) return;
    const double value = c.*factor * warps;
    if (in.has(member) && c.*member != value)
      contradict(in, member,
                 fmt::format("{} is {:g}, but {} is {:g}", symbol(member).key, c.*member, how, value),
                 "leave one of them out");
    if (!in.has(member)) in.set(member, value, {fmt::format("derived: {}", how)});
  };
  derive(&C::n, &C::active_blocks_per_sm,
         "active_blocks_per_sm * ceil(threads_per_block / threads_per_warp)");
  derive(&C::total_warps, &C::blocks, "blocks * ceil(threads_per_block / threads_per_warp)");
}

void check_parts(const Inputs& in) {
  const Counts& c = in.counts;
  for (const auto part : {&C::mem_insts, &C::sync_insts, &C::sfu_insts, &C::fp_insts})
    if (in.has(&C::insts) && in.has(part) && c.*part > c.insts)
      contradict(in, part,
                 fmt::format("{} is {:g}, more than the {:g} insts of which they are a part",
                             symbol(part).key, c.*part, c.insts),
                 "insts counts every instruction of a warp");
  if (in.has(&C::mem_insts) && in.has(&C::useful_bytes) && (c.mem_insts == 0) != (c.useful_bytes == 0))
    contradict(in, &C::useful_bytes,
               fmt::format("useful_bytes is {:g} and mem_insts is {:g}", c.useful_bytes, c.mem_insts),
               "a kernel that accesses memory moves bytes, one that does not moves none");
  if (in.has(&C::comp_insts) && in.has(&C::coal_mem_insts) && in.has(&C::uncoal_mem_insts) &&
      c.comp_insts + c.coal_mem_insts + c.uncoal_mem_insts == 0)
    contradict(in, &C::comp_insts,
               "a thread without instructions: comp_insts, coal_mem_insts and uncoal_mem_insts are 0",
               "give what a thread executes");
}

void check_launch(const Inputs& in) {
  const Counts& c = in.counts;
  if (in.has(&C::blocks) && in.has(&C::active_sms) && c.active_sms > c.blocks)
    contradict(in, &C::active_sms,
               fmt::format("active_sms is {:g}, but there are only {:g} blocks", c.active_sms, c.blocks),
               "an SM without a block is not active: min(blocks, SMs)");
  if (in.has(&C::blocks) && in.has(&C::active_sms) && in.has(&C::active_blocks_per_sm)) {
    const double most = std::ceil(c.blocks / c.active_sms);
    if (c.active_blocks_per_sm > most)
      contradict(in, &C::active_blocks_per_sm,
                 fmt::format("active_blocks_per_sm is {:g}, but an SM gets at most {:g} of the {:g} blocks",
                             c.active_blocks_per_sm, most, c.blocks),
                 "no more than ceil(blocks / active_sms)");
  }
  if (in.has(&C::total_warps) && in.has(&C::n) && c.n > c.total_warps)
    contradict(in, &C::n, fmt::format("n is {:g}, but there are only {:g} warps", c.n, c.total_warps),
               "n counts warps resident on one SM");
}

void check_resources(const Inputs& in, const device::Device& gpu) {
  const auto limit = [&](double C::*member, double most, const char* key) {
    if (in.has(member) && in.counts.*member > most)
      contradict(in, member,
                 fmt::format("{} is {:g}, but {} has {:g} ({})", symbol(member).key, in.counts.*member,
                             gpu.name, most, key),
                 "no such launch is possible on this GPU");
  };
  limit(&C::threads_per_block, gpu.sm.max_threads_per_block, "sm.max_threads_per_block");
  limit(&C::active_blocks_per_sm, gpu.sm.max_blocks, "sm.max_blocks");
  limit(&C::n, gpu.sm.max_warps, "sm.max_warps");
  limit(&C::active_sms, gpu.sm.count, "sm.count");
}

}  // namespace

void complete(Inputs& inputs, const device::Device* gpu) {
  adopt_other_names(inputs);
  add_constants(inputs);
  add_loaded_latency(inputs, gpu);
  if (gpu != nullptr) add_machine(inputs, *gpu);
  add_launch(inputs);
  add_from_mix(inputs);
  adopt_other_names(inputs);  // what the mix gave
  add_from_memory(inputs);
  check_parts(inputs);
  check_launch(inputs);
  if (gpu != nullptr) check_resources(inputs, *gpu);
}

}  // namespace simtlab::models
