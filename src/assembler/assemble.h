// From a kernel of PTX to machine code that is executed as a cubin's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "machine/lines.h"
#include "machine/views.h"
#include "ptx/decode.h"

namespace simtlab::assembler {

// Binary versions that code is made for: Volta and later.
bool makes(unsigned generation);

// The kernels of one module.
class Assembler {
 public:
  Assembler(const ptx::Module& module, unsigned generation);

  // `function`, over virtual registers, gets machine code (Function::machine). False: it is as it was, and
  // `why` says what was in the way.
  bool assemble(ptx::VirtualFunction& function, std::string& why);

 private:
  const ptx::Module& module_;
  unsigned generation_;
  std::optional<machine::Views> views_;
  std::shared_ptr<const machine::PtxLines> lines_;  // the text of the module
};

// What ptx::load_module calls to make code of a module's kernels.
ptx::MakeCode maker(unsigned generation);

}  // namespace simtlab::assembler
