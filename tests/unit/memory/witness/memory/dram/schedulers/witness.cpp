// In order of arrival within a bank, and every event written down.
#include "witness.h"

#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {
namespace {

using witness::note;

class Witness final : public Scheduler {
 public:
  Witness() { witness::scheduler = {}; }
  void choose(BankView view, Choice& choice) const override {
    const Slot oldest = view.current();
    if (oldest == no_slot) return;
    (view.hits(oldest) ? choice.column : choice.row) = oldest;
    (view.hits(oldest) ? choice.column_key : choice.row_key) = key_waits | view.request(oldest).order;
  }
  bool arrived(Queues&, Slot, Cycle at) override { return see(witness::scheduler.arrived, at); }
  bool moved(Queues&, Slot, Cycle at) override { return see(witness::scheduler.moved, at); }
  bool served(Queues&, Slot, Cycle at) override { return see(witness::scheduler.served, at); }
  bool opened(const Queues& queues, BankIndex bank, Cycle at) override {
    witness::scheduler.in_order = witness::scheduler.in_order && queues.bank(bank).open;
    return see(witness::scheduler.opened, at);
  }
  bool closed(const Queues& queues, BankIndex bank, Cycle at) override {
    witness::scheduler.in_order = witness::scheduler.in_order && !queues.bank(bank).open;
    return see(witness::scheduler.closed, at);
  }
  void turned(bool to_writes, Cycle at) override {
    witness::scheduler.in_order = witness::scheduler.in_order && to_writes != witness::scheduler.to_writes;
    witness::scheduler.to_writes = to_writes;
    see(witness::scheduler.turned, at);
  }
  void restart() override { witness::scheduler = {}; }

 private:
  // Every bank may choose again after any event, and finds the same.
  static bool see(std::uint64_t& count, Cycle at) {
    ++count;
    note(witness::scheduler, at);
    return count % 3 == 0;
  }
};

}  // namespace

extern constinit const SchedulerRule scheduler_witness =
    scheduler_rule<Witness>("In order of arrival within a bank");

}  // namespace simtlab::memory::dram
