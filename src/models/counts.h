// What an analytical model is evaluated from: counts of a kernel, its launch, and the machine. Keys of a
// counts file (TOML) are the names of the members; `symbols()` declares each once, with unit, range and
// meaning. Cycles are SM core cycles.
//
// Sources of the symbols: Hong and Kim, ISCA 2009; Sim, Dasgupta, Kim and Vuduc, PPoPP 2012.
// docs/concepts/models.md has the equations.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace simtlab::models {

// Nobody gave it. Models never see it: every symbol that a model needs is asked for before (require()).
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The instruction mix, per operation class in the order of device::op_class_names.
struct Mix {
  using Column = std::array<double, device::op_class_names.size()>;
  Column insts, latency, throughput;

  Mix() {
    insts.fill(unknown);       // warp instructions of a warp, as the machine executes them
    latency.fill(unknown);     // cycles from issue to the issue of what depends on it
    throughput.fill(unknown);  // thread results per cycle and SM
  }
};

// One instruction of the code of a warp. How often it is executed is in its number, not in the order: loops
// are laid flat.
struct TraceStep {
  std::string place;  // for people: "k.cu:14 load", "load src, line 9"
  device::OpClass op_class = device::OpClass::int_alu;
  double insts = 0;   // of a warp
  double spread = 1;  // lines or passes of one access, over lines_per_access or shared_passes
  double ilp = 1;     // of the straight piece of code that it stands in, over that of the counts
  int access = -1;    // of a nest: its number
};

struct Counts {
  // Machine of both models.
  double freq = unknown;        // GHz; SM clock
  double active_sms = unknown;  // SMs that got a block: min(blocks, SMs)

  // Machine of the 2009 model.
  double threads_per_warp = unknown;
  double issue_cycles = unknown;          // cycles that an SM takes to issue one warp instruction
  double mem_bandwidth = unknown;         // GB/s (1e9), DRAM peak
  double mem_ld = unknown;                // cycles; DRAM latency of one transaction, there and back
  double departure_del_uncoal = unknown;  // cycles between two transactions of one uncoalesced access
  double departure_del_coal = unknown;    // cycles between two coalesced warp accesses

  // Launch.
  double blocks = unknown, threads_per_block = unknown;
  double active_blocks_per_sm = unknown;  // resident at once

  // Program, per thread, dynamic.
  double comp_insts = unknown;  // everything but global and local memory
  double coal_mem_insts = unknown, uncoal_mem_insts = unknown;
  double synch_insts = unknown;  // barriers
  // Transactions of a coalesced warp access; the equations know only 1
  double coal_per_mw = unknown;
  double uncoal_per_mw = unknown;        // the same of an uncoalesced one
  double load_bytes_per_warp = unknown;  // bytes that one warp access asks for

  // Program of the 2012 model, warp instructions per warp.
  double insts = unknown, mem_insts = unknown, sync_insts = unknown, sfu_insts = unknown, fp_insts = unknown;
  double total_warps = unknown;         // of the grid
  double n = unknown;                   // resident warps per SM
  double avg_inst_lat = unknown;        // cycles; mean over the executed compute instructions
  double ilp = unknown, mlp = unknown;  // independent instructions, memory requests between dependences
  double miss_ratio = unknown;          // of the modelled cache, 0 to 1
  double avg_trans_warp = unknown;      // transactions per warp memory request
  double o_cfdiv = unknown, o_bank = unknown;  // cycles lost to divergence, to bank conflicts
  double useful_bytes = unknown;               // bytes that the kernel must move at least

  // Machine of the 2012 model.
  double warp_size = unknown;
  double simd_width = unknown, sfu_width = unknown;  // lanes per SM
  double fp_lat = unknown;                           // cycles of a floating-point instruction
  double dram_lat = unknown, hit_lat = unknown;      // cycles; unloaded DRAM, cache hit
  // Of a line through DRAM's latency under load, Y = aX + b over the threads X on the GPU (Sanchez, eq. 7.1)
  double dram_lat_per_thread = unknown, dram_lat_at_none = unknown;  // a and b, cycles
  double delta = unknown;                                            // cycles between two transactions
  double mem_peak_bandwidth = unknown;                               // GB/s
  double transaction_size = unknown;                                 // bytes
  double gamma = unknown;  // machine constant of the barrier model; fitted, never assumed

  // Traffic and work of the whole grid.
  // Between SMs and L1, L1s and L2, L2 and DRAM; whole sectors, both ways
  double l1_bytes = unknown, l2_bytes = unknown, dram_bytes = unknown;
  double fma_insts = unknown;  // per warp; fused multiply-adds
  double flops = unknown;      // floating-point operations; a fused multiply-add is two

