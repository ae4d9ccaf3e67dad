#include "optimiser/llvm/optimise.h"

#include <llvm/IR/LLVMContext.h>

#include "optimiser/llvm/coalesce.h"
#include "optimiser/llvm/lower.h"
#include "optimiser/llvm/passes.h"
#include "optimiser/llvm/schedule.h"

namespace simtlab::optimiser {

bool optimise(std::span<ptx::VirtualFunction> functions, std::uint32_t which, const ptx::Module& module,
              std::string& why) {
  ptx::VirtualFunction& f = functions[which];
  if (!f.fn.is_entry) {
    why = "a function that is called";
    return false;
  }
  llvm::LLVMContext context;
  try {
    Lifted lifted = lift(f, {module, functions}, context);
    run_passes(lifted);
    schedule(*lifted.function);
    lower(lifted, f);
    coalesce(f);
    straighten(f);
    if (lifted.left_out) why = "a block has more than 2,000 accesses, which are not merged";
    return true;
  } catch (const GivenUp& reason) {
    why = reason.why;
    return false;
  }
}

}  // namespace simtlab::optimiser

// What the core finds by its name (optimiser/optimiser.cpp).
extern "C" [[gnu::visibility("default")]] bool simtlab_optimise(
    std::span<simtlab::ptx::VirtualFunction> functions, std::uint32_t which,
    const simtlab::ptx::Module& module, std::string& why) {
  return simtlab::optimiser::optimise(functions, which, module, why);
}
