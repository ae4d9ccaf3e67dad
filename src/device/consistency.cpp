#include "device/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "device/parameters.h"
#include "device/set_bits.h"

namespace simtlab::device {
namespace {

class Checker {
 public:
  explicit Checker(const Device& device) : d_(device) {}

  std::vector<Contradiction> run() {
    check_sm();
    check_shared();
    check_front_end();
    check_cache("l1", d_.l1, 1);
    check_cache("constant", d_.constant, 1);
    check_cache("l2", d_.l2, d_.l2_slices);
    check_memory();
    check_cost();
    return std::move(found_);
  }

 private:
  void require(bool holds, std::vector<std::string> keys, std::string message, std::string hint) {
    if (!holds) found_.push_back({std::move(keys), std::move(message), std::move(hint)});
  }

  void check_sm() {
    const Device::Sm& sm = d_.sm;
    require(sm.max_threads == sm.max_warps * 32, {"sm.max_warps", "sm.max_threads"},
            fmt::format("{} warps are not {} threads", sm.max_warps, sm.max_threads),
            "a warp has 32 threads");
    require(sm.max_threads_per_block <= sm.max_threads, {"sm.max_threads_per_block", "sm.max_threads"},
            fmt::format("a block of {} threads does not fit an SM of {}", sm.max_threads_per_block,
                        sm.max_threads),
            "lower it to sm.max_threads");
    require(sm.max_warps % sm.schedulers == 0, {"sm.schedulers", "sm.max_warps"},
            fmt::format("{} warps cannot be divided among {} schedulers", sm.max_warps, sm.schedulers),
            "sm.max_warps must be a multiple of it");
    require(sm.max_warps / sm.schedulers <= max_scheduler_warps, {"sm.schedulers", "sm.max_warps"},
            fmt::format("a scheduler has more than {} of the {} warps", max_scheduler_warps, sm.max_warps),
            "raise it or lower sm.max_warps");
    require(sm.registers % sm.warp_allocation_granularity == 0,
            {"sm.warp_allocation_granularity", "sm.registers"},
            fmt::format("{} registers cannot be divided into {} parts", sm.registers,
                        sm.warp_allocation_granularity),
            "sm.registers must be a multiple of it");
    require(sm.register_allocation_unit <= sm.registers, {"sm.register_allocation_unit", "sm.registers"},
            "one allocation unit is more than the SM has", "lower it; 256 on most GPUs");
  }

  void check_shared() {
    const Device::Sm& sm = d_.sm;
    require(sm.shared_bytes_per_block <= sm.shared_bytes_per_block_optin,
            {"sm.shared_bytes_per_block_optin", "sm.shared_bytes_per_block"},
            "is less than sm.shared_bytes_per_block", "opting in never gives less");
    require(sm.shared_bytes_per_block_optin + sm.shared_reserved_per_block <= sm.shared_bytes,
            {"sm.shared_bytes", "sm.shared_bytes_per_block_optin", "sm.shared_reserved_per_block"},
            "is less than one block may have, with what the system reserves",
            "raise it or lower sm.shared_bytes_per_block_optin");
    require(d_.l1_unified_bytes == 0 || sm.shared_bytes <= d_.l1_unified_bytes,
            {"l1.unified_bytes", "sm.shared_bytes"}, "is less than the shared memory that it contains",
            "raise it or lower sm.shared_bytes");
    require(d_.l1_unified_bytes == 0 || d_.l1.bytes <= d_.l1_unified_bytes, {"l1.bytes", "l1.unified_bytes"},
            "is more than the storage that L1 shares with shared memory", "lower it to l1.unified_bytes");
  }

  void check_front_end() {
    const Device::Instruction& i = d_.instruction;
    if (!i.caches) return;
    require(i.bytes <= i.line_bytes, {"instruction.bytes", "instruction.line_bytes"},
            "an instruction is larger than a line", "lower it");
    require(d_.sm.schedulers % i.l0_caches == 0, {"instruction.l0_caches", "sm.schedulers"},
            fmt::format("{} schedulers cannot be divided among {} caches", d_.sm.schedulers, i.l0_caches),
            "sm.schedulers must be a multiple of it");
    const auto whole = [&](const char* level, std::uint64_t bytes, std::uint32_t ways) {
      const std::uint64_t set_bytes = std::uint64_t{i.line_bytes} * ways;
      const std::string key = std::string("instruction.") + level;
      require(
          bytes >= set_bytes && bytes % set_bytes == 0,
          {key + "_bytes", key + "_ways", "instruction.line_bytes"},
          fmt::format("{} bytes are no whole number of sets ({} bytes x {} ways)", bytes, i.line_bytes, ways),
          fmt::format("bytes must be a multiple of {}", set_bytes));
    };
    whole("l0", i.l0_bytes, i.l0_ways);
    whole("l1", i.l1_bytes, i.l1_ways);
  }