  // Shape of a warp's accesses.
  // Per warp; passes of one access to shared memory, a mean of at least 1
  double shared_insts = unknown, shared_passes = unknown;
  double lines_per_access = unknown;  // 128-byte lines (passes of L1) of one global access, a mean
  // Cycles of a warp alone on an idle GPU, from its first issue to its last result
  double warp_latency = unknown;
  // Of them: nothing could be issued for want of global or local memory
  double warp_memory_wait = unknown;
  // Of an access by the hit rates and latencies with which warp_latency was found
  double sampled_latency = unknown;
  // That the busiest pipeline of an SM takes for the instructions of a warp
  double pipe_cycles = unknown;
  double warp_spread = unknown;   // instructions of the longest warp over those of a mean one
  double active_lanes = unknown;  // of an instruction, a mean
  // Per warp; cycles of one alone on an idle SM, its round trips to global memory left out
  double chain_cycles = unknown;
  double chain_accesses = unknown;  // per warp; round trips to global memory that follow one another
  double l1_miss_ratio = unknown, l2_miss_ratio = unknown;  // of the requested sectors

  // Machine: caches, shared memory, issue.
  double l1_lat = unknown, l2_lat = unknown, shared_lat = unknown;        // cycles, load to use
  double l1_bytes_per_cycle = unknown, shared_bytes_per_cycle = unknown;  // of an SM
  double l2_bytes_per_cycle = unknown;                                    // of the whole GPU, per SM cycle
  // Of an SM's port to the network
  double sm_read_bytes_per_cycle = unknown, sm_write_bytes_per_cycle = unknown;
  // Of L1: what a pass covers, what a miss fetches at least
  double line_bytes = unknown, sector_bytes = unknown;
  double issue_per_cycle = unknown;  // warp instructions per cycle and SM
  double sm_count = unknown;         // with or without a block
  double schedulers = unknown;       // per SM
  double cores_shared = unknown;     // 1: integer and floating point run on the same lanes
  double barrier_lat = unknown;      // cycles from the last arrival to the first instruction behind it
  double block_launch = unknown;     // cycles between two blocks handed to one SM
  double block_latency = unknown;    // cycles from there to the block's first instruction
  double launch_floor = unknown;     // cycles of a kernel beside those of its blocks
  double tags_per_cycle = unknown;   // lines that L1 looks up; unknown: one
  double dram_bandwidth_measured = unknown;  // GB/s that a large copy reaches

  // Host side.
  double launch_overhead = unknown;  // us
  double context_init = unknown;     // ms
  double h2d_bytes = unknown, d2h_bytes = unknown;
  double h2d_bandwidth = unknown, d2h_bandwidth = unknown;  // GB/s
  double copy_latency = unknown;                            // us

  Mix mix;
  // In the order of the text; empty: nobody knows it. Its numbers count in proportion: how many there are of
  // a class, and their means, are what the members above say.
  std::vector<TraceStep> trace;
};

enum class Kind : unsigned char { real, whole };

struct Symbol {
  std::string_view key;   // of the counts file
  std::string_view unit;  // "1" for plain numbers
  std::string_view doc;   // one sentence without the final full stop
  double minimum, maximum;
  Kind kind;
  bool machine;  // a parameter of the device, whose weight for the time is of interest
  double Counts::*member;
};
std::span<const Symbol> symbols();
const Symbol& symbol(double Counts::*member);
// The same quantity under the name that another paper gives it; null: it has one name.
double Counts::*other_name(double Counts::*member);

// A column of the mix: key of the tables [class.NAME] of a counts file.
struct MixSymbol {
  std::string_view key, unit, doc;
  double minimum, maximum;
  bool machine;
  Mix::Column Mix::*column;
};
std::span<const MixSymbol> mix_symbols();
std::size_t class_index(std::string_view name);  // of device::op_class_names; asserts that it is one

// Where a value is from, for people; and its place, if a file has it.
struct Source {
  std::string text;  // "counts.toml:3", "gpu h100 (sm.clock)", "derived: blocks * ..."; empty: unknown
  Diagnostic here = {};
};

struct Inputs {
  Counts counts;
  std::vector<Source> sources;  // by index in symbols()
  // By index in mix_symbols(), class
  std::array<std::array<Source, device::op_class_names.size()>, 3> mix_sources;
  std::string file;
  std::size_t lines = 0;  // of the file

  bool has(double Counts::*member) const;
  const Source& source(double Counts::*member) const;
  void set(double Counts::*member, double value, Source source);

  bool has_mix() const;  // instructions of at least one class; complete() takes the others as 0 then
  void set_insts(std::size_t class_index, double value, Source source);
  void set_mix(const MixSymbol& symbol, std::size_t class_index, double value, Source source);
  const Source& mix_source(const MixSymbol& symbol, std::size_t class_index) const;
};

// Throws Error(bad_input): "toml-syntax"; "counts-file" for unknown keys and values that are none or out of
// range, all of them at once.
Inputs parse_counts(std::string_view text, const std::string& file);

// Fills in what is not given: the same quantity under its other name, the machine from `gpu` (may be null),
// what follows from the launch, from the mix and from the memory's shape. What is given stays. Throws
// Error(bad_input, "counts-contradiction") for values that exclude each other and launches that the GPU does
// not take.
void complete(Inputs& inputs, const device::Device* gpu);

}  // namespace simtlab::models
