// What an analytical model is evaluated from: counts of a kernel, its launch, and the machine. Keys of a counts file (TOML) are the names
// of the members; `symbols()` declares each once, with unit, range and meaning. Cycles are SM core cycles.
//
// Sources of the symbols: Hong and Kim, ISCA 2009; Sim, Dasgupta, Kim and Vuduc, PPoPP 2012. docs/models.md has the equations.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace simtlab::predict {

// Nobody gave it. Models never see it: every symbol that a model needs is asked for before (require()).
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Counts {
  // Machine of both models.
  double freq = unknown;                  // GHz; SM clock
  double active_sms = unknown;            // SMs that got a block: min(blocks, SMs)

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
  double comp_insts = unknown;            // everything but global and local memory
  double coal_mem_insts = unknown, uncoal_mem_insts = unknown;
  double synch_insts = unknown;           // barriers
  double coal_per_mw = unknown;           // transactions of a coalesced warp access; the equations know only 1
  double uncoal_per_mw = unknown;         // the same of an uncoalesced one
  double load_bytes_per_warp = unknown;   // bytes that one warp access asks for

  // Program of the 2012 model, warp instructions per warp.
  double insts = unknown, mem_insts = unknown, sync_insts = unknown, sfu_insts = unknown, fp_insts = unknown;
  double total_warps = unknown;           // of the grid
  double n = unknown;                     // resident warps per SM
  double avg_inst_lat = unknown;          // cycles; mean over the executed compute instructions
  double ilp = unknown, mlp = unknown;    // independent instructions, memory requests between dependences
  double miss_ratio = unknown;            // of the modelled cache, 0 to 1
  double avg_trans_warp = unknown;        // transactions per warp memory request
  double o_cfdiv = unknown, o_bank = unknown;   // cycles lost to divergence, to bank conflicts
  double useful_bytes = unknown;          // bytes that the kernel must move at least

  // Machine of the 2012 model.
  double warp_size = unknown;
  double simd_width = unknown, sfu_width = unknown;   // lanes per SM
  double fp_lat = unknown;                // cycles of a floating-point instruction
  double dram_lat = unknown, hit_lat = unknown;       // cycles; unloaded DRAM, cache hit
  double delta = unknown;                 // cycles between two transactions
  double mem_peak_bandwidth = unknown;    // GB/s
  double transaction_size = unknown;      // bytes
  double gamma = unknown;                 // machine constant of the barrier model; fitted, never assumed
};

enum class Kind : unsigned char { real, whole };

struct Symbol {
  std::string_view key;   // of the counts file
  std::string_view unit;  // "1" for plain numbers
  std::string_view doc;   // one sentence without the final full stop
  double minimum, maximum;
  Kind kind;
  bool machine;           // a parameter of the device, whose weight for the time is of interest
  double Counts::*member;
};
std::span<const Symbol> symbols();
const Symbol& symbol(double Counts::*member);

// Where a value is from, for people; and its place, if a file has it.
struct Source {
  std::string text;      // "counts.toml:3", "gpu h100 (sm.clock)", "derived: blocks * ..."; empty: unknown
  Diagnostic here = {};
};

struct Inputs {
  Counts counts;
  std::vector<Source> sources;  // by index in symbols()
  std::string file;
  std::size_t lines = 0;        // of the file

  bool has(double Counts::*member) const;
  const Source& source(double Counts::*member) const;
  void set(double Counts::*member, double value, Source source);
};

// Throws Error(bad_input): "toml-syntax"; "counts-file" for unknown keys and values that are none or out of range, all of them at once.
Inputs parse_counts(std::string_view text, const std::string& file);

// Fills in what is not given: the same quantity under its other name, the machine from `gpu` (may be null), what follows from the launch.
// Throws Error(bad_input, "counts-contradiction") for values that exclude each other and launches that the GPU does not take.
void complete(Inputs& inputs, const device::Device* gpu);

// The symbols of `needed` that are still unknown.
std::vector<const Symbol*> missing(const Inputs& inputs, std::span<double Counts::* const> needed);
// Throws Error(bad_input, "counts-missing") for them.
void require(const Inputs& inputs, std::span<double Counts::* const> needed, std::string_view model);

}  // namespace simtlab::predict
