#include "device/memory_controller_keys.h"

#include <utility>

namespace simtlab::device {
namespace {

using Controller = MemoryController;
using Rows = std::vector<KeyOf<Controller>>;

constexpr double max_clocks = 1e6, max_entries = 4096;

// Plain numbers, names, true or false: what has no unit.
template <class Member>
void add(Rows& rows, std::string key, double minimum, double maximum, Member member, std::string doc) {
  rows.push_back({{std::move(key), Unit::none, minimum, maximum, std::move(doc)},
                  [member](Controller& c) -> Field { return member(c); }});
}
template <class Member>
void add(Rows& rows, std::string key, Member member, std::string doc) {
  add(rows, std::move(key), 0, 0, member, std::move(doc));
}
template <class Member>
void add_clocks(Rows& rows, std::string key, double minimum, Member member, std::string doc) {
  rows.push_back({{std::move(key), Unit::cycles, minimum, max_clocks, std::move(doc)},
                  [member](Controller& c) -> Field { return member(c); }});
}

void add_queues(Rows& rows) {
  add(
      rows, "queues.style", [](Controller& c) { return &c.queues.style; },
      "One queue for reads and one for writes (split), one for both (unified), or split and a short queue of "
      "each bank behind them (per_bank)");
  add(
      rows, "queues.read", 1, max_entries, [](Controller& c) { return &c.queues.read; },
      "Entries of the read queue; unified: read + write are the entries together");
  add(
      rows, "queues.write", 1, max_entries, [](Controller& c) { return &c.queues.write; },
      "Entries of the write queue");
  add(
      rows, "queues.bank", 0, 256, [](Controller& c) { return &c.queues.bank; },
      "Entries of the queue of a bank; style per_bank only");
  add(
      rows, "queues.high", 0, 1, [](Controller& c) { return &c.queues.high; },
      "Writes are drained from above this share of the write queue on; per_bank: when it is reached, those "
      "that wait then");
  add(
      rows, "queues.low", 0, 1, [](Controller& c) { return &c.queues.low; },
      "Draining ends below this share of the write queue; per_bank: above it writes also go while the queues "
      "of the banks are empty");
  add(
      rows, "queues.frees_at_activation", [](Controller& c) { return &c.queues.frees_at_activation; },
      "Whether a request leaves its queue when its row is activated, not only with its own command");
  add(
      rows, "queues.merge_reads", [](Controller& c) { return &c.queues.merge_reads; },
      "Whether a read of what a queued read asks for waits for that one");
  add(
      rows, "queues.merge_writes", [](Controller& c) { return &c.queues.merge_writes; },
      "Whether a write of what a queued write holds is absorbed by it");
}

void add_policies(Rows& rows) {
  add(
      rows, "schedule.kind", [](Controller& c) { return &c.schedule.kind; },
      "Which request goes first: in order of arrival (fcfs), row hits first (fr_fcfs), at most row_hit_cap "
      "of "
      "them before an older request (fr_fcfs_cap), the oldest with a ready command (oldest_ready), banks in "
      "turn "
      "(round_robin), batches that are fair to sources (par_bs)");
  add(
      rows, "schedule.row_hit_cap", 1, 65536, [](Controller& c) { return &c.schedule.row_hit_cap; },
      "Accesses of an open row that may pass an older request of its bank; fr_fcfs_cap and round_robin");
  add(
      rows, "schedule.batch_cap", 1, 65536, [](Controller& c) { return &c.schedule.batch_cap; },
      "Requests of one source and bank in a batch; par_bs");
  add(
      rows, "page.policy", [](Controller& c) { return &c.page.policy; },
      "What happens to a row that no request waits for: it stays open, is closed, is closed after "
      "page.timeout, or "
      "after a time that adapts to what the last decisions cost");
  add_clocks(
      rows, "page.timeout", 1, [](Controller& c) { return &c.page.timeout; },
      "Without an access, until a row is closed; timeout, and the start of adaptive");
  add(
      rows, "mapping.pattern", [](Controller& c) { return &c.mapping.pattern; },
      "Parts of an address, most significant first (address mapping)");
  add(
      rows, "mapping.hash", [](Controller& c) { return &c.mapping.hash; },
      "Parts that are hashed with others (address mapping); none: nothing is");
}

void add_upkeep(Rows& rows) {
  add(
      rows, "upkeep.precharge_all", [](Controller& c) { return &c.upkeep.precharge_all; },
      "Whether one command closes all banks of a rank before a refresh, or one a bank");
  add(
      rows, "upkeep.staggered", [](Controller& c) { return &c.upkeep.staggered; },
      "Whether the refreshes of ranks are spread over tREFI, or all due at once");
  add(
      rows, "upkeep.blocks_channel", [](Controller& c) { return &c.upkeep.blocks_channel; },
      "Whether a refresh that waits holds back the whole channel, not its rank or bank alone");
  add_clocks(
      rows, "upkeep.power_down_after", 0, [](Controller& c) { return &c.upkeep.power_down_after; },
      "Without work, until a rank goes into power-down; 0: never");
  add_clocks(
      rows, "upkeep.self_refresh_after", 0, [](Controller& c) { return &c.upkeep.self_refresh_after; },
      "Without work, until a rank goes into self-refresh; 0: never");
}

void add_latency(Rows& rows) {
  add_clocks(
      rows, "latency.read", 0, [](Controller& c) { return &c.latency.read; },
      "From the last data of a read to its answer: what the controller itself takes");
  add_clocks(
      rows, "latency.forward", 0, [](Controller& c) { return &c.latency.forward; },
      "Of a read that a queued write answers");
  add(
      rows, "latency.write_done", [](Controller& c) { return &c.latency.write_done; },
      "When a write counts as done: taken into the queue (accepted), its command sent (issued), its last "
      "data on the "
      "bus (written)");
}

Rows make_keys() {
  Rows rows;
  add(
      rows, "description", [](Controller& c) { return &c.description; },
      "Which controller this is like, and what is simplified");
  add_queues(rows);
  add_policies(rows);
  add_upkeep(rows);
  add_latency(rows);
  return rows;
}

}  // namespace

const std::vector<KeyOf<MemoryController>>& memory_controller_keys() {
  static const Rows rows = make_keys();
  return rows;
}

}  // namespace simtlab::device
