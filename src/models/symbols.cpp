// The symbols of counts files: pure data.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "models/counts.h"

namespace simtlab::models {
namespace {

using enum Kind;
using C = Counts;

// Ranges are wide: they catch wrong units and slips, not unusual kernels.
constexpr double most_insts = 1e12, most_blocks = 1e15, most_bytes = 1e18;

constexpr Symbol rows[] = {
    {"freq", "GHz", "Clock of the SMs", 0.001, 100, real, true, &C::freq},
    {"active_sms", "1", "SMs that got at least one block: min(blocks, SMs)", 1, 1e6, whole, true,
     &C::active_sms},

    {"threads_per_warp", "threads", "Threads of a warp", 1, 1024, whole, false, &C::threads_per_warp},
    {"issue_cycles", "cycles", "Cycles that an SM takes to issue one warp instruction", 0.001, 1000, real,
     true, &C::issue_cycles},
    {"mem_bandwidth", "GB/s", "Peak bandwidth of DRAM", 0.001, 1e6, real, true, &C::mem_bandwidth},
    {"mem_ld", "cycles", "DRAM latency of one transaction, there and back", 1, 1e6, real, true, &C::mem_ld},
    {"departure_del_uncoal", "cycles", "Gap between two transactions of one uncoalesced warp access", 0.001,
     1e6, real, true, &C::departure_del_uncoal},
    {"departure_del_coal", "cycles", "Gap between two coalesced warp accesses", 0.001, 1e6, real, true,
     &C::departure_del_coal},

    {"blocks", "1", "Blocks of the grid", 1, most_blocks, whole, false, &C::blocks},
    {"threads_per_block", "threads", "Threads of a block", 1, 1024, whole, false, &C::threads_per_block},
    {"active_blocks_per_sm", "1", "Blocks resident on an SM at once", 1, 1024, whole, false,
     &C::active_blocks_per_sm},

    {"comp_insts", "1", "Instructions of a thread that do not access global or local memory", 0, most_insts,
     real, false, &C::comp_insts},
    {"coal_mem_insts", "1", "Coalesced accesses of a thread to global or local memory", 0, most_insts, real,
     false, &C::coal_mem_insts},
    {"uncoal_mem_insts", "1", "Uncoalesced accesses of a thread to global or local memory", 0, most_insts,
     real, false, &C::uncoal_mem_insts},
    {"synch_insts", "1", "Barriers that a thread executes", 0, most_insts, real, false, &C::synch_insts},
    {"coal_per_mw", "1", "Transactions of one coalesced warp access; the equations know only 1", 1, 1, real,
     false, &C::coal_per_mw},
    {"uncoal_per_mw", "1", "Transactions of one uncoalesced warp access", 1, 1024, real, false,
     &C::uncoal_per_mw},
    {"load_bytes_per_warp", "bytes", "Bytes that one warp access asks for", 1, 65536, real, false,
     &C::load_bytes_per_warp},

    {"insts", "1", "Instructions of a warp", 0.001, most_insts, real, false, &C::insts},
    {"mem_insts", "1", "Memory instructions of a warp", 0, most_insts, real, false, &C::mem_insts},
    {"sync_insts", "1", "Barriers that a warp executes", 0, most_insts, real, false, &C::sync_insts},
    {"sfu_insts", "1", "Instructions of a warp that run in the special function units", 0, most_insts, real,
     false, &C::sfu_insts},
    {"fp_insts", "1", "Floating-point instructions of a warp", 0, most_insts, real, false, &C::fp_insts},
    {"total_warps", "warps", "Warps of the grid", 1, most_blocks, whole, false, &C::total_warps},
    {"n", "warps", "Warps resident on an SM", 1, 4096, real, false, &C::n},
    {"avg_inst_lat", "cycles", "Mean latency of the executed compute instructions", 0.1, 1e5, real, true,
     &C::avg_inst_lat},
    {"ilp", "1", "Independent instructions of a warp between dependences", 1, 1000, real, false, &C::ilp},
    {"mlp", "1", "Memory requests of a warp in flight between dependences", 1, 1000, real, false, &C::mlp},
    {"miss_ratio", "1", "Share of the requests that miss the modelled cache", 0, 1, real, false,
     &C::miss_ratio},
    {"avg_trans_warp", "1", "Transactions of one warp memory request", 1, 1024, real, false,
     &C::avg_trans_warp},
    {"o_cfdiv", "cycles", "Cycles of an SM lost to divergence", 0, 1e15, real, false, &C::o_cfdiv},
    {"o_bank", "cycles", "Cycles of an SM lost to bank conflicts", 0, 1e15, real, false, &C::o_bank},
    {"useful_bytes", "bytes", "Bytes that the kernel must move at least", 0, 1e18, real, false,
     &C::useful_bytes},

    {"warp_size", "threads", "Threads of a warp", 1, 1024, whole, false, &C::warp_size},
    {"simd_width", "lanes", "Floating-point lanes of an SM", 0.1, 4096, real, true, &C::simd_width},
    {"sfu_width", "lanes", "Special function lanes of an SM", 0.1, 4096, real, true, &C::sfu_width},
    {"fp_lat", "cycles", "Latency of a floating-point instruction", 0.1, 1e5, real, true, &C::fp_lat},
    {"dram_lat", "cycles", "Latency of DRAM on an idle machine", 1, 1e6, real, true, &C::dram_lat},
    {"dram_lat_per_thread", "cycles", "Rise of DRAM's latency with each thread on the GPU: a of Y = aX + b",
     0, 1e3, real, true, &C::dram_lat_per_thread},
    {"dram_lat_at_none", "cycles", "DRAM's latency where that line has no threads: b, which may be negative",
     -1e6, 1e6, real, true, &C::dram_lat_at_none},
    {"hit_lat", "cycles", "Latency of a hit in the modelled cache", 0.1, 1e6, real, true, &C::hit_lat},
    {"delta", "cycles", "Gap between two memory transactions", 0.001, 1e6, real, true, &C::delta},
    {"mem_peak_bandwidth", "GB/s", "Peak bandwidth of DRAM", 0.001, 1e6, real, true, &C::mem_peak_bandwidth},
    {"transaction_size", "bytes", "Bytes of one memory transaction", 1, 65536, real, true,
     &C::transaction_size},
    {"gamma", "1", "Machine constant of the barrier model, fitted from a barrier sweep", 0, 1e6, real, true,
     &C::gamma},

    {"l1_bytes", "bytes", "Bytes between the SMs and their L1, of the whole grid, in whole sectors", 0,
     most_bytes, real, false, &C::l1_bytes},
    {"l2_bytes", "bytes", "Bytes between the L1s and L2, of the whole grid, both ways", 0, most_bytes, real,
     false, &C::l2_bytes},
    {"dram_bytes", "bytes", "Bytes between L2 and DRAM, of the whole grid, read and written", 0, most_bytes,
     real, false, &C::dram_bytes},
    {"flops", "1", "Floating-point operations of the whole grid; a fused multiply-add is two", 0, most_bytes,
     real, false, &C::flops},

    {"fma_insts", "1", "Fused multiply-adds of a warp", 0, most_insts, real, false, &C::fma_insts},
    {"shared_insts", "1", "Accesses of a warp to shared memory", 0, most_insts, real, false,
     &C::shared_insts},
    {"shared_passes", "1",
     "Passes of one access to shared memory; more than 1 are bank conflicts or wide elements", 1, 1024, real,
     false, &C::shared_passes},
    {"lines_per_access", "1", "128-byte lines, which are passes of L1, of one access to global memory", 1,
     1024, real, false, &C::lines_per_access},
    {"warp_latency", "cycles", "Time of a warp alone on an idle GPU, from its first issue to its last result",
     1, 1e15, real, false, &C::warp_latency},
    {"warp_memory_wait", "cycles",
     "Part of warp_latency in which nothing can be issued for want of global or local memory", 0, 1e15, real,
     false, &C::warp_memory_wait},
    {"sampled_latency", "cycles",
     "Latency of an access by the hit rates and the machine with which warp_latency was found", 0, 1e12, real,
     false, &C::sampled_latency},
    {"pipe_cycles", "cycles",
     "Cycles that the busiest pipeline of an SM takes for the instructions of one warp", 0, 1e15, real, false,
     &C::pipe_cycles},
    {"warp_spread", "1", "Instructions of the longest warp over those of a mean one", 1, 1e12, real, false,
     &C::warp_spread},
    {"active_lanes", "1", "Threads that take part in an instruction of a warp", 1, 1024, real, false,
     &C::active_lanes},
    {"chain_cycles", "cycles",
     "Cycles of a warp alone on an idle SM, its round trips to global memory left out", 0, most_bytes, real,
     false, &C::chain_cycles},
    {"chain_accesses", "1", "Round trips of a warp to global memory that follow one another", 0, most_insts,
     real, false, &C::chain_accesses},
    {"l1_miss_ratio", "1", "Share of the requested sectors that miss L1", 0, 1, real, false,
     &C::l1_miss_ratio},
    {"l2_miss_ratio", "1", "Share of the sectors requested from L2 that miss it", 0, 1, real, false,
     &C::l2_miss_ratio},

    {"l1_lat", "cycles", "Latency of a hit in L1", 0.1, 1e6, real, true, &C::l1_lat},
    {"l2_lat", "cycles", "Latency of a hit in L2", 0.1, 1e6, real, true, &C::l2_lat},
    {"shared_lat", "cycles", "Latency of shared memory without conflicts", 0.1, 1e6, real, true,
     &C::shared_lat},
    {"l1_bytes_per_cycle", "bytes/cycle", "Bandwidth of the L1 of an SM", 0.001, 1e6, real, true,
     &C::l1_bytes_per_cycle},
    {"shared_bytes_per_cycle", "bytes/cycle", "Bandwidth of the shared memory of an SM", 0.001, 1e6, real,
     true, &C::shared_bytes_per_cycle},
    {"l2_bytes_per_cycle", "bytes/cycle", "Bandwidth of L2, of the whole GPU", 0.001, 1e9, real, true,
     &C::l2_bytes_per_cycle},
    {"sm_read_bytes_per_cycle", "bytes/cycle", "What an SM can receive from the network", 0.001, 1e6, real,
     true, &C::sm_read_bytes_per_cycle},
    {"sm_write_bytes_per_cycle", "bytes/cycle", "What an SM can send into the network", 0.001, 1e6, real,
     true, &C::sm_write_bytes_per_cycle},
    {"line_bytes", "bytes", "Line of L1: what one pass covers", 1, 65536, real, false, &C::line_bytes},
    {"sector_bytes", "bytes", "Sector of L1: what a miss fetches at least", 1, 65536, real, false,
     &C::sector_bytes},
    {"issue_per_cycle", "1/cycle", "Warp instructions that an SM can issue in a cycle", 0.001, 1000, real,
     true, &C::issue_per_cycle},
    {"sm_count", "1", "SMs of the GPU, with or without a block", 1, 1e6, whole, false, &C::sm_count},
    {"schedulers", "1", "Warp schedulers of an SM", 1, 1000, real, false, &C::schedulers},
    {"cores_shared", "1",
     "1 where integer and floating point run on the same lanes (up to compute capability 6.x), else 0", 0, 1,
     whole, false, &C::cores_shared},
    {"barrier_lat", "cycles", "From the last arrival at a barrier to the first instruction behind it", 0, 1e6,
     real, true, &C::barrier_lat},
    {"block_launch", "cycles", "Gap between two blocks that one SM is given", 0, 1e6, real, true,
     &C::block_launch},
    {"block_latency", "cycles", "From the hand-out of a block to its first instruction", 0, 1e6, real, true,
     &C::block_latency},
    {"launch_floor", "cycles", "What a kernel takes beside its blocks, as profilers count it", 0, 1e9, real,
     true, &C::launch_floor},
    {"tags_per_cycle", "1/cycle", "Lines whose tags L1 looks up in a cycle", 1, 1000, real, true,
     &C::tags_per_cycle},
    {"dram_bandwidth_measured", "GB/s", "Bandwidth of DRAM that a large copy reaches", 0.001, 1e6, real, true,
     &C::dram_bandwidth_measured},

    {"launch_overhead", "us", "From the launch of a kernel to its first block", 0, 1e9, real, true,
     &C::launch_overhead},
    {"context_init", "ms", "Creation of the GPU's context", 0, 1e9, real, true, &C::context_init},
    {"h2d_bytes", "bytes", "Bytes copied to the GPU for the kernel", 0, most_bytes, real, false,
     &C::h2d_bytes},
    {"d2h_bytes", "bytes", "Bytes copied back from the GPU", 0, most_bytes, real, false, &C::d2h_bytes},
    {"h2d_bandwidth", "GB/s", "Bandwidth of copies to the GPU", 0.001, 1e6, real, true, &C::h2d_bandwidth},
    {"d2h_bandwidth", "GB/s", "Bandwidth of copies from the GPU", 0.001, 1e6, real, true, &C::d2h_bandwidth},
    {"copy_latency", "us", "What a copy takes beyond its bytes", 0, 1e9, real, true, &C::copy_latency},
};

constexpr MixSymbol mix_rows[] = {
    {"insts", "1", "Warp instructions of a warp, as the machine executes them", 0, most_insts, false,
     &Mix::insts},
    {"latency", "cycles", "Cycles from an instruction to one that depends on it", 0.1, 1e6, true,
     &Mix::latency},
    {"throughput", "1/cycle", "Thread results of an SM per cycle", 0.001, 4096, true, &Mix::throughput},
};

}  // namespace

std::span<const Symbol> symbols() { return rows; }

double Counts::*other_name(double Counts::*member) {
  for (const auto& [a, b] : {std::pair{&C::threads_per_warp, &C::warp_size},
                             {&C::mem_bandwidth, &C::mem_peak_bandwidth},
                             {&C::mem_ld, &C::dram_lat},
                             {&C::synch_insts, &C::sync_insts}}) {
    if (a == member) return b;
    if (b == member) return a;
  }
  return nullptr;
}

std::span<const MixSymbol> mix_symbols() { return mix_rows; }

std::size_t class_index(std::string_view name) {
  const auto at = std::ranges::find(device::op_class_names, name);
  SIMTLAB_ASSERT(at != device::op_class_names.end(), "an operation class that does not exist");
  return static_cast<std::size_t>(at - device::op_class_names.begin());
}

const Symbol& symbol(double Counts::*member) {
  const auto found = std::ranges::find(rows, member, &Symbol::member);
  SIMTLAB_ASSERT(found != std::end(rows), "a member of Counts that is not declared");
  return *found;
}

}  // namespace simtlab::models
