// Units in which registers and shared memory are handed out. Of kernels with more and more registers, and of
// blocks with more and more shared memory, an SM holds fewer and fewer: the rule of CUDA's occupancy
// calculator (device/occupancy.h) with the right units gives all of these numbers, and with others it does
// not.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "device/occupancy.h"
#include "probe/kinds.h"
#include "probe/residency.h"

namespace simtlab::probe {
namespace {

// What a launch asks for, and what an SM holds of it.
struct Demand {
  std::uint32_t threads = 32, registers = 0, shared_bytes = 0;
  gpu::Board::Function function = 0;
  unsigned values = 0;  // that its kernel keeps
};

// An SM as the driver describes it, with units to be tried.
device::Device described(const gpu::BoardFacts& facts) {
  device::Device d;
  d.cc_major = facts.cc_major, d.cc_minor = facts.cc_minor;
  d.sm.max_threads = facts.max_threads_per_sm, d.sm.max_warps = facts.max_threads_per_sm / facts.warp_size,
  d.sm.max_blocks = facts.max_blocks_per_sm;
  d.sm.max_threads_per_block = facts.max_threads_per_block;
  d.sm.registers = facts.registers_per_sm, d.sm.max_registers_per_thread = ~0u;
  d.sm.shared_bytes = facts.shared_bytes_per_sm,
  d.sm.shared_bytes_per_block = d.sm.shared_bytes_per_block_optin = facts.shared_bytes_per_block_optin;
  d.sm.shared_reserved_per_block = static_cast<std::uint32_t>(facts.shared_reserved_per_block);
  d.sm.register_allocation_unit = d.sm.shared_allocation_unit = 1, d.sm.warp_allocation_granularity = 1;
  return d;
}

std::uint32_t held_by(const device::Device& d, const Demand& demand) {
  return device::occupancy(d, demand.threads, demand.registers, demand.shared_bytes).blocks_per_sm;
}

// Candidates that give what is seen, asking first where they differ most.
struct Search {
  std::vector<device::Device> left;
  unsigned asked = 0, launched = 0;
  std::string contradiction;  // the driver's word is not what was seen
};

void narrow(Bench& bench, Search& search, std::vector<Demand> demands) {
  while (search.left.size() > 1 && !demands.empty()) {
    std::size_t best = 0, most = 1;
    for (std::size_t i = 0; i < demands.size(); ++i) {
      std::map<std::uint32_t, std::size_t> answers;
      for (const device::Device& d : search.left) ++answers[held_by(d, demands[i])];
      if (answers.size() > most) best = i, most = answers.size();
    }
    if (most == 1) return;
    const Demand demand = demands[best];
    demands.erase(demands.begin() + static_cast<std::ptrdiff_t>(best));
    const std::uint32_t told =
        bench.board.blocks_per_sm(demand.function, demand.threads, demand.shared_bytes);
    ++search.asked;
    // The driver is believed where the first few launches bear it out.
    if (told != 0 && search.launched < 3) {
      ++search.launched;
      if (const std::uint32_t seen =
              blocks_seen(bench, demand.function, demand.threads, demand.shared_bytes, demand.values);
          seen != told)
        search.contradiction = fmt::format(
            "{} blocks of {} threads with {} registers each and {} bytes of shared memory were seen on one "
            "SM, the driver says {}",
            seen, demand.threads, demand.registers, demand.shared_bytes, told);
    }
    std::erase_if(search.left, [&](const device::Device& d) { return held_by(d, demand) != told; });
  }
}

template <class Value>
void report_unit(Bench& bench, const char* key, const char* unit, const Search& search, Value value) {
  if (!search.contradiction.empty()) return bench.found.unknown(key, search.contradiction);
  if (search.left.empty())
    return bench.found.unknown(key, "no rule that is known gives the numbers of blocks that an SM holds");
  for (const device::Device& d : search.left)
    if (value(d) != value(search.left.front()))
      return bench.found.unknown(
          key, fmt::format("{} and {}, and perhaps others, give the numbers of blocks that an SM holds",
                           value(search.left.front()), value(d)));
  bench.found.exact(key, value(search.left.front()), unit,
                    fmt::format("the only unit that gives the blocks an SM holds, of {} launches; {} of them "
                                "seen on an SM, the others the driver's word",
                                search.asked, search.launched),
                    search.asked);
}

struct Sized {
  std::uint32_t registers;
  gpu::Board::Function function;
  unsigned values;
};

// Kernels by their registers. The most that a thread may have: more values than that are kept elsewhere, or
// the kernel can't be launched.
std::vector<Sized> kernels_by_registers(Bench& bench) {
  std::vector<Sized> out;
  for (unsigned values = 4; values <= 320; values += values < 132 ? 3 : 16) {
    const auto function = resident_kernel(bench, values);
    const Sized sized{bench.board.registers(function), function, values};
    if (out.empty() || sized.registers != out.back().registers) out.push_back(sized);
    if (bench.board.blocks_per_sm(function, 32, 0) == 0) break;
  }
  return out;
}

// Between a kernel that can be launched and one that can't, register by register.
void most_registers(Bench& bench, const std::vector<Sized>& kernels) {
  const auto fits = [&](gpu::Board::Function f) { return bench.board.blocks_per_sm(f, 32, 0) != 0; };
  std::uint32_t most = 0, refused = 0;
  for (const Sized& k : kernels)
    (fits(k.function) ? most : refused) = std::max(fits(k.function) ? most : refused, k.registers);
  if (refused != 0)
    for (unsigned values = 4; values <= 320 && most + 1 < refused; ++values) {
      const auto function = resident_kernel(bench, values);
      const std::uint32_t registers = bench.board.registers(function);
      if (registers > most && registers < refused && fits(function)) most = registers;
      if (registers > most && registers < refused && !fits(function)) refused = registers;
    }
  if (refused != 0 && most + 1 != refused)
    return bench.found.unknown(
        "sm.max_registers_per_thread",
        fmt::format("{} can be launched and {} cannot; no kernel between them was made", most, refused));
  if (refused == 0 && most >= 320)
    return bench.found.unknown("sm.max_registers_per_thread", "as many as were tried can be launched");
  bench.found.exact(
      "sm.max_registers_per_thread", most, "",
      refused != 0
          ? "the most of a kernel that can be launched; with one more it cannot"
          : "the most that the driver's assembler gives a thread, of kernels that keep more and more values",
      kernels.size());
}

void of_registers(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const std::vector<Sized> kernels = kernels_by_registers(bench);
  most_registers(bench, kernels);
  std::vector<Demand> demands;
  for (const Sized& k : kernels) {
    if (bench.board.blocks_per_sm(k.function, 32, 0) == 0) continue;
    for (std::uint32_t warps = 1; warps <= facts.max_threads_per_block / 32; ++warps)
      if (warps * 32 * k.registers <= facts.registers_per_sm)
        demands.push_back({32 * warps, k.registers, 0, k.function, k.values});
  }
  Search search;
  for (const std::uint32_t unit : {64u, 128u, 256u, 512u, 1024u})
    for (const std::uint32_t parts : {1u, 2u, 4u, 8u}) {
      device::Device d = described(facts);
      d.sm.register_allocation_unit = unit, d.sm.warp_allocation_granularity = parts;
      if (facts.registers_per_sm % parts == 0) search.left.push_back(d);
    }
  narrow(bench, search, demands);
  report_unit(bench, "sm.register_allocation_unit", "", search,
              [](const device::Device& d) { return d.sm.register_allocation_unit; });
  report_unit(bench, "sm.warp_allocation_granularity", "", search,
              [](const device::Device& d) { return d.sm.warp_allocation_granularity; });
}

void of_shared_memory(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const auto function = resident_kernel(bench);
  const std::uint32_t registers = bench.board.registers(function);
  std::vector<Demand> demands;
  for (std::uint32_t bytes = 16; bytes <= facts.shared_bytes_per_block; bytes += 16)
    demands.push_back({32, registers, bytes, function, 0});
  Search search;
  for (const std::uint32_t unit : {32u, 64u, 128u, 256u, 512u, 1024u, 2048u}) {
    device::Device d = described(facts);
    d.sm.shared_allocation_unit = unit;
    search.left.push_back(d);
  }
  narrow(bench, search, demands);
  report_unit(bench, "sm.shared_allocation_unit", "B", search,
              [](const device::Device& d) { return d.sm.shared_allocation_unit; });
}

void probe_allocation(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  if (facts.max_blocks_per_sm == 0 || facts.registers_per_sm == 0 || facts.cc_major < 2) {
    for (const char* what :
         {"sm.register_allocation_unit", "sm.warp_allocation_granularity", "sm.shared_allocation_unit"})
      bench.found.unknown(what, facts.cc_major < 2
                                    ? "blocks and not warps are given registers before compute capability 2.0"
                                    : "the driver does not tell how many blocks and registers an SM has");
    return;
  }
  of_registers(bench);
  of_shared_memory(bench);
}

}  // namespace

extern constinit const Kind kind_allocation{"allocation",
                                            "Units in which an SM hands out registers and shared memory",
                                            probe_allocation, "device", 165};

}  // namespace simtlab::probe
