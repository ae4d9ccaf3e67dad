// A GPU as numbers. Immutable once loaded; every value has a unit here and an origin in the data file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/op_class.h"

namespace simtlab::device {

enum class WritePolicy : std::uint8_t { write_through, write_back, write_evict };
enum class Replacement : std::uint8_t { lru, fifo, random, plru, lfu, mfu };
// How the set of a line follows from its number (memory/set_index.h).
enum class SetIndex : std::uint8_t { modulo, hash, xor_fold, fermi, bits };
enum class Scheduler : std::uint8_t { lrr, gto, oldest, two_level };
enum class SliceHash : std::uint8_t { even, bits };

struct CacheParams {
  std::uint64_t bytes = 0;                                      // one cache (L2: the whole GPU)
  std::uint32_t line_bytes = 128, sector_bytes = 32, ways = 4;  // sector_bytes == line_bytes: not sectored
  double latency = 0;                                           // cycles, load to use, on a hit
  double bytes_per_cycle = 0;                                   // L1: per SM; L2: whole GPU (SM clock)
  std::uint32_t mshr_entries = 0, mshr_merge = 0;               // mshr_merge 0: any number
  WritePolicy write_policy = WritePolicy::write_through;
  bool write_allocate = false;
  Replacement replacement = Replacement::lru;
  SetIndex set_index = SetIndex::modulo;
  std::string set_bits = "none";  // SetIndex::bits: the address bits, lowest first: "7 8 9 10 13"
};

// The value of a policy's parameter (scheduler_parameter.h): one of the two, as the parameter says.
struct PolicyValue {
  std::uint64_t whole = 0;
  double real = 0;
};

struct Device {
  std::string name;          // catalogue name: "h100"
  std::string product;       // "NVIDIA H100 SXM5 80GB"
  std::string architecture;  // "hopper"
  int cc_major = 0, cc_minor = 0;

  double sm_clock_hz = 0;      // clock of the SMs, the interconnect and L2 in this model
  double memory_clock_hz = 0;  // as cudaDeviceProp reports it

  struct Sm {
    // issue_width: instructions per scheduler and cycle
    std::uint32_t count = 0, schedulers = 0, issue_width = 1;
    Scheduler scheduler = Scheduler::gto;
    std::uint32_t max_threads = 0, max_warps = 0, max_blocks = 0, max_threads_per_block = 1024;
    std::uint32_t registers = 0, register_allocation_unit = 256, max_registers_per_thread = 255;
    std::uint32_t warp_allocation_granularity = 4;
    bool register_allocation_per_block = false;  // Fermi allocates per warp, Tesla per block
    std::uint64_t shared_bytes = 0;              // most shared memory of one SM
    std::uint64_t shared_bytes_per_block = 0;    // without opt-in
    std::uint64_t shared_bytes_per_block_optin = 0;
    std::uint32_t shared_allocation_unit = 128, shared_reserved_per_block = 0;
    double branch_latency = 0, barrier_latency = 0;
    std::uint32_t issue_turns = 1;  // a scheduler issues in every so-many-th cycle
    // A double-precision instruction may be one of two issued together
    bool pairs_fp64 = true;
    // Instructions of double precision that a scheduler may have before the one unit of the SM; 0: each
    // scheduler has a share of its own
    std::uint32_t fp64_queue = 0;
    std::uint32_t register_banks = 0;       // of a scheduler's register file; 0: without conflicts
    std::uint32_t register_bank_reads = 1;  // 32-bit registers of a warp that a bank gives in a cycle
    // Instructions of a scheduler that wait for the units of the SM; 0: as many as take the unit 16 cycles
    std::uint32_t memory_queue = 0;
    double unit_backlog = 16;  // cycles of work before a unit of the SM
    std::uint32_t held_accesses = 8, stores_in_flight = 256;
    double address_interval = 1;     // cycles between two memory instructions of a scheduler
    std::uint32_t yield_cycles = 0;  // without an issue after an instruction that yields
    // Between two that read special registers; that a store of parts of sectors stays in the SM
    double special_interval = 0, partial_store_cycles = 0;
    // In a cycle
    double issuing_schedulers() const { return static_cast<double>(schedulers) / issue_turns; }
  } sm;

  // How instructions come to the schedulers.
  struct Instruction {
    bool caches = false;       // false: they are always there
    std::uint32_t bytes = 16;  // of a machine instruction
    // So many share a control word of the same size, before them; 0: they have none
    std::uint32_t group = 0;
    std::uint32_t buffer = 4;   // machine instructions that a warp has asked for ahead
    std::uint32_t fetched = 0;  // by a scheduler in a cycle; 0: as many as it issues
    std::uint32_t line_bytes = 128;
    std::uint32_t l0_caches = 1, l0_ways = 4;  // of an SM; schedulers share them evenly
    std::uint64_t l0_bytes = 8192;             // of one of them
    std::uint64_t l1_bytes = 32768;            // of one SM, behind them
    std::uint32_t l1_ways = 8;
    // Cycles that an instruction comes later from there than from L0
    double l1_latency = 0;
    double l1_bytes_per_cycle = 0, l2_bytes_per_cycle = 0;  // to all L0 of the SM; from L2 to the SM; 0: any
    std::uint32_t l0_prefetch = 0;  // lines that are brought behind one that is new to L0
    // Constants that a scheduler keeps for operands of machine code; 0: they are always at hand
    std::uint64_t constant_bytes = 0;
  } instruction;

  // Per operation class, in the order of the table in device/op_class.h.
  std::array<double, op_class_count> latency{};     // SM cycles from issue to a dependent issue
  std::array<double, op_class_count> throughput{};  // thread results per cycle per SM

