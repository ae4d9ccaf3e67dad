// Rules and constants as in CUDA's occupancy calculator (cuda_occupancy.h, all compute capabilities
// from 2.0). Fermi's larger register unit at eight register counts is not modelled:
// docs/reference/deviations/device.md.
#include "device/occupancy.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"

namespace simtlab::device {
namespace {

constexpr std::uint32_t warp_size = 32;
constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::uint32_t saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, unlimited));
}

struct RegisterUse {
  std::uint64_t per_block = 0;
  std::uint32_t blocks = unlimited;
};

// Fermi rounds these register counts to twice the unit of all others.
bool doubles_unit(const Device& device, std::uint32_t registers) {
  constexpr std::array<std::uint32_t, 8> counts = {21, 22, 29, 30, 37, 38, 45, 46};
  return device.cc_major == 2 && std::find(counts.begin(), counts.end(), registers) != counts.end();
}

// Compute capability 2.0 and later hand registers to warps: each warp gets a multiple of the allocation unit.
// The register file is divided among the schedulers, each of which holds whole warps; the granularity is
// their number. A block is refused unless it fits with its warps rounded up to the granularity, as CUDA's own
// calculator checks.
RegisterUse registers_per_warp(const Device& device, std::uint32_t warps, std::uint32_t registers) {
  const Device::Sm& sm = device.sm;
  const std::uint64_t unit = sm.register_allocation_unit * (doubles_unit(device, registers) ? 2U : 1U);
  const std::uint64_t per_warp = round_up(std::uint64_t{registers} * warp_size, unit);
  const std::uint32_t parts = sm.warp_allocation_granularity;
  const std::uint64_t fit = sm.registers / parts / per_warp * parts;
  RegisterUse use{per_warp * warps, saturated(fit / warps)};
  if (per_warp * round_up(warps, parts) > sm.registers) use.blocks = 0;
  return use;
}

// Compute capability 1.x hands registers to whole blocks.
RegisterUse registers_per_block(const Device::Sm& sm, std::uint32_t warps, std::uint32_t registers) {
  const std::uint64_t counted_warps = round_up(warps, sm.warp_allocation_granularity);
  const std::uint64_t per_block =
      round_up(counted_warps * warp_size * registers, sm.register_allocation_unit);
  return {per_block, saturated(sm.registers / per_block)};
}

RegisterUse register_use(const Device& device, std::uint32_t warps, std::uint32_t registers) {
  if (registers == 0) return {};
  RegisterUse use = device.sm.register_allocation_per_block ? registers_per_block(device.sm, warps, registers)
                                                            : registers_per_warp(device, warps, registers);
  if (registers > device.sm.max_registers_per_thread) use.blocks = 0;
  return use;
}

}  // namespace

std::string_view name_of(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::warps: return "warps";
    case OccupancyLimit::blocks: return "blocks";
    case OccupancyLimit::registers: return "registers";
    case OccupancyLimit::shared_memory: return "shared memory";
    case OccupancyLimit::none: return "none";
  }
  assertion_failed("limit", __FILE__, __LINE__, "unknown occupancy limit");
}

Occupancy occupancy(const Device& device, std::uint32_t threads, std::uint32_t registers,
                    std::uint64_t shared) {
  const Device::Sm& sm = device.sm;
  Occupancy out;
  if (threads == 0) return out;
  const std::uint32_t warps = threads / warp_size + (threads % warp_size != 0 ? 1 : 0);

  out.by_blocks = sm.max_blocks;
  out.by_warps = threads > sm.max_threads_per_block ? 0 : warp_slots(device) / warps;

  const RegisterUse use = register_use(device, warps, registers);
  out.registers_per_block = saturated(use.per_block);
  out.by_registers = use.blocks;

  if (shared > sm.shared_bytes_per_block_optin) {
    out.shared_per_block = shared;
    out.by_shared = 0;
  } else {
    out.shared_per_block = round_up(shared + sm.shared_reserved_per_block, sm.shared_allocation_unit);
    out.by_shared = out.shared_per_block == 0 ? unlimited : saturated(sm.shared_bytes / out.shared_per_block);
  }

  out.blocks_per_sm = std::min({out.by_warps, out.by_blocks, out.by_registers, out.by_shared});
  out.warps_per_sm = out.blocks_per_sm * warps;
  out.ratio = static_cast<double>(out.warps_per_sm) / sm.max_warps;
  // Warp slots that are full are the best possible outcome and count as the limit even where others tie.
  if (out.blocks_per_sm == out.by_warps)
    out.limit = OccupancyLimit::warps;
  else if (out.blocks_per_sm == out.by_registers)
    out.limit = OccupancyLimit::registers;
  else if (out.blocks_per_sm == out.by_shared)
    out.limit = OccupancyLimit::shared_memory;
  else
    out.limit = OccupancyLimit::blocks;
  return out;
}

std::uint32_t warp_slots(const Device& device) {
  return std::min(device.sm.max_warps, device.sm.max_threads / warp_size);
}

void Held::add(const Occupancy& launch, std::uint32_t block_warps) {
  ++blocks;
  warps += block_warps;
  registers += launch.registers_per_block;
  shared_bytes += launch.shared_per_block;
}

void Held::remove(const Occupancy& launch, std::uint32_t block_warps) {
  --blocks;
  warps -= block_warps;
  registers -= launch.registers_per_block;
  shared_bytes -= launch.shared_per_block;
}

bool fits_beside(const Device& device, const Held& held, const Occupancy& launch, std::uint32_t block_warps,
                 std::uint64_t shared_bytes) {
  return held.blocks < device.sm.max_blocks && held.warps + block_warps <= warp_slots(device) &&
         held.registers + launch.registers_per_block <= device.sm.registers &&
         held.shared_bytes + launch.shared_per_block <= shared_bytes;
}

}  // namespace simtlab::device
