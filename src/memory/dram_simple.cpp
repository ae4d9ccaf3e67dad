#include "memory/dram_simple.h"

#include <bit>

#include "base/error.h"

namespace simtlab::memory {

DramSimple::DramSimple(const DramSimpleConfig& config) : config_(config), ports_(config.partitions) {
  SIMTLAB_ASSERT(config.partitions > 0 && config.bytes_per_cycle > 0 && config.row_bytes >= 128, "DRAM needs partitions, bandwidth and rows");
  sector_cost_ = to_fixed(32.0 / config.bytes_per_cycle);
  sector_cost_miss_ = to_fixed(32.0 / config.bytes_per_cycle * (1 + config.row_miss_penalty));
  rows_.assign(std::size_t{config.partitions} * config.open_rows, 0);
  next_row_.assign(config.partitions, 0);
}

bool DramSimple::ready(std::uint32_t partition, Cycle now) const {
  return ports_[partition].free_at() <= now + config_.queue_cycles;
}

// The table of open rows is searched from the most recent one; streams find theirs near the front.
bool DramSimple::open_row(std::uint32_t partition, std::uint64_t row) {
  std::uint64_t* rows = &rows_[std::size_t{partition} * config_.open_rows];
  std::uint32_t& next = next_row_[partition];
  for (std::uint32_t i = 0, at = next; i < config_.open_rows; ++i) {
    at = at == 0 ? config_.open_rows - 1 : at - 1;
    if (rows[at] == row + 1) return true;
  }
  rows[next] = row + 1;
  next = next + 1 == config_.open_rows ? 0 : next + 1;
  return false;
}

void DramSimple::push(const DramRequest& request, Cycle now) {
  const auto sectors = static_cast<std::uint64_t>(std::popcount(request.sectors));
  const bool hit = open_row(request.partition, request.line * 128 / config_.row_bytes);
  ++(hit ? statistics_.row_hits : statistics_.row_misses);
  (request.write ? statistics_.write_bytes : statistics_.read_bytes) += sectors * 32;
  const Cycle start = ports_[request.partition].take(now, sectors * (hit ? sector_cost_ : sector_cost_miss_));
  done_.push(request.write ? start + 1 : start + config_.latency, {request.tag, request.partition, request.write, request.sectors});
}

void DramSimple::advance(Cycle now, std::vector<DramDone>& done) {
  for (DramDone item; done_.pop(now, item);) done.push_back(item);
}

void DramSimple::restart() {
  for (Port& port : ports_) port.reset();
  done_.restart();
  statistics_ = {};
}

}  // namespace simtlab::memory
