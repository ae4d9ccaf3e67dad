// Row hits first, so many of them before an older request.
#include "memory/dram/schedulers/fr_fcfs.h"

namespace simtlab::memory::dram {
namespace {

constexpr device::PolicyParameter parameters[] = {
    {"row_hit_cap", Unit::none, 1, 65536, 16,
     "Accesses of an open row that may pass an older request of its bank"}};

class Capped final : public FrFcfs {
 public:
  explicit Capped(const PolicySetup& setup) : FrFcfs(setup["row_hit_cap"]) {}
};

}  // namespace

extern constinit const SchedulerRule scheduler_fr_fcfs_cap =
    scheduler_rule<Capped>("Row hits first, at most row_hit_cap of them before an older request", parameters);

}  // namespace simtlab::memory::dram
