// The metric registry: pure data. One row a metric; docs/metrics.md and `simtlab list stats` are printed from
// it.
//
// Shares and rates are ratios from 0 to 1 (unit "1"); the text report shows them as per cent. A cache access
// is one sector (32 bytes), or one line where the device file says that the cache is not sectored; accesses =
// hits + hits_pending + misses.
#include "result/metrics.h"

namespace simtlab::result {
namespace {

using enum Combine;

// name, unit, doc, scope, formula, aliases, combine, weight
constexpr MetricDeclaration rows[] = {
    // Time and work.
    {"gpu.cycles", "cycles",
     "SM clock cycles from the launch of the kernel to the end of its last block; in a total, of all "
     "launches.",
     "kernel", "", "ncu: sm__cycles_elapsed.max; nvprof: elapsed_cycles_sm; gpgpu-sim: gpu_sim_cycle", sum,
     ""},
    {"gpu.time", "ns",
     "Simulated time of the kernel from its first block to its end; in a total, of the kernels without "
     "copies.",
     "kernel", "", "ncu: gpu__time_duration.sum; nvprof: Duration", sum, ""},
    {"gpu.launch_overhead", "ns",
     "Simulated time between the launch and the first block; not part of gpu.time, and hidden when launches "
     "queue.",
     "kernel", "", "", sum, ""},
    {"gpu.instructions.warp", "1",
     "Instructions executed, counted once a warp, predicated-off instructions included.", "kernel", "",
     "ncu: smsp__inst_executed.sum; nvprof: inst_executed; gpgpu-sim: gpgpu_n_tot_w_icount", sum, ""},
    {"gpu.instructions.thread", "1", "Instructions executed, counted once a thread whose guard is true.",
     "kernel", "",
     "ncu: smsp__thread_inst_executed_pred_on.sum; nvprof: thread_inst_executed; gpgpu-sim: gpu_sim_insn",
     sum, ""},
    {"gpu.instructions.lanes", "1", "Mean number of active threads in an executed warp instruction.",
     "kernel", "gpu.instructions.thread / gpu.instructions.warp",
     "ncu: smsp__thread_inst_executed_pred_on_per_inst_executed.ratio; nvprof: "
     "warp_nonpred_execution_efficiency",
     weighted, "gpu.instructions.warp"},
    {"gpu.ipc", "1/cycle", "Thread instructions per SM clock cycle, whole GPU.", "kernel",
     "gpu.instructions.thread / gpu.cycles", "gpgpu-sim: gpu_ipc", weighted, "gpu.cycles"},
    {"gpu.ipc.warp", "1/cycle", "Warp instructions per SM clock cycle and SM.", "kernel",
     "gpu.instructions.warp / gpu.cycles / number of SMs",
     "ncu: sm__inst_executed.avg.per_cycle_elapsed; nvprof: ipc", weighted, "gpu.cycles"},
    {"gpu.flops.fp16", "1", "Half-precision floating-point operations; a fused multiply-add counts two.",
     "kernel", "", "nvprof: flop_count_hp", sum, ""},
    {"gpu.flops.fp32", "1", "Single-precision floating-point operations; a fused multiply-add counts two.",
     "kernel", "", "nvprof: flop_count_sp", sum, ""},
    {"gpu.flops.fp64", "1", "Double-precision floating-point operations; a fused multiply-add counts two.",
     "kernel", "", "nvprof: flop_count_dp", sum, ""},
    {"gpu.blocks", "1", "Thread blocks executed.", "kernel", "", "ncu: launch__grid_size", sum, ""},
    {"gpu.warps", "1", "Warps executed.", "kernel", "",
     "ncu: smsp__warps_launched.sum; nvprof: warps_launched", sum, ""},
    {"gpu.waves", "1", "Blocks divided by the blocks that the whole GPU holds at once.", "kernel",
     "gpu.blocks / (number of SMs * occupancy.blocks_per_sm)", "ncu: launch__waves_per_multiprocessor", none,
     ""},
    {"gpu.sm.active", "1", "Share of SM cycles in which the SM holds at least one block.", "kernel", "",
     "ncu: smsp__cycles_active.avg.pct_of_peak_sustained_elapsed; nvprof: sm_efficiency", weighted,
     "gpu.cycles"},
    {"instructions.*", "1", "Warp instructions executed of one operation class.", "kernel", "",
     "ncu: sm__inst_executed_pipe_*.sum", sum, ""},
    {"branch.executed", "1", "Branch instructions executed by warps.", "kernel", "",
     "ncu: smsp__inst_executed_pipe_cbu.sum + smsp__inst_executed_pipe_adu.sum; nvprof: cf_executed", sum,
     ""},
    {"barrier.executed", "1", "Barrier instructions executed by warps.", "kernel", "", "", sum, ""},
    {"branch.divergent", "1", "Branches at which the active threads of a warp took different ways.", "kernel",
     "", "nvprof: divergent_branch", sum, ""},

    // Speed of light: the share of the highest possible rate.
    {"sol.compute", "1", "Utilisation of the busiest compute pipeline.", "kernel", "max of pipe.*",
     "ncu: sm__throughput.avg.pct_of_peak_sustained_elapsed", weighted, "gpu.cycles"},
    {"sol.memory", "1", "Utilisation of the busiest part of the memory system.", "kernel",
     "max of l1, shared, l2, interconnect and DRAM utilisation",
     "ncu: gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", weighted, "gpu.cycles"},
    {"sol.issue", "1", "Share of issue slots in which an instruction was issued.", "kernel",
     "gpu.instructions.warp / issue slots",
     "ncu: smsp__issue_active.avg.pct_of_peak_sustained_elapsed; nvprof: issue_slot_utilization", weighted,
     "gpu.cycles"},
    {"pipe.*", "1",
     "Share of the issue slots of one pipeline (fma, alu, fp64, xu ...) that its instructions occupied.",
     "kernel", "", "ncu: sm__pipe_*_cycles_active.avg.pct_of_peak_sustained_elapsed", weighted, "gpu.cycles"},

    // Occupancy.
    {"occupancy.theoretical", "1", "Warps that fit an SM by the launch's resources over the SM's most warps.",
     "kernel", "", "ncu: sm__maximum_warps_per_active_cycle_pct; nvprof: theoretical occupancy", weighted,
     "gpu.cycles"},
    {"occupancy.achieved", "1", "Mean warps resident on an SM while it holds any, over the SM's most warps.",
     "kernel", "",
     "ncu: sm__warps_active.avg.pct_of_peak_sustained_active; nvprof: achieved_occupancy; gpgpu-sim: "
     "gpu_occupancy",
     weighted, "gpu.cycles"},
    {"occupancy.blocks_per_sm", "1", "Blocks that fit an SM at once.", "kernel", "",
     "ncu: launch__occupancy_limit_*", none, ""},
    {"occupancy.limit.warps", "1", "Blocks that would fit an SM if only its warps counted.", "kernel", "",
     "ncu: launch__occupancy_limit_warps", none, ""},
    {"occupancy.limit.blocks", "1", "Blocks that would fit an SM if only its block slots counted.", "kernel",
     "", "ncu: launch__occupancy_limit_blocks", none, ""},
    {"occupancy.limit.registers", "1", "Blocks that would fit an SM if only its registers counted.", "kernel",
     "", "ncu: launch__occupancy_limit_registers", none, ""},
    {"occupancy.limit.shared_memory", "1", "Blocks that would fit an SM if only its shared memory counted.",
     "kernel", "", "ncu: launch__occupancy_limit_shared_mem", none, ""},

    // Global and local memory as the program asks for it.
    {"global.load.requests", "1", "Warp instructions that load from global memory.", "kernel", "",
     "ncu: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum; nvprof: global_load_requests", sum, ""},
    {"global.load.sectors", "1", "Sectors of 32 bytes that global loads touch after coalescing.", "kernel",
     "", "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum; nvprof: gld_transactions", sum, ""},
    {"global.load.bytes", "bytes", "Bytes that threads ask for in global loads.", "kernel", "",
     "nvprof: gld_requested_throughput (times time)", sum, ""},
    {"global.load.efficiency", "1",
     "Bytes asked for over bytes of the sectors touched; above 1 when threads share addresses.", "kernel",
     "global.load.bytes / (32 * global.load.sectors)",
     "ncu: smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct; nvprof: gld_efficiency", weighted,
     "global.load.sectors"},
    {"global.store.requests", "1", "Warp instructions that store to global memory.", "kernel", "",
     "ncu: l1tex__t_requests_pipe_lsu_mem_global_op_st.sum; nvprof: global_store_requests", sum, ""},
    {"global.store.sectors", "1", "Sectors of 32 bytes that global stores touch after coalescing.", "kernel",
     "", "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum; nvprof: gst_transactions", sum, ""},
    {"global.store.bytes", "bytes", "Bytes that threads write in global stores.", "kernel", "",
     "nvprof: gst_requested_throughput (times time)", sum, ""},
    {"global.store.efficiency", "1", "Bytes written over bytes of the sectors touched.", "kernel",
     "global.store.bytes / (32 * global.store.sectors)",
     "ncu: smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct; nvprof: gst_efficiency", weighted,
     "global.store.sectors"},
    {"local.load.sectors", "1", "Sectors of 32 bytes that local loads touch (spills, arrays of a thread).",
     "kernel", "", "ncu: l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum; nvprof: local_load_transactions", sum,
     ""},
    {"local.store.sectors", "1", "Sectors of 32 bytes that local stores touch.", "kernel", "",
     "ncu: l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum; nvprof: local_store_transactions", sum, ""},
    {"atomic.requests", "1", "Warp instructions that do atomics or reductions on global memory.", "kernel",
     "", "ncu: l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum; nvprof: atomic_transactions", sum, ""},
    {"atomic.operations", "1", "Atomic operations of single threads performed at L2.", "kernel", "",
     "ncu: lts__t_sectors_op_atom.sum", sum, ""},

    // Shared and constant memory.
    {"shared.load.requests", "1", "Warp instructions that load from shared memory.", "kernel", "",
     "ncu: smsp__inst_executed_op_shared_ld.sum; nvprof: inst_executed_shared_loads", sum, ""},
    {"shared.store.requests", "1", "Warp instructions that store to shared memory.", "kernel", "",
     "ncu: smsp__inst_executed_op_shared_st.sum; nvprof: inst_executed_shared_stores", sum, ""},
    {"shared.atomic.requests", "1", "Warp instructions that do atomics on shared memory.", "kernel", "",
     "ncu: smsp__inst_executed_op_shared_atom.sum; nvprof: inst_executed_shared_atomics", sum, ""},
    {"shared.wavefronts", "1", "Passes through shared memory that the requests needed.", "kernel", "",
     "ncu: l1tex__data_pipe_lsu_wavefronts_mem_shared.sum; nvprof: shared_load_transactions", sum, ""},
    {"shared.bank_conflicts", "1", "Passes beyond those that a conflict-free access of the same width needs.",
     "kernel", "",
     "ncu: l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum; nvprof: shared_ld_bank_conflict; gpgpu-sim: "
     "gpgpu_n_shmem_bkconflict",
     sum, ""},
    {"shared.bytes", "bytes", "Bytes that threads move from and to shared memory.", "kernel", "", "", sum,
     ""},
    {"shared.utilisation", "1", "Passes through shared memory over cycles, mean of the SMs.", "kernel",
     "shared.wavefronts / (gpu.cycles * number of SMs)",
     "ncu: l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed; nvprof: "
     "shared_utilization",
     weighted, "gpu.cycles"},
    {"constant.accesses", "1", "Lookups in the constant cache.", "kernel", "",
     "ncu: idc__requests.sum; gpgpu-sim: L1C_total_cache_accesses", sum, ""},
    {"constant.misses", "1", "Lookups in the constant cache that missed.", "kernel", "",
     "gpgpu-sim: L1C_total_cache_misses", sum, ""},
    {"constant.miss_rate", "1", "Share of constant cache lookups that missed.", "kernel",
     "constant.misses / constant.accesses", "", weighted, "constant.accesses"},
    {"texture.requests", "1", "Warp instructions that read textures.", "kernel", "",
     "ncu: l1tex__t_requests_pipe_tex.sum; nvprof: tex_cache_transactions", sum, ""},

    // L1.
    {"l1.read.accesses", "1", "Sector reads that reached L1.", "kernel",
     "l1.read.hits + l1.read.hits_pending + l1.read.misses",
     "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum; gpgpu-sim: L1D_total_cache_accesses", sum, ""},
    {"l1.read.hits", "1", "Sector reads that found their data in L1.", "kernel", "",
     "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", sum, ""},
    {"l1.read.hits_pending", "1", "Sector reads that joined an outstanding miss of L1.", "kernel", "",
     "gpgpu-sim: L1D_total_cache_pending_hits", sum, ""},
    {"l1.read.misses", "1", "Sector reads that L1 had to fetch from L2.", "kernel", "",
     "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum; gpgpu-sim: L1D_total_cache_misses",
     sum, ""},
    {"l1.read.miss_rate", "1", "Share of L1 sector reads that missed.", "kernel",
     "l1.read.misses / l1.read.accesses",
     "ncu: 1 - l1tex__t_sector_hit_rate.pct / 100; nvprof: 1 - global_hit_rate; gpgpu-sim: "
     "L1D_total_cache_miss_rate",
     weighted, "l1.read.accesses"},
    {"l1.write.accesses", "1", "Sector writes that reached L1.", "kernel", "",
     "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", sum, ""},
    {"l1.write.hits", "1", "Sector writes that found their line in L1.", "kernel", "",
     "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum", sum, ""},
    {"l1.write.misses", "1", "Sector writes that did not find their line in L1.", "kernel", "",
     "ncu: l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_miss.sum", sum, ""},
    {"l1.write.miss_rate", "1", "Share of L1 sector writes that missed.", "kernel",
     "l1.write.misses / l1.write.accesses", "", weighted, "l1.write.accesses"},
    {"l1.bytes", "bytes", "Bytes that L1 moved from and to the registers.", "kernel", "",
     "ncu: l1tex__t_bytes.sum", sum, ""},
    {"l1.utilisation", "1", "Bytes moved by L1 over its peak, mean of the SMs.", "kernel", "",
     "ncu: l1tex__throughput.avg.pct_of_peak_sustained_active; nvprof: tex_utilization", weighted,
     "gpu.cycles"},
    {"l1.mshr.stalls", "cycles",
     "Cycles in which L1 refused a miss because no MSHR was free, summed over the SMs.", "kernel", "",
     "gpgpu-sim: gpgpu_n_stall_shd_mem (MSHR part)", sum, ""},

    // Interconnect and L2.
    {"interconnect.read.bytes", "bytes", "Bytes that the network carried from L2 to the SMs.", "kernel", "",
     "ncu: l1tex__m_xbar2l1tex_read_bytes.sum", sum, ""},
    {"interconnect.write.bytes", "bytes", "Bytes that the network carried from the SMs to L2.", "kernel", "",
     "ncu: l1tex__m_l1tex2xbar_write_bytes.sum", sum, ""},
    {"interconnect.utilisation", "1", "Share of the network's peak in the busier direction.", "kernel", "",
     "ncu: lts__t_sectors.avg.pct_of_peak_sustained_elapsed", weighted, "gpu.cycles"},
    {"l2.read.accesses", "1", "Sector reads that reached L2.", "kernel",
     "l2.read.hits + l2.read.hits_pending + l2.read.misses",
     "ncu: lts__t_sectors_op_read.sum; nvprof: l2_read_transactions; gpgpu-sim: L2_total_cache_accesses", sum,
     ""},
    {"l2.read.hits", "1", "Sector reads that found their data in L2.", "kernel", "",
     "ncu: lts__t_sectors_op_read_lookup_hit.sum", sum, ""},
    {"l2.read.hits_pending", "1", "Sector reads that joined an outstanding miss of L2.", "kernel", "",
     "gpgpu-sim: L2_total_cache_pending_hits", sum, ""},
    {"l2.read.misses", "1", "Sector reads that L2 had to fetch from DRAM.", "kernel", "",
     "ncu: lts__t_sectors_op_read_lookup_miss.sum; gpgpu-sim: L2_total_cache_misses", sum, ""},
    {"l2.read.miss_rate", "1", "Share of L2 sector reads that missed.", "kernel",
     "l2.read.misses / l2.read.accesses",
     "ncu: 1 - lts__t_sector_op_read_hit_rate.pct / 100; nvprof: 1 - l2_tex_read_hit_rate; gpgpu-sim: "
     "L2_total_cache_miss_rate",
     weighted, "l2.read.accesses"},
    {"l2.write.accesses", "1", "Sector writes that reached L2.", "kernel", "",
     "ncu: lts__t_sectors_op_write.sum; nvprof: l2_write_transactions", sum, ""},
    {"l2.write.hits", "1", "Sector writes that found their line in L2.", "kernel", "",
     "ncu: lts__t_sectors_op_write_lookup_hit.sum", sum, ""},
    {"l2.write.misses", "1", "Sector writes that did not find their line in L2.", "kernel", "",
     "ncu: lts__t_sectors_op_write_lookup_miss.sum", sum, ""},
    {"l2.write.miss_rate", "1", "Share of L2 sector writes that missed.", "kernel",
     "l2.write.misses / l2.write.accesses", "nvprof: 1 - l2_tex_write_hit_rate", weighted,
     "l2.write.accesses"},
    {"l2.bytes", "bytes", "Bytes that L2 moved from and to the network.", "kernel", "",
     "ncu: lts__t_bytes.sum", sum, ""},
    {"l2.utilisation", "1", "Bytes moved by L2 over its peak.", "kernel", "",
     "ncu: lts__throughput.avg.pct_of_peak_sustained_elapsed; nvprof: l2_utilization", weighted,
     "gpu.cycles"},
    {"l2.writebacks", "1", "Sectors that L2 wrote back to DRAM.", "kernel", "",
     "gpgpu-sim: L2_total_cache_write_backs", sum, ""},
    {"l2.slice.accesses.min", "1", "Sectors moved by the L2 slice that moved fewest.", "kernel", "", "", none, ""},
    {"l2.slice.accesses.max", "1", "Sectors moved by the L2 slice that moved most.", "kernel", "", "", none, ""},
    {"l2.slice.imbalance", "1", "Sectors moved by the busiest L2 slice over those of the average one; 1 is even.",
     "kernel", "l2.slice.accesses.max * slices / (l2.bytes / 32)", "", weighted, "l2.bytes"},

    // DRAM.
    {"dram.read.bytes", "bytes", "Bytes read from DRAM.", "kernel", "",
     "ncu: dram__bytes_read.sum; nvprof: dram_read_bytes; gpgpu-sim: n_rd (times atom size)", sum, ""},
    {"dram.write.bytes", "bytes", "Bytes written to DRAM.", "kernel", "",
     "ncu: dram__bytes_write.sum; nvprof: dram_write_bytes; gpgpu-sim: n_wr (times atom size)", sum, ""},
    {"dram.bandwidth", "bytes/s", "Bytes moved from and to DRAM per second of the kernel.", "kernel",
     "(dram.read.bytes + dram.write.bytes) / gpu.time",
     "ncu: dram__bytes.sum.per_second; nvprof: dram_read_throughput + dram_write_throughput", weighted,
     "gpu.time"},
    {"dram.utilisation", "1",
     "Bytes moved over what the DRAM could move in the same time at its theoretical peak.", "kernel",
     "dram.bandwidth / peak bandwidth of the device",
     "ncu: dram__throughput.avg.pct_of_peak_sustained_elapsed; nvprof: dram_utilization; gpgpu-sim: bw_util",
     weighted, "gpu.time"},
    {"dram.row_misses", "1", "DRAM accesses that went to another row than the one before in their partition.",
     "kernel", "", "", sum, ""},

    {"dram.plugin.*", "1",
     "A statistic that a memory plug-in reports, over all of its channels, by the name it gives; if it has a unit, the name ends with "
     "it.",
     "kernel", "", "", none, ""},
    {"dram.partition.bytes.min", "bytes", "Bytes moved by the memory partition that moved fewest.", "kernel", "", "",
     none, ""},
    {"dram.partition.bytes.max", "bytes", "Bytes moved by the memory partition that moved most.", "kernel", "", "",
     none, ""},
    {"dram.partition.imbalance", "1",
     "Bytes moved by the busiest memory partition over those of the average one; 1 is even.", "kernel",
     "dram.partition.bytes.max * partitions / (dram.read.bytes + dram.write.bytes)", "", none, ""},

    // Scheduler slots.
    {"scheduler.slots", "1", "Scheduler cycles accounted: one per warp scheduler and cycle of the kernel.",
     "kernel", "", "ncu: smsp__cycles_elapsed.sum", sum, ""},
    {"gpu.stall.classic.dram_full", "cycles",
     "L2 slice cycles with 8 or more requests that the slice cannot serve (no miss register, or the queue to DRAM is "
     "full). GPGPU-Sim counts sub-partition cycles in which the input queue of L2 (8 entries on a GTX 480) takes nothing "
     "from the network; here the queue has no limit and requests that wait for the slice's bandwidth are not in it.",
     "kernel", "", "gpgpu-sim: gpu_stall_dramfull", sum, ""},
    {"gpu.stall.classic.icnt_to_sm", "cycles",
     "L2 slice cycles in which a reply of the slice has crossed the network and its SM's port is taken by earlier ones. "
     "GPGPU-Sim counts sub-partition cycles in which a reply is ready and the network's input buffer has no room.",
     "kernel", "", "gpgpu-sim: gpu_stall_icnt2sh", sum, ""},
    {"gpu.stall.classic.shared_memory", "cycles",
     "SM cycles that the load-store units spend on an instruction beyond its first one, summed over units and instructions: "
     "further passes of shared memory and constants, further lines of global and local accesses, and cycles in which the "
     "first global access waits for a miss register, a store credit or the network. GPGPU-Sim counts load-store unit cycles in which "
     "the first instruction cannot finish its memory stage, whatever the memory.",
     "kernel", "", "gpgpu-sim: gpgpu_n_stall_shd_mem", sum, ""},
    {"stall.*", "1",
     "Share of scheduler slots charged to one reason; the shares of all reasons, `selected` included, add up "
     "to 1.",
     "kernel", "",
     "ncu: smsp__average_warps_issue_stalled_*_per_issue_active.ratio (warps, not slots); nvprof: stall_*; "
     "gpgpu-sim: W0_Idle, W0_Scoreboard, Stall",
     weighted, "scheduler.slots"},

    // The whole program.
    {"program.time", "ns",
     "Simulated time from the first to the last activity of the device, copies and gaps included.", "total",
     "", "", none, ""},
    {"program.kernels", "1", "Kernel launches.", "total", "", "", none, ""},
    {"copy.time", "ns", "Simulated time of copies between host and device, on the device and of fills.",
     "total", "", "nvprof: [CUDA memcpy] time", none, ""},
    {"copy.count", "1", "Copies and fills.", "total", "", "", none, ""},
    {"copy.h2d.bytes", "bytes", "Bytes copied from the host to the device.", "total", "",
     "nvprof: [CUDA memcpy HtoD] size", none, ""},
    {"copy.d2h.bytes", "bytes", "Bytes copied from the device to the host.", "total", "",
     "nvprof: [CUDA memcpy DtoH] size", none, ""},
    {"copy.d2d.bytes", "bytes", "Bytes copied within the device.", "total", "",
     "nvprof: [CUDA memcpy DtoD] size", none, ""},
    {"copy.fill.bytes", "bytes", "Bytes set by fills.", "total", "", "nvprof: [CUDA memset] size", none, ""},
    {"memory.allocated.peak", "bytes", "Most device memory allocated at one time.", "total", "", "", none,
     ""},

    // The simulator itself: the only metrics that differ between equal runs.
    {"host.wall_time", "s", "Time the run took on the host.", "host", "", "gpgpu-sim: gpgpu_simulation_time",
     none, ""},
    {"host.rate.warp_instructions", "1/s", "Warp instructions simulated per second of host time.", "host",
     "gpu.instructions.warp / host.wall_time", "gpgpu-sim: gpgpu_simulation_rate (inst/sec, threads)", none,
     ""},
    {"host.peak_memory", "bytes", "Most memory the simulating process used.", "host", "", "", none, ""},
};

}  // namespace

const std::vector<MetricDeclaration>& registry() {
  // Never destroyed: a program's result is written by an exit handler, which may run after static destructors.
  static const auto& all = *new std::vector<MetricDeclaration>(std::begin(rows), std::end(rows));
  return all;
}

}  // namespace simtlab::result
