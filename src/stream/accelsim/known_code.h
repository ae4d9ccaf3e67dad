// The static code of a traced kernel from the machine code that ran. The trace has neither control
// information nor predicates, constants and the numbers of barriers.
#pragma once

#include "stream/accelsim/import.h"
#include "stream/trace/code.h"

namespace simtlab::stream::accelsim {

class KnownCode {
 public:
  // local_bytes: of a thread, that traced addresses may lie in.
  KnownCode(const KernelCode& code, const Header& header, std::uint32_t local_bytes);

  const trace::Code& code() const { return code_; }
  // Which instruction a line of the trace executed. Throws Error(bad_input, "accelsim-cubin") if the code has
  // another one there.
  std::uint32_t place(const KernelFile& file) const;
  // An instruction that ends a warp.
  std::uint32_t end() const { return end_; }
  // Of a step at a barrier: which one, and for how many threads, where the code says it.
  void set_barrier(Step& step) const;

 private:
  trace::Code code_;
  std::uint32_t end_ = 0;
};

}  // namespace simtlab::stream::accelsim
