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

std::unique_ptr<Scheduler> make_fcfs() { return std::make_unique<Fcfs>(); }

}  // namespace simtlab::memory::dram
