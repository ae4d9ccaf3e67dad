// First come, first served: nothing passes the oldest request.
#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {
namespace {

class Fcfs final : public Scheduler {
 public:
  void choose(BankView view, Choice& choice) const override {
    const Slot oldest = view.current();
    if (oldest == no_slot) return;
    (view.hits(oldest) ? choice.column : choice.row) = oldest;
    (view.hits(oldest) ? choice.column_key : choice.row_key) = key_waits | view.request(oldest).order;
  }
  bool strict() const override { return true; }
};

}  // namespace

extern constinit const SchedulerRule scheduler_fcfs = scheduler_rule<Fcfs>("In order of arrival");

}  // namespace simtlab::memory::dram
