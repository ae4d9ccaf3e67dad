#include "assembler/schedule.h"
namespace simtlab::assembler {
void schedule_before_allocation(Program&) {}
void schedule_after_allocation(Program&) {}
}  // namespace simtlab::assembler
