#include "optimiser/llvm/optimise.h"

#include <llvm/IR/LLVMContext.h>
#include <pthread.h>

#include <cstddef>
#include <exception>

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
    schedule(lifted);
    lower(lifted, f);
    coalesce(f);
    straighten(f);
    why = lifted.left_out;
    return true;
  } catch (const GivenUp& reason) {
    why = reason.why;
    return false;
  }
}

namespace {

struct Work {
  std::span<ptx::VirtualFunction> functions;
  std::uint32_t which;
  const ptx::Module& module;
  std::string& why;
  bool done = false;
  std::exception_ptr problem = nullptr;
};

void* run(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  try {
    work.done = optimise(work.functions, work.which, work.module, work.why);
  } catch (...) { work.problem = std::current_exception(); }
  return nullptr;
}

// LLVM follows chains of values by recursion: in a kernel of 50,000 instructions that may be deep.
bool run_with_room(Work& work) {
  constexpr std::size_t stack_bytes = std::size_t{1} << 30;  // addresses; what is not used takes no memory
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread{};
  const bool started = ::pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
                       ::pthread_create(&thread, &attributes, run, &work) == 0;
  ::pthread_attr_destroy(&attributes);
  return started && ::pthread_join(thread, nullptr) == 0;
}

bool optimise_with_room(std::span<ptx::VirtualFunction> functions, std::uint32_t which,
                        const ptx::Module& module, std::string& why) {
  Work work{functions, which, module, why};
  if (!run_with_room(work)) run(&work);
  if (work.problem) std::rethrow_exception(work.problem);
  return work.done;
}

}  // namespace
}  // namespace simtlab::optimiser

// What the core finds by its name (optimiser/optimiser.cpp).
extern "C" [[gnu::visibility("default")]] bool simtlab_optimise(
    std::span<simtlab::ptx::VirtualFunction> functions, std::uint32_t which,
    const simtlab::ptx::Module& module, std::string& why) {
  return simtlab::optimiser::optimise_with_room(functions, which, module, why);
}
