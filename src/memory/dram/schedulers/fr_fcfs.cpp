// Row hits first, however many.
#include "memory/dram/schedulers/fr_fcfs.h"

namespace simtlab::memory::dram {
namespace {

class Uncapped final : public FrFcfs {
 public:
  Uncapped() : FrFcfs(~std::uint32_t{0}) {}
};

}  // namespace

extern constinit const SchedulerRule scheduler_fr_fcfs =
    scheduler_rule<Uncapped>("Row hits first, then the oldest");

}  // namespace simtlab::memory::dram
