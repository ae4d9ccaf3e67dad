// The oldest request whose next command, whatever it is, may be issued: so an older request to another row
// closes a row that younger ones still want, as soon as timing allows. What Ramulator 2 calls FRFCFS.
#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {
namespace {

class OldestReady final : public Scheduler {
 public:
  void choose(BankView view, Choice& choice) const override {
    const bool may_close = view.bank().active == no_slot;
    for (Slot s = view.current(); s != no_slot; view.advance(), s = view.current()) {
      const std::uint64_t key = key_waits | view.request(s).order;
      if (view.hits(s)) {
        if (choice.column == no_slot) choice.column = s, choice.column_key = key;
      } else if (choice.row == no_slot && may_close) {
        choice.row = s, choice.row_key = key;
      }
      if (choice.column != no_slot && (choice.row != no_slot || !may_close)) return;
      if (choice.row != no_slot && !view.bank().open) return;
    }
  }
};

}  // namespace

extern constinit const SchedulerRule scheduler_oldest_ready =
    scheduler_rule<OldestReady>("The oldest request whose next command may be issued");

}  // namespace simtlab::memory::dram