  // Sets need not be a power of two (H100's L2 has 50 MiB), but they must be whole.
  void check_cache(const std::string& key, const CacheParams& c, std::uint64_t parts) {
    require(
        c.line_bytes % c.sector_bytes == 0, {key + ".sector_bytes", key + ".line_bytes"},
        fmt::format("a line of {} bytes has no whole number of sectors of {}", c.line_bytes, c.sector_bytes),
        "sectors divide the line");
    require(c.line_bytes / std::max<std::uint32_t>(c.sector_bytes, 1) <= 32,
            {key + ".sector_bytes", key + ".line_bytes"}, "more than 32 sectors in a line",
            "use larger sectors");
    const std::uint64_t set_bytes = std::uint64_t{c.line_bytes} * c.ways * parts;
    std::vector<std::string> keys = {key + ".bytes", key + ".ways", key + ".line_bytes"};
    if (key == "l2") keys.emplace_back("l2.slices");
    require(c.bytes >= set_bytes && c.bytes % set_bytes == 0, std::move(keys),
            fmt::format("{} bytes are no whole number of sets ({} x {} bytes x {} ways)", c.bytes, parts,
                        c.line_bytes, c.ways),
            fmt::format("bytes must be a multiple of {}", set_bytes));
    if (c.bytes >= set_bytes) check_set_index(key, c, c.bytes / set_bytes);
  }

  void check_set_index(const std::string& key, const CacheParams& c, std::uint64_t sets) {
    std::vector<std::string> keys = {key + ".set_index", key + ".bytes", key + ".ways", key + ".line_bytes"};
    if (key == "l2") keys.emplace_back("l2.slices");
    require(c.set_index != SetIndex::xor_fold || std::has_single_bit(sets), keys,
            fmt::format("{} sets are no power of two", sets),
            "xor needs a power of two; hash and modulo take any number");
    require(
        c.set_index != SetIndex::fermi || sets == 32 || sets == 64, keys,
        fmt::format("Fermi's hash makes 32 or 64 sets, not {}", sets),
        fmt::format("{0}.set_index=hash takes any number of sets (of sizes and ways varied: index=hash), and "
                    "so does modulo",
                    key));
    if (c.set_index != SetIndex::bits) return;
    const std::string bits_key = key + ".set_bits";
    std::vector<unsigned> bits;
    try {
      bits = parse_set_bits(c.set_bits);
    } catch (const Error& e) {
      require(false, {bits_key}, e.diagnostics().front().message, e.diagnostics().front().hint);
      return;
    }
    keys.insert(keys.begin(), bits_key);
    require(bits.size() < 32 && std::uint64_t{1} << bits.size() == sets, keys,
            fmt::format("{} bits do not number {} sets", bits.size(), sets),
            "as many bits as the sets need, which are then a power of two");
    require(std::ranges::all_of(bits, [&](unsigned bit) { return std::uint64_t{1} << bit >= c.line_bytes; }),
            keys, fmt::format("a bit lies within a line of {} bytes", c.line_bytes),
            fmt::format("bits from {} on", std::countr_zero(c.line_bytes)));
  }

  void check_memory() {
    require(d_.l1.latency < d_.l2.latency, {"l2.latency", "l1.latency"}, "is not above l1.latency",
            "L2 lies behind L1");
    require(d_.l2.latency < d_.dram.latency, {"dram.latency", "l2.latency"}, "is not above l2.latency",
            "DRAM lies behind L2");
    require(2 * d_.interconnect.latency < d_.l2.latency, {"interconnect.latency", "l2.latency"},
            "there and back takes longer than all of l2.latency", "it is part of l2.latency");
    require(d_.dram.bandwidth_measured <= d_.dram.bandwidth, {"dram.bandwidth_measured", "dram.bandwidth"},
            "is above the peak", "must not exceed dram.bandwidth");
    require(d_.dram.read_bandwidth_measured <= d_.dram.bandwidth,
            {"dram.read_bandwidth_measured", "dram.bandwidth"}, "is above the peak",
            "must not exceed dram.bandwidth");
    require(d_.l2_slices % d_.l2_partitions == 0, {"l2.partitions", "l2.slices"},
            fmt::format("{} slices cannot be divided among {} parts", d_.l2_slices, d_.l2_partitions),
            "l2.slices must be a multiple of it");
    require(!d_.tlb.enabled || d_.dram.latency - d_.tlb.miss_latency > d_.l2.latency,
            {"tlb.miss_latency", "dram.latency"}, "is all of the way from L2 to memory",
            "it is part of dram.latency, which is more than it and l2.latency");
    require(d_.l2_partitions == 1 ||
                d_.dram.latency - d_.l2_far_latency / 2 - (d_.tlb.enabled ? d_.tlb.miss_latency : 0) >
                    d_.l2.latency,
            {"l2.far_latency", "dram.latency"}, "is too much of the way to memory",
            "half of it is part of dram.latency, which is a mean over near and far lines");
    // Another memory has channels of its own (apply_main_memory), any number of them.
    require(d_.dram.model != "simple" || d_.l2_slices % d_.dram.partitions == 0,
            {"l2.slices", "dram.partitions"},
            fmt::format("{} slices cannot be divided among {} partitions", d_.l2_slices, d_.dram.partitions),
            "must be a multiple of dram.partitions");
    require(d_.dram.row_bytes % d_.dram.access_bytes == 0, {"dram.row_bytes", "dram.access_bytes"},
            "is no whole number of accesses", "must be a multiple of dram.access_bytes");
    require(d_.l2.line_bytes % d_.dram.access_bytes == 0, {"dram.access_bytes", "l2.line_bytes"},
            "does not divide a line of L2", "32 or 64 bytes on most GPUs");
    require(d_.l1.line_bytes % d_.l2.sector_bytes == 0 && d_.l1.sector_bytes % d_.l2.sector_bytes == 0,
            {"l2.sector_bytes", "l1.sector_bytes", "l1.line_bytes"},
            "does not divide a line and a sector of L1", "an L1 miss asks L2 for whole sectors");
  }

