// Banks in turn, each with its first request that is ready; a bank's oldest request closes a row that others
// of its queue want only after `cap` accesses of it. What DRAMsim3 does.
#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {
namespace {

class RoundRobin final : public Scheduler {
 public:
  explicit RoundRobin(std::uint32_t cap) : cap_(cap) {}

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

std::unique_ptr<Scheduler> make_round_robin(std::uint32_t row_hit_cap) {
  return std::make_unique<RoundRobin>(row_hit_cap);
}

}  // namespace simtlab::memory::dram
