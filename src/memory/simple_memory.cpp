// Bandwidth is a port per partition; latency is added to the port's start of service. A request to a row that
// was not open recently occupies the port for a smallest access and `row_miss_penalty` of one at least, which
// stands for the activation that a real bank would need.
#include "memory/simple_memory.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace simtlab::memory {

SimpleMemory::SimpleMemory(const SimpleMemoryConfig& config)
    : config_(config), ports_(config.partitions), bytes_(config.partitions) {
  SIMTLAB_ASSERT(config.partitions > 0 && config.bytes_per_cycle > 0 && config.row_bytes >= 128,
                 "DRAM needs partitions, bandwidth and rows");
  read_cost_ = to_fixed(32.0 / config.bytes_per_cycle);
  write_cost_ = to_fixed(32.0 / config.bytes_per_cycle * config.write_cost);
  least_row_miss_ = to_fixed(config.access_bytes / config.bytes_per_cycle * (1 + config.row_miss_penalty));
  // The queue has room for a whole line at least: a refused request is offered again when a request ends, and
  // the last write ends as soon as it begins.
  const FixedCycles longest = std::max(4 * std::max(read_cost_, write_cost_), least_row_miss_);
  config_.queue_cycles = std::max(config_.queue_cycles, (longest >> fixed_bits) + 1);
  rows_.assign(std::size_t{config.partitions} * row_sets * row_ways, 0);
  next_way_.assign(std::size_t{config.partitions} * row_sets, 0);
}

bool SimpleMemory::ready(std::uint32_t partition, Cycle now) const {
  return ports_[partition].free_at() <= now + config_.queue_cycles;
}

bool SimpleMemory::open_row(std::uint32_t partition, std::uint64_t row) {
  const std::size_t set = std::size_t{partition} * row_sets + row % row_sets;
  std::uint64_t* rows = &rows_[set * row_ways];
  for (std::uint32_t way = 0; way < row_ways; ++way)
    if (rows[way] == row + 1) return true;
  rows[next_way_[set]] = row + 1;
  next_way_[set] = static_cast<std::uint8_t>((next_way_[set] + 1) % row_ways);
  return false;
}

void SimpleMemory::push(const MemoryRequest& request, Cycle now) {
  const auto sectors = static_cast<std::uint64_t>(std::popcount(request.sectors));
  const bool hit = open_row(request.partition, request.line * 128 / config_.row_bytes);
  ++(hit ? statistics_.row_hits : statistics_.row_misses);
  (request.write ? statistics_.write_bytes : statistics_.read_bytes) += sectors * 32;
  bytes_[request.partition] += sectors * 32;
  const FixedCycles transfer = sectors * (request.write ? write_cost_ : read_cost_);
  const Cycle start =
      ports_[request.partition].take(now, hit ? transfer : std::max(transfer, least_row_miss_));
  if (backlog_ != nullptr && start > now) {
    backlog_->waits(request.slice, now);
    waiting_.push(start, {start, request.slice});
  }
  done_.push(request.write ? start + 1 : start + config_.latency,
             {request.tag, request.partition, request.write, request.sectors});
}

void SimpleMemory::advance(Cycle now, std::vector<MemoryDone>& done) {
  for (Waiting item; waiting_.pop(now, item);) backlog_->served(item.slice, item.until);
  for (MemoryDone item; done_.pop(now, item);) done.push_back(item);
}

MemoryStatistics SimpleMemory::statistics() const {
  MemoryStatistics out = statistics_;
  const auto [least, most] = std::minmax_element(bytes_.begin(), bytes_.end());
  out.least_partition_bytes = *least;
  out.most_partition_bytes = *most;
  return out;
}

void SimpleMemory::restart() {
  std::fill(bytes_.begin(), bytes_.end(), 0);
  for (Port& port : ports_) port.reset();
  done_.restart();
  waiting_.restart();
  statistics_ = {};
}

void SimpleMemory::save(stream::trace::Buffer& out) const {
  for (const std::uint64_t row : rows_) stream::trace::put_number(out, row);
  out.insert(out.end(), next_way_.begin(), next_way_.end());
}

void SimpleMemory::restore(stream::trace::Bytes& in) {
  for (std::uint64_t& row : rows_) row = in.number();
  for (std::uint8_t& way : next_way_) {
    way = in.byte();
    if (way >= row_ways) throw stream::trace::Malformed("a memory has fewer open rows than that");
  }
}

}  // namespace simtlab::memory
