#include "memory/dram/scheduler.h"

#include "base/error.h"

namespace simtlab::memory::dram {

std::unique_ptr<Scheduler> make_scheduler(const device::MemoryController& controller, std::uint32_t banks) {
  using Kind = device::SchedulerKind;
  const auto& schedule = controller.schedule;
  switch (schedule.kind) {
    case Kind::fcfs: return make_fcfs();
    case Kind::fr_fcfs: return make_fr_fcfs(0);
    case Kind::fr_fcfs_cap: return make_fr_fcfs(schedule.row_hit_cap);
    case Kind::oldest_ready: return make_oldest_ready();
    case Kind::round_robin: return make_round_robin(schedule.row_hit_cap);
    case Kind::par_bs: return make_par_bs(schedule.batch_cap, banks);
  }
  SIMTLAB_ASSERT(false, "every kind of scheduler is made");
  return nullptr;
}

}  // namespace simtlab::memory::dram
