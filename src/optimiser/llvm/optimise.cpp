#include "optimiser/llvm/optimise.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>

#include "optimiser/llvm/coalesce.h"
#include "optimiser/llvm/lower.h"
#include "optimiser/llvm/passes.h"

namespace simtlab::optimiser {

bool optimise(std::span<ptx::VirtualFunction> functions, std::uint32_t which, const ptx::Module& module, std::string& why) {
  ptx::VirtualFunction& f = functions[which];
  if (!f.fn.is_entry) {
    why = "a function that is called";
    return false;
  }
  llvm::LLVMContext context;
  try {
    Lifted lifted = lift(f, {module, functions}, context);
    if (std::getenv("SPIKE_DUMP")) lifted.function->print(llvm::errs());
    run_passes(lifted);
    if (std::getenv("SPIKE_DUMP")) lifted.function->print(llvm::errs());
    lower(lifted, f);
    coalesce(f);
    straighten(f);
    return true;
  } catch (const GivenUp& reason) {
    why = reason.why;
    return false;
  }
}

}  // namespace simtlab::optimiser