  struct Shared {
    double latency = 0;
    std::uint32_t banks = 32, bank_bytes = 4;
    double interval = 0;        // cycles that an instruction takes the unit at least
    bool shares_pairs = false;  // wide loads of equal pairs of lanes take half of their passes
    // Of other blocks of a cluster: blocks of one at most (0: there are no clusters), a load's cycles, bytes
    // a cycle that an SM sends or fetches
    std::uint32_t cluster_blocks = 0;
    double cluster_latency = 0, cluster_bandwidth = 0;
  } shared;

  // Cycles from issue until the unit of an instruction of machine code has read its operands: how long the
  // scoreboard is held that guards them.
  struct Operands {
    double global_load = 11, global_store = 11, shared_load = 11, shared_store = 11;
    double value_register = 0;  // more for each register of a store's value beyond the first
  } operands;

  CacheParams l1;
  bool l1_caches_global = true;      // Kepler/Maxwell default: false (L2 only)
  std::uint32_t l1_tag_banks = 0;    // tags looked up in a cycle, in banks of lines; 0: one line a cycle
  double l1_register_latency = 0;    // of each 32-bit register of a load: l1.latency is that of two
  bool l1_shares_data_path = false;  // with shared memory: a wavefront of either a cycle
  // > 0: L1 and shared memory share this; L1 = unified - shared carve-out
  std::uint64_t l1_unified_bytes = 0;
  CacheParams constant;  // latency on a hit; a miss goes to L2
  CacheParams l2;
  std::uint32_t l2_slices = 0;
  SliceHash l2_slice_hash = SliceHash::even;  // also spreads lines over memory partitions
  std::uint32_t l2_partitions = 1;      // parts of L2, each with a part of the SMs near it; 1: one cache
  double l2_dirty_share = 1;            // of the lines of a set that may be modified at once
  double l2_far_latency = 0;            // SM cycles that a hit in another part takes longer
  std::uint32_t l2_miss_bytes = 32;     // that a miss brings at least
  double l2_requests_per_cycle = 0;     // of the whole GPU; 0: as fast as data
  double l2_write_bytes_per_cycle = 0;  // likewise, flits included; 0: as l2.bytes_per_cycle

  // Translation of virtual addresses on the way to L2; for the whole GPU.
  struct Tlb {
    bool enabled = false;
    std::uint64_t page_bytes = 2 << 20;
    std::uint32_t entries = 64;
    double miss_latency = 0;  // SM cycles; part of dram.latency, as long chases measure both
  } tlb;

  struct Interconnect {
    double sm_bytes_per_cycle = 32;  // SM <- network, per SM (read return)
    double sm_write_bytes_per_cycle = 32;
    double latency = 0;            // cycles one way; part of L2's load-to-use latency, not added to it
    double sm_backlog = 64;        // cycles of requests before an SM's way
    std::uint32_t flit_bytes = 0;  // data of a flit: messages take whole ones; 0: bytes count
    std::uint32_t write_header_flits = 0;  // that a masked write sends before those of its data
    std::uint32_t sms_per_write_port = 1;  // neighbours that share one way for what they send
  } interconnect;

  struct Dram {
    std::string technology;  // "hbm3-h100", a file of data/dram
    std::uint64_t bytes = 0;
    std::uint32_t partitions = 0;        // memory partitions (channels) the L2 slices hang on
    double latency = 0;                  // SM cycles, load to use, on an idle GPU
    double bandwidth = 0;                // bytes/s, theoretical
    double bandwidth_measured = 0;       // bytes/s, large copy; 0 = unknown
    double read_bandwidth_measured = 0;  // bytes/s, large read; 0 = as bandwidth_measured
    std::uint32_t access_bytes = 32;     // smallest transfer
    double row_miss_penalty = 0;  // share of extra occupancy for an access to another row (simple model)
    std::uint32_t row_bytes = 1024;
    bool masked_writes = true;  // single bytes are written; else their sector is read first
    // What models it (device/main_memory.h): "simple"; "device", a technology or its file;
    // "plugin:FILE?config=TEXT".
    std::string model = "simple";
    std::string controller = "gpu";  // a file of data/controllers; of a technology only
    // Of a technology or plug-in, one a partition; 0 = as many as the device has
    std::uint32_t channels = 0;
    std::uint32_t request_queue = 64;     // requests of a partition between L2 and its channel
    std::uint32_t return_queue = 192;     // accesses of a partition between its channel and L2
    std::uint64_t stall_limit = 1000000;  // clocks after which a plug-in without progress is given up
    // SM cycles of `latency` that are neither L2's nor the memory's own; derived
    double path = 0;
  } dram;

  // What it costs to get blocks running, in SM cycles.
  struct Launch {
    double floor = 0;           // of a kernel, beside its blocks; in its elapsed cycles
    double block_interval = 0;  // between two blocks of the GPU that are handed out
    double block_latency = 0;   // from there to the block's first instruction
    double warp_interval = 0;   // between the first instructions of two of its warps
  } launch;

  struct Host {
    double launch_overhead_ns = 0;  // kernel launch, from the call to the first block, pipelined launches
    std::uint32_t max_grids = 1;    // kernels that run at once
    double copy_bandwidth_h2d = 0, copy_bandwidth_d2h = 0;  // bytes/s, pinned
    double copy_latency_ns = 0;
  } host;

  // In the order of scheduler_parameters(); empty: their defaults
  std::vector<PolicyValue> scheduler_values;
};

}  // namespace simtlab::device
