#include "device/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "device/front_end_parameters.h"
#include "device/parameter_row.h"
#include "device/scheduler_parameter.h"

namespace simtlab::device {
namespace {

constexpr double giga = 1e9;
constexpr double tera = 1e12;
constexpr std::uint32_t max_line_bytes = 128;  // the models work on 128-byte lines and 32-byte sectors

// Rows of one cache. `what` names it in the sentences.
void add_cache(std::vector<Parameter>& rows, const std::string& key, const std::string& what,
               const std::string& scope, double max_bytes, CacheParams Device::*cache) {
  const auto add = [&](const char* name, Unit unit, double minimum, double maximum, auto member,
                       std::string doc) {
    rows.push_back(row(
        key + "." + name, unit, minimum, maximum, [cache, member](Device& d) { return &(d.*cache.*member); },
        std::move(doc)));
  };
  add("bytes", Unit::bytes, 0, max_bytes, &CacheParams::bytes,
      fmt::format("Capacity of {}, {}", what, scope));
  add("line_bytes", Unit::bytes, 32, max_line_bytes, &CacheParams::line_bytes,
      fmt::format("Line of {}", what));
  rows.back().power_of_two = true;
  add("sector_bytes", Unit::bytes, 32, max_line_bytes, &CacheParams::sector_bytes,
      fmt::format("Sector of {}: what a miss fetches; equal to the line where it has no sectors", what));
  rows.back().power_of_two = true;
  add("ways", Unit::none, 1, 65536, &CacheParams::ways, fmt::format("Associativity of {}", what));
  add("latency", Unit::cycles, 1, max_latency, &CacheParams::latency,
      fmt::format("Load to use on a hit in {}, in SM cycles", what));
  add("bytes_per_cycle", Unit::bytes_per_cycle, 1, 1e6, &CacheParams::bytes_per_cycle,
      fmt::format("Peak bandwidth of {}, {}, per SM cycle", what, scope));
  add("mshr_entries", Unit::none, 1, 65536, &CacheParams::mshr_entries,
      fmt::format("Lines that may be outstanding in {}{}", what, key == "l2" ? ", per slice" : ""));
  if (cache == &Device::constant) {
    rows.back().default_value = "64";  // those beyond are fetched for one warp each
  } else {
    add("mshr_merge", Unit::none, 0, 1e6, &CacheParams::mshr_merge,
        fmt::format("Requests that may wait for one outstanding line of {}; 0: any number", what));
    rows.back().default_value = "0";
  }
  add("write_policy", Unit::none, 0, 0, &CacheParams::write_policy,
      fmt::format("What a store does in {}", what));
  add("write_allocate", Unit::none, 0, 0, &CacheParams::write_allocate,
      fmt::format("Whether a store that misses {} allocates the line", what));
  add("replacement", Unit::none, 0, 0, &CacheParams::replacement, fmt::format("Which line {} evicts", what));
  add("set_index", Unit::none, 0, 0, &CacheParams::set_index,
      fmt::format("How the set of a line of {} follows from its address: line number modulo sets, hashed, "
                  "folded by exclusive or, Fermi's "
                  "hash, or the bits of {}.set_bits",
                  what, key));
  add("set_bits", Unit::none, 0, 0, &CacheParams::set_bits,
      fmt::format("Address bits that make the set number of {}, lowest first, for example \"7 8 9 10 13\"; "
                  "for set_index = \"bits\"",
                  what));
  rows.back().default_value = "none";
}

// What a device file that has no value for a class takes instead.
std::string inherited(OpClass c) {
  const OpClass like = traits(c).like;
  return like == OpClass::count_ ? "" : fmt::format("; a file without it has that of {}", name_of(like));
}

void add_operations(std::vector<Parameter>& rows) {
  const auto add = [&](OpClass c, std::string_view table, Unit unit, double minimum, double maximum,
                       auto member, std::string doc) {
    rows.push_back(
        row(fmt::format("{}.{}", table, name_of(c)), unit, minimum, maximum, member, doc + inherited(c)));
    rows.back().optional = traits(c).like != OpClass::count_;
  };
  for_classes(
      [](OpClass c) { return traits(c).latency_at.empty(); },
      [&](OpClass c) {
        add(
            c, "latency", Unit::cycles, 0, max_latency, [c](Device& d) { return &d.latency[index(c)]; },
            fmt::format("SM cycles from the issue of a {} operation to that of one that needs its result",
                        name_of(c)));
      });
  for_classes([](OpClass) { return true; },
              [&](OpClass c) {
                add(
                    c, "throughput", Unit::per_cycle, 1e-3, 4096,
                    [c](Device& d) { return &d.throughput[index(c)]; },
                    fmt::format("Thread results of {} operations per SM and cycle", name_of(c)));
              });
}

// Adds rows of sm.*.
auto sm_rows(std::vector<Parameter>& rows) {
  return [&rows](const char* name, Unit unit, double minimum, double maximum, auto member, const char* doc) {
    rows.push_back(row(
        std::string("sm.") + name, unit, minimum, maximum, [member](Device& d) { return &(d.sm.*member); },
        doc));
  };
}

// sm.*: what an SM has and holds.
void add_sm(std::vector<Parameter>& rows) {
  const auto add = sm_rows(rows);
  using Sm = Device::Sm;
  constexpr Unit none = Unit::none;
  add("count", none, 1, 4096, &Sm::count, "Streaming multiprocessors of the GPU");
  add("schedulers", none, 1, 16, &Sm::schedulers, "Warp schedulers of one SM");
  add("issue_width", none, 1, 4, &Sm::issue_width,
      "Instructions of one warp that a scheduler may issue in one cycle");
  add("issue_turns", none, 1, 8, &Sm::issue_turns,
      "Cycles of sm.clock from one turn of a scheduler to its next: 2 on Fermi, whose schedulers run at half "
      "of the shader clock");
  rows.back().power_of_two = true;
  rows.back().default_value = "1";
  add("register_banks", none, 0, 16, &Sm::register_banks,
      "Banks of the register file of a scheduler, register number modulo banks, for machine code; 0: "
      "operands never wait for each other");
  rows.back().default_value = "0";
  add("register_bank_reads", none, 1, 16, &Sm::register_bank_reads,
      "32-bit registers of a warp that one bank gives in a cycle");
  rows.back().default_value = "1";
  add("pairs_fp64", none, 0, 0, &Sm::pairs_fp64,
      "Whether a double-precision instruction may be one of those that a scheduler issues in one cycle");
  rows.back().default_value = "true";
  add("fp64_queue", none, 0, 64, &Sm::fp64_queue,
      "Double-precision instructions of a scheduler before the SM's one unit; 0: it has units of its own");
  rows.back().default_value = "0";
  add("scheduler", none, 0, 0, &Sm::scheduler,
      "Policy of the warp schedulers: loose round-robin, greedy then oldest, oldest, or two levels of "
      "round-robin");
  add("max_threads", none, 32, 65536, &Sm::max_threads, "Resident threads of one SM");
  add("max_warps", none, 1, 2048, &Sm::max_warps, "Resident warps of one SM");
  add("max_blocks", none, 1, 1024, &Sm::max_blocks, "Resident blocks of one SM");
  add("max_threads_per_block", none, 32, 65536, &Sm::max_threads_per_block,
      "Threads that one block may have");
  add("registers", none, 1024, 1 << 24, &Sm::registers, "32-bit registers of one SM");
  add("register_allocation_unit", none, 1, 65536, &Sm::register_allocation_unit,
      "Registers are handed out in multiples of this, to a warp or to a block");
  add("max_registers_per_thread", none, 16, 4096, &Sm::max_registers_per_thread,
      "Registers that one thread may use");
  add("warp_allocation_granularity", none, 1, 64, &Sm::warp_allocation_granularity,
      "Warps are counted in multiples of this when registers are handed out");
  add("register_allocation_per_block", none, 0, 0, &Sm::register_allocation_per_block,
      "Whether the register allocation unit applies to a block (compute capability 1.x) and not to a warp");
  add("shared_bytes", Unit::bytes, 0, giga, &Sm::shared_bytes, "Most shared memory of one SM");
  add("shared_bytes_per_block", Unit::bytes, 0, giga, &Sm::shared_bytes_per_block,
      "Shared memory that a block gets without opting in to more");
  add("shared_bytes_per_block_optin", Unit::bytes, 0, giga, &Sm::shared_bytes_per_block_optin,
      "Shared memory that a block gets at most");
}

// sm.*: how instructions get to the units, and what they take of time.
void add_sm_times(std::vector<Parameter>& rows) {
  const auto add = sm_rows(rows);
  using Sm = Device::Sm;
  constexpr Unit none = Unit::none;
  add("memory_queue", none, 0, 256, &Sm::memory_queue,
      "Instructions of one scheduler that wait for the memory units of its SM before it stalls; 0: as many "
      "as keep the unit busy for sm.unit_backlog");
  rows.back().default_value = "0";
  add("unit_backlog", Unit::cycles, 8, 4096, &Sm::unit_backlog,
      "SM cycles of work before the load-store unit, or before the unit of shared memory, from which on "
      "schedulers give it no more");
  rows.back().default_value = "16 cycles";
  add("held_accesses", none, 1, 1024, &Sm::held_accesses,
      "Instructions of an SM that may wait in the load-store unit for a miss register, for the network or "
      "until less stores are under way");
  rows.back().default_value = "8";
  add("stores_in_flight", none, 32, 65536, &Sm::stores_in_flight,
      "Stores of an SM, each of parts of one line, that L2 has not acknowledged, at most");
  rows.back().default_value = "256";
  add("address_interval", Unit::cycles, 1, 64, &Sm::address_interval,
      "SM cycles that the address unit of a scheduler takes for one memory instruction");
  rows.back().default_value = "1 cycles";
  add("yield_cycles", none, 0, 16, &Sm::yield_cycles,
      "Cycles in which a scheduler issues nothing after an instruction of machine code that yields and whose "
      "warp could go on at once");
  rows.back().default_value = "0";
  add("special_interval", Unit::cycles, 0, 64, &Sm::special_interval,
      "Cycles between two instructions of machine code of an SM that read special registers");
  rows.back().default_value = "0 cycles";
  add("partial_store_cycles", Unit::cycles, 0, max_latency, &Sm::partial_store_cycles,
      "Cycles that a store of parts of sectors stays in the SM, for others that may fill them; so long the "
      "place of its warp is not free");
  rows.back().default_value = "0 cycles";
  add("shared_allocation_unit", Unit::bytes, 1, 65536, &Sm::shared_allocation_unit,
      "Shared memory is handed out in multiples of this");
  add("shared_reserved_per_block", Unit::bytes, 0, 65536, &Sm::shared_reserved_per_block,
      "Shared memory that the system takes for itself from every block");
  add("branch_latency", Unit::cycles, 0, max_latency, &Sm::branch_latency,
      "Cycles from the issue of a branch to the next issue of its warp");
  add("barrier_latency", Unit::cycles, 0, max_latency, &Sm::barrier_latency,
      "Cycles from when the last arrival at a barrier has been counted to the next issue of a waiting warp");
}

// scheduler.NAME.*: what policies of warp schedulers have of their own.
void add_scheduler_parameters(std::vector<Parameter>& rows) {
  const std::span<const OwnedParameter> all = scheduler_parameters();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SchedulerParameter& p = all[i].parameter;
    const auto field = [i, size = all.size(), whole = p.whole](Device& d) -> Field {
      d.scheduler_values.resize(size);
      if (whole) return &d.scheduler_values[i].whole;
      return &d.scheduler_values[i].real;
    };
    rows.push_back({{fmt::format("scheduler.{}.{}", all[i].policy, p.name), Unit::none, p.minimum, p.maximum,
                     fmt::format("{}; sm.scheduler = \"{}\" only", p.doc, all[i].policy)},
                    field});
    rows.back().default_value = format_quantity(p.default_value, Unit::none);
  }
}

void add_sm_memory(std::vector<Parameter>& rows) {
  constexpr Unit none = Unit::none;
  const auto add = [&](const char* key, Unit unit, double minimum, double maximum, auto member,
                       const char* doc) { rows.push_back(row(key, unit, minimum, maximum, member, doc)); };
  add(
      "shared.latency", Unit::cycles, 1, max_latency, [](Device& d) { return &d.shared.latency; },
      "Load to use of shared memory without bank conflicts, in SM cycles");
  add(
      "shared.banks", none, 1, 64, [](Device& d) { return &d.shared.banks; }, "Banks of shared memory");
  rows.back().power_of_two = true;
  add(
      "shared.bank_bytes", Unit::bytes, 1, 16, [](Device& d) { return &d.shared.bank_bytes; },
      "Width of one bank of shared memory");
  rows.back().power_of_two = true;
  add(
      "shared.interval", Unit::cycles, 0, 64, [](Device& d) { return &d.shared.interval; },
      "SM cycles that an instruction takes the shared memory unit at least, however few passes it needs");
  rows.back().default_value = "0 cycles";
  add(
      "shared.shares_pairs", none, 0, 0, [](Device& d) { return &d.shared.shares_pairs; },
      "Whether loads of 64 and 128 bits without a conflict take half of their passes where pairs of lanes "
      "ask for "
      "the same");
  rows.back().default_value = "false";
  add(
      "shared.cluster_blocks", none, 0, 16, [](Device& d) { return &d.shared.cluster_blocks; },
      "Blocks of a cluster, which reach each other's shared memory, at most; 0: the device has no clusters");
  rows.back().default_value = "0";
  add(
      "shared.cluster_latency", Unit::cycles, 0, max_latency,
      [](Device& d) { return &d.shared.cluster_latency; },
      "SM cycles from the issue of a load from another block's shared memory to the use of its result; "
      "0: as long as from L2");
  rows.back().default_value = "0 cycles";
  add(
      "shared.cluster_bandwidth", Unit::bytes_per_cycle, 0, 4096,
      [](Device& d) { return &d.shared.cluster_bandwidth; },
      "Bytes a cycle that an SM exchanges with the shared memories of other SMs; 0: no limit");
  rows.back().default_value = "0 B/cycle";
  add_cache(rows, "l1", "the L1 data cache", "of one SM", 64 * mebi, &Device::l1);
  add(
      "l1.caches_global", none, 0, 0, [](Device& d) { return &d.l1_caches_global; },
      "Whether ordinary global loads are kept in L1; false: they go to L2");
  add(
      "l1.tag_banks", none, 0, 32, [](Device& d) { return &d.l1_tag_banks; },
      "Lines of an instruction whose tags L1 looks up in one cycle, each in another bank (a power of two of "
      "banks, found by exclusive ors of the bits of the line's number); 0: one line a cycle");
  rows.back().default_value = "0";
  add(
      "l1.register_latency", Unit::cycles, 0, 64, [](Device& d) { return &d.l1_register_latency; },
      "SM cycles that a load which hits takes for each 32-bit register; l1.latency is that of two");
  rows.back().default_value = "0 cycles";
  add(
      "l1.shares_data_path", none, 0, 0, [](Device& d) { return &d.l1_shares_data_path; },
      "Whether L1 and shared memory take turns at giving data, a wavefront a cycle");
  rows.back().default_value = "false";
  add(
      "l1.unified_bytes", Unit::bytes, 0, 64 * mebi, [](Device& d) { return &d.l1_unified_bytes; },
      "Storage that L1 and shared memory divide: L1 has what shared memory leaves; 0: L1 has l1.bytes of its "
      "own");
  add_cache(rows, "constant", "the constant cache", "of one SM", 16 * mebi, &Device::constant);
}

void add_l2(std::vector<Parameter>& rows) {
  constexpr Unit none = Unit::none;
  const auto add = [&](const char* key, Unit unit, double minimum, double maximum, auto member,
                       const char* doc) { rows.push_back(row(key, unit, minimum, maximum, member, doc)); };
  add_cache(rows, "l2", "the L2 cache", "of the whole GPU", tera, &Device::l2);
  add(
      "l2.slices", none, 1, 4096, [](Device& d) { return &d.l2_slices; },
      "Slices that the L2 cache consists of");
  add(
      "l2.dirty_share", none, 0.01, 1, [](Device& d) { return &d.l2_dirty_share; },
      "Of the lines of a set of L2, how many may be modified at once (at least one line); beyond it the "
      "least recently used of them is written to memory and stays");
  rows.back().default_value = "1";
  add(
      "l2.slice_hash", none, 0, 0, [](Device& d) { return &d.l2_slice_hash; },
      "How addresses are spread over L2 slices and memory partitions: in turns (even), or by as many "
      "exclusive ors of address bits as the next "
      "power of two needs, modulo their number (bits), which is uneven for other numbers");
  rows.back().default_value = "even";
  add(
      "l2.partitions", none, 1, 8, [](Device& d) { return &d.l2_partitions; },
      "Parts of L2; an SM looks in its near part first, which keeps copies of what lives in another part");
  rows.back().default_value = "1";
  add(
      "l2.far_latency", Unit::cycles, 0, max_latency, [](Device& d) { return &d.l2_far_latency; },
      "SM cycles that a hit in another part of L2 takes longer than one in the near part");
  rows.back().default_value = "0 cycles";
  add(
      "l2.miss_bytes", Unit::bytes, 32, 128, [](Device& d) { return &d.l2_miss_bytes; },
      "What a read that misses in L2 brings at least, of its line");
  rows.back().power_of_two = true;
  rows.back().default_value = "32 B";
  add(
      "l2.requests_per_cycle", Unit::per_cycle, 0, 1e6, [](Device& d) { return &d.l2_requests_per_cycle; },
      "Requests of a line that all slices look up in a cycle, however little they move; 0: as many as their "
      "data takes");
  rows.back().default_value = "0 /cycle";
  add(
      "l2.write_bytes_per_cycle", Unit::bytes_per_cycle, 0, 1e6,
      [](Device& d) { return &d.l2_write_bytes_per_cycle; },
      "What all slices take of writes and atomics, in whole flits (interconnect.flit_bytes); 0: data only, "
      "as "
      "fast as l2.bytes_per_cycle");
  rows.back().default_value = "0 B/cycle";
  add(
      "tlb.enabled", none, 0, 0, [](Device& d) { return &d.tlb.enabled; },
      "Whether translations of addresses may miss; the time of a miss is then no longer part of every access "
      "to memory");
  rows.back().default_value = "false";
  add(
      "tlb.page_bytes", Unit::bytes, 4096, giga, [](Device& d) { return &d.tlb.page_bytes; },
      "Page of device memory");
  rows.back().power_of_two = true;
  rows.back().default_value = "2 MiB";
  add(
      "tlb.entries", none, 1, 1 << 20, [](Device& d) { return &d.tlb.entries; },
      "Translations that are at hand, for the whole GPU");
  rows.back().default_value = "64";
  add(
      "tlb.miss_latency", Unit::cycles, 0, max_latency, [](Device& d) { return &d.tlb.miss_latency; },
      "SM cycles of a translation that is not at hand; part of dram.latency");
  rows.back().default_value = "0 cycles";
}

void add_network(std::vector<Parameter>& rows) {
  constexpr Unit none = Unit::none;
  const auto add = [&](const char* key, Unit unit, double minimum, double maximum, auto member,
                       const char* doc) { rows.push_back(row(key, unit, minimum, maximum, member, doc)); };
  add(
      "interconnect.sm_bytes_per_cycle", Unit::bytes_per_cycle, 1, 4096,
      [](Device& d) { return &d.interconnect.sm_bytes_per_cycle; },
      "What one SM can receive from the network");
  add(
      "interconnect.sm_write_bytes_per_cycle", Unit::bytes_per_cycle, 1, 4096,
      [](Device& d) { return &d.interconnect.sm_write_bytes_per_cycle; },
      "What one SM can send into the network");
  add(
      "interconnect.latency", Unit::cycles, 1, max_latency, [](Device& d) { return &d.interconnect.latency; },
      "One way between an SM and an L2 slice, part of l2.latency");
  add(
      "interconnect.sm_backlog", Unit::cycles, 1, 4096, [](Device& d) { return &d.interconnect.sm_backlog; },
      "SM cycles of requests before the way of an SM into the network, from which on the load-store unit "
      "waits");
  rows.back().default_value = "64 cycles";
  add(
      "interconnect.flit_bytes", Unit::bytes, 0, 4096, [](Device& d) { return &d.interconnect.flit_bytes; },
      "Data of a flit, its header beside it: a message takes as many as its data fills, one at least; 0: "
      "ports count bytes");
  rows.back().default_value = "0 B";
  add(
      "interconnect.write_header_flits", none, 0, 16,
      [](Device& d) { return &d.interconnect.write_header_flits; },
      "Flits that an atomic, or a write that fills a sector only in part, sends beside those of its data");
  rows.back().default_value = "0";
  add(
      "interconnect.sms_per_write_port", none, 1, 64,
      [](Device& d) { return &d.interconnect.sms_per_write_port; },
      "Neighbouring SMs that share one way into the network, of interconnect.sm_write_bytes_per_cycle");
  rows.back().default_value = "1";
}

void add_dram(std::vector<Parameter>& rows) {
  constexpr Unit none = Unit::none;
  const auto add = [&](const char* key, Unit unit, double minimum, double maximum, auto member,
                       const char* doc) { rows.push_back(row(key, unit, minimum, maximum, member, doc)); };
  add(
      "dram.technology", none, 0, 0, [](Device& d) { return &d.dram.technology; },
      "Memory technology, a name of 'simtlab list drams'");
  add(
      "dram.bytes", Unit::bytes, 1 << 20, 1e15, [](Device& d) { return &d.dram.bytes; }, "Device memory");
  add(
      "dram.partitions", none, 1, 4096, [](Device& d) { return &d.dram.partitions; },
      "Memory partitions (channels) that addresses are spread over");
  add(
      "dram.latency", Unit::cycles, 1, max_latency, [](Device& d) { return &d.dram.latency; },
      "Load to use of a miss in every cache on an idle GPU, in SM cycles");
  add(
      "dram.bandwidth", Unit::bytes_per_second, 1e6, 1e15, [](Device& d) { return &d.dram.bandwidth; },
      "Peak of the memory interface");
  add(
      "dram.bandwidth_measured", Unit::bytes_per_second, 0, 1e15,
      [](Device& d) { return &d.dram.bandwidth_measured; },
      "What a large copy reaches, read plus written; 0: unknown");
  rows.back().default_value = "0 B/s";
  add(
      "dram.read_bandwidth_measured", Unit::bytes_per_second, 0, 1e15,
      [](Device& d) { return &d.dram.read_bandwidth_measured; },
      "What a large read reaches; 0: as much as dram.bandwidth_measured. If more, writes cost more than "
      "reads");
  rows.back().default_value = "0 B/s";
  add(
      "dram.access_bytes", Unit::bytes, 8, 1024, [](Device& d) { return &d.dram.access_bytes; },
      "Smallest transfer of the memory");
  add(
      "dram.row_miss_penalty", none, 0, 100, [](Device& d) { return &d.dram.row_miss_penalty; },
      "Extra time of one smallest access to another row, as a share of its transfer; longer requests hide "
      "it");
  add(
      "dram.row_bytes", Unit::bytes, 128, 1 << 20, [](Device& d) { return &d.dram.row_bytes; },
      "Bytes of one row of a partition");
  add(
      "dram.masked_writes", none, 0, 0, [](Device& d) { return &d.dram.masked_writes; },
      "Whether single bytes of a sector are written to memory; false: what leaves L2 and was written in part "
      "is "
      "read first, as ECC needs it");
  rows.back().default_value = "true";
  add(
      "dram.model", none, 0, 0, [](Device& d) { return &d.dram.model; },
      "What models the memory: simple (latency and bandwidth, from the values above), device "
      "(dram.technology, command by command), "
      "another technology or its file, or plugin:FILE?config=TEXT");
  rows.back().default_value = "simple";
  add(
      "dram.channels", none, 0, 4096, [](Device& d) { return &d.dram.channels; },
      "Channels of a memory that is not simple, one a partition; 0: as many as the device has");
  rows.back().default_value = "0";
  add(
      "dram.controller", none, 0, 0, [](Device& d) { return &d.dram.controller; },
      "Memory controller of a technology, a name or a file");
  rows.back().default_value = "gpu";
  add(
      "dram.request_queue", none, 1, 65536, [](Device& d) { return &d.dram.request_queue; },
      "Requests that wait between L2 and one channel of a memory that is not simple; 64 as GPGPU-Sim for "
      "V100");
  rows.back().default_value = "64";
  add(
      "dram.return_queue", none, 1, 65536, [](Device& d) { return &d.dram.return_queue; },
      "Accesses that wait between one such channel and L2; 192 as GPGPU-Sim for V100");
  rows.back().default_value = "192";
  add(
      "dram.stall_limit", none, 1, 1e15, [](Device& d) { return &d.dram.stall_limit; },
      "Memory clocks without any progress after which a plug-in is given up");
  rows.back().default_value = "1000000";
}

std::vector<Parameter> make_parameters() {
  std::vector<Parameter> rows;
  constexpr Unit none = Unit::none;
  const auto add = [&](const char* key, Unit unit, double minimum, double maximum, auto member,
                       const char* doc) { rows.push_back(row(key, unit, minimum, maximum, member, doc)); };
  add(
      "product", none, 0, 0, [](Device& d) { return &d.product; },
      "Product name, as cudaDeviceProp reports it");
  add(
      "architecture", none, 0, 0, [](Device& d) { return &d.architecture; }, "Architecture, in lower case");
  add(
      "compute_capability", none, 1, 99,
      [](Device& d) {
        return Capability{&d.cc_major, &d.cc_minor};
      },
      "Compute capability, MAJOR.MINOR");
  add(
      "sm.clock", Unit::hertz, 1e6, 1e11, [](Device& d) { return &d.sm_clock_hz; },
      "Clock of the SMs; the network and L2 run on it too");
  add_sm(rows);
  add_sm_times(rows);
  add_scheduler_parameters(rows);
  add_operations(rows);
  add_front_end(rows);
  add_operands(rows);
  add_sm_memory(rows);
  add_l2(rows);
  add_network(rows);
  add_dram(rows);
  add(
      "memory_clock", Unit::hertz, 1e6, 1e11, [](Device& d) { return &d.memory_clock_hz; },
      "Memory clock as cudaDeviceProp reports it; dram.bandwidth, not this, decides the speed");
  const auto add_launch = [&](const char* key, auto member, const char* doc) {
    add(
        key, Unit::cycles, 0, max_latency, [member](Device& d) { return &(d.launch.*member); }, doc);
    rows.back().default_value = "0 cycles";
  };
  add_launch("launch.floor", &Device::Launch::floor,
             "SM cycles that a kernel takes beside those of its blocks, as profilers count them");
  add_launch("launch.block_interval", &Device::Launch::block_interval,
             "Between two blocks that the GPU hands to its SMs");
  add_launch("launch.block_latency", &Device::Launch::block_latency,
             "From the hand-out of a block to the first instruction of its first warp");
  add_launch("launch.warp_interval", &Device::Launch::warp_interval,
             "Between the first instructions of two warps of a block");
  add(
      "host.launch_overhead", Unit::nanoseconds, 0, giga,
      [](Device& d) { return &d.host.launch_overhead_ns; },
      "From one kernel launch to the next in a stream of empty kernels");
  add(
      "host.max_grids", none, 1, 128, [](Device& d) { return &d.host.max_grids; },
      "Kernels that the GPU runs at once");
  add(
      "host.copy_bandwidth_h2d", Unit::bytes_per_second, 1e6, 1e15,
      [](Device& d) { return &d.host.copy_bandwidth_h2d; },
      "Large copies from pinned host memory to the device");
  add(
      "host.copy_bandwidth_d2h", Unit::bytes_per_second, 1e6, 1e15,
      [](Device& d) { return &d.host.copy_bandwidth_d2h; },
      "Large copies from the device to pinned host memory");
  add(
      "host.copy_latency", Unit::nanoseconds, 0, giga, [](Device& d) { return &d.host.copy_latency_ns; },
      "Time of a copy of a few bytes");
  return rows;
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> rows = make_parameters();
  return rows;
}

const Parameter* find_parameter(std::string_view key) {
  const auto& rows = parameters();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Parameter& p) { return p.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

std::string unknown_key_hint(const std::string& key, std::vector<std::string> more) {
  Device scratch;
  RecordOf record(parameters(), scratch);
  return unknown_key_hint(record, key, std::move(more), "simtlab config show");
}

std::string wrong_with_empty_table(const std::string& key) {
  Device scratch;
  return wrong_with_empty_table(RecordOf(parameters(), scratch), key);
}

std::string parameter_reference() {
  Device scratch;
  RecordOf record(parameters(), scratch);
  return key_reference(record);
}

}  // namespace simtlab::device
