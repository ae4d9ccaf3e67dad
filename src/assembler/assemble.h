// From a kernel of PTX to machine code that is executed as a cubin's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "assembler/kept.h"
#include "machine/lines.h"
#include "machine/views.h"
#include "ptx/decode.h"

namespace simtlab::assembler {

// Binary versions that code is made for: Volta and later.
bool makes(unsigned generation);

// The kernels of one module.
class Assembler {
 public:
  Assembler(const ptx::Module& module, unsigned generation, std::optional<KeptCode> kept);

  // `function`, over virtual registers, gets machine code (Function::machine). False: it is as it was, and
  // `why` says what was in the way.
  bool assemble(ptx::VirtualFunction& function, std::string& why);
  // The same, without optimising it, if an earlier run has kept its code.
  bool recall(ptx::VirtualFunction& function);
  void keep_no_more() { kept_.reset(); }

 private:
  void put(machine::MadeCode made, ptx::VirtualFunction& function);

  const ptx::Module& module_;
  unsigned generation_;
  std::optional<machine::Views> views_;
  std::shared_ptr<const machine::PtxLines> lines_;  // the text of the module
  std::optional<KeptCode> kept_;
};

// Has ptx::load_module make code of a module's kernels, after options.optimise. keep: what earlier runs made
// is taken from the user's cache, and what is made goes there.
void make_code(ptx::LoadOptions& options, unsigned generation, bool keep = true);

}  // namespace simtlab::assembler
