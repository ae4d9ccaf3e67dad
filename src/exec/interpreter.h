// How the interpreter treats an instruction: XInst::kind. Zero is the fast case: call the handler, go to the
// next one.
#pragma once

#include <cstdint>

namespace simtlab::exec {

enum Kind : std::uint16_t {
  kind_plain = 0,
  kind_memory,  // handler that reports addresses
  kind_timed,   // reads %clock or %globaltimer: the interpreter fills their rows first
  kind_branch,
  kind_branch_table,
  kind_call,
  kind_return,
  kind_exit,
  kind_barrier,
  kind_flow,  // machine code that is more than its operations: exec/flow.cpp
  kind_mask = 0x7f,
  flag_guarded = 0x100,  // only lanes with a true guard
  flag_join = 0x200,     // a divergence reconverges here
  flag_delayed = 0x80,   // its results come late: exec/delays.h
  all_flags = flag_guarded | flag_join | flag_delayed,
};

}  // namespace simtlab::exec
