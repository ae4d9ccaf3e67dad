// The handler of an arithmetic instruction: each group is asked in turn, they don't overlap.
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {

Handler select_arithmetic(const ptx::Inst& inst) {
  using Select = Handler (*)(const ptx::Inst&);
  constexpr Select groups[] = {select_integer, select_multiply,    select_carry, select_bits,
                               select_float,   select_approximate, select_half,  select_compare,
                               select_convert, select_move,        select_warp,  select_video,
                               select_machine};
  for (const Select select : groups)
    if (const Handler handler = select(inst)) return handler;
  return nullptr;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