  // The simulator keeps a tag and a state for every line, and every outstanding miss: values that are allowed
  // one by one may together ask for more memory than a host has.
  void check_cost() {
    const std::uint64_t l1_bytes = std::max(d_.l1.bytes, d_.l1_unified_bytes);
    const std::uint64_t of_sms =
        d_.sm.count * (l1_bytes / d_.l1.line_bytes + d_.constant.bytes / d_.constant.line_bytes +
                       (d_.instruction.l1_bytes + d_.instruction.l0_caches * d_.instruction.l0_bytes) /
                           d_.instruction.line_bytes);
    const std::uint64_t of_l2 = d_.l2.bytes / d_.l2.line_bytes;
    require(
        of_sms + of_l2 <= max_cache_lines,
        {"sm.count", "l1.bytes", "l1.unified_bytes", "l1.line_bytes", "constant.bytes", "constant.line_bytes",
         "l2.bytes", "l2.line_bytes", "instruction.l1_bytes", "instruction.l0_bytes"},
        fmt::format(
            "the caches have {} lines ({} in L1, constant and instruction caches of {} SMs, {} in L2)",
            of_sms + of_l2, of_sms, d_.sm.count, of_l2),
        fmt::format("at most {} together: lower sm.count, l1.bytes, constant.bytes or l2.bytes",
                    max_cache_lines));
    const std::uint64_t misses =
        std::uint64_t{d_.sm.count} * d_.l1.mshr_entries + std::uint64_t{d_.l2_slices} * d_.l2.mshr_entries;
    require(misses <= max_outstanding, {"l1.mshr_entries", "l2.mshr_entries", "sm.count", "l2.slices"},
            fmt::format("{} lines may be outstanding in all L1 and L2 caches", misses),
            fmt::format("at most {}: lower l1.mshr_entries or l2.mshr_entries", max_outstanding));
  }

  static constexpr std::uint64_t max_cache_lines = std::uint64_t{32} << 20;
  static constexpr std::uint64_t max_outstanding = std::uint64_t{8} << 20;
  static constexpr std::uint32_t max_scheduler_warps = 64;  // timing keeps them in one word

  const Device& d_;
  std::vector<Contradiction> found_;
};

// The value of a latency that the device file keeps under another key than latency.NAME.
double latency_at(Device& device, std::string_view key) {
  if (key == no_latency) return 0;
  const Parameter* parameter = find_parameter(key);
  SIMTLAB_ASSERT(parameter != nullptr,
                 "the table of operation classes names a key that device files do not have");
  const Field field = parameter->field(device);
  double* const* value = std::get_if<double*>(&field);
  SIMTLAB_ASSERT(value != nullptr, "a latency is a number with a fraction");
  return **value;
}

}  // namespace

std::vector<Contradiction> contradictions(const Device& device) { return Checker(device).run(); }

void derive(Device& device) {
  for (std::size_t c = 0; c < op_class_count; ++c) {
    const OpClassTraits& of = op_class_traits[c];
    if (!of.latency_at.empty()) device.latency[c] = latency_at(device, of.latency_at);
    if (of.like == OpClass::count_) continue;
    // 0: the device file has no value of its own.
    if (device.latency[c] == 0) device.latency[c] = device.latency[index(of.like)];
    if (device.throughput[c] == 0) device.throughput[c] = device.throughput[index(of.like)];
  }
}

}  // namespace simtlab::device
