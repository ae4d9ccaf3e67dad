// Banks in turn, each with its first request that is ready; a bank's oldest request closes a row that others
// of its queue want only after `cap` accesses of it. What DRAMsim3 does.
#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {
namespace {

constexpr device::PolicyParameter parameters[] = {
    {"row_hit_cap", Unit::none, 1, 65536, 16,
     "Accesses of an open row that may pass an older request of its bank"}};

class RoundRobin final : public Scheduler {
 public:
  explicit RoundRobin(const PolicySetup& setup) : cap_(setup["row_hit_cap"]) {}

  void choose(BankView view, Choice& choice) const override {
    const Slot oldest = view.current();
    if (oldest == no_slot) return;
    const bool oldest_hits = view.hits(oldest);
    if (view.bank().open) {
      for (Slot s = oldest; s != no_slot; view.advance(), s = view.current()) {
        if (!view.hits(s)) continue;
        choice.column = s;
        choice.column_key = key_waits;
        break;
      }
    }
    if (oldest_hits || (choice.column != no_slot && view.bank().hits < cap_)) return;
    choice.row = oldest;
    choice.row_key = key_waits;
  }
  bool rotates() const override { return true; }

 private:
  std::uint32_t cap_;
};

}  // namespace

extern constinit const SchedulerRule scheduler_round_robin =
    scheduler_rule<RoundRobin>("Banks in turn", parameters);

}  // namespace simtlab::memory::dram
