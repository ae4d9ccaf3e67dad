// The rules of findings: pure data, and their look-up.
#include "result/findings.h"

#include <algorithm>

namespace simtlab::result {

const std::vector<FindingRule>& finding_rules() {
  using enum Level;
  static const std::vector<FindingRule> rules = {
      {"memory.out-of-bounds", "Access outside of every allocation", error, "memory",
       "A thread reads or writes an address that belongs to no allocation, or beyond the end of the one that "
       "it was meant for. Compare the index with the size of the buffer: most often a guard (if (i < n)) is "
       "missing, or the grid is larger than the data."},
      {"memory.misaligned", "Misaligned access", error, "memory",
       "The address of an access is no multiple of its size; a real GPU stops the kernel. Look for a cast to "
       "a wider type (float* to float4*) of a pointer with an offset."},
      {"memory.use-after-free", "Use of freed memory", error, "memory",
       "A thread reads or writes memory that was freed before, or that a stream-ordered allocation does not "
       "give yet. Free it behind the last kernel that uses it, in the same stream or after a "
       "synchronisation."},
      {"memory.read-only", "Write to memory that is read only", error, "memory",
       "A thread writes to constant memory, to a parameter or to code. Copy the value to a variable first."},
      {"memory.invalid-free", "Free of what was not allocated", error, "memory",
       "A pointer is freed that no allocation gave, or that was freed before. Free each pointer once, with "
       "the call that belongs to its allocation."},
      {"memory.leak", "Memory that is never freed", warning, "leaks",
       "An allocation still exists when the program ends. Free it, or let an owning object do so."},
      {"api.error", "A call of the API failed", warning, "api",
       "A function of the CUDA runtime, the driver API or OpenCL returned an error. Check what it returns; "
       "an error that nobody looks at hides the ones after it."},
      {"api.launch", "A launch that cannot run", error, "api",
       "A kernel was launched with a grid, a block or an amount of shared memory that the GPU does not take, "
       "or without code for it. The kernel did not run at all."},
      {"init.global", "Read of global memory that nobody wrote", error, "init",
       "A thread reads bytes of an allocation to which neither a kernel nor a copy wrote before, and uses "
       "them. The value is whatever was there. Initialise the buffer (cudaMemset, a copy, a kernel)."},
      {"init.shared", "Read of shared memory that nobody wrote", error, "init",
       "A thread reads shared memory to which no thread of its block wrote before. Write it first, with a "
       "barrier behind; look for threads at the edge of a tile that load nothing."},
      {"init.copied", "Copy to the host of what nobody wrote", warning, "init",
       "A copy brings bytes to the host that neither a kernel nor a copy wrote on the device. Holes of a few "
       "bytes that repeat, the padding of structures, do not count. Compare the size of the copy with what "
       "the kernels write: most often a kernel leaves out the last elements, or copies what was not set."},
      {"init.local", "Read of a local variable that was not set", error, "init",
       "A thread reads an array or a spilled variable of its own that it did not write before. Give it a "
       "value where it is declared."},
      {"init.register", "Use of a variable that was not set", warning, "init",
       "A thread decides by, or takes as an address, a value that it has computed from a register which it "
       "has "
       "not written: a variable that is not set on the way that the thread took. Give it a value where it is "
       "declared. Where a compiler leaves out such code altogether, nothing is left to be found."},
      {"barrier.divergent", "Barrier that not all threads of a warp reach together", error, "barriers",
       "Threads of one warp are at different barriers, or some wait at one that the others pass by: "
       "undefined in CUDA. Move __syncthreads() out of the condition."},
      {"barrier.incomplete", "Barrier that some threads never reach", error, "barriers",
       "Threads left the kernel, or are somewhere else for good, while others wait for them at a barrier. "
       "Let all threads of the block reach it: replace the early return by a condition around the work."},
      {"barrier.mask", "Wrong mask of lanes", error, "barriers",
       "The mask of __syncwarp(), a shuffle, a vote or a match names a lane that does not take part, or "
       "leaves out the one that executes it. Compute the mask where all those lanes are still together "
       "(__ballot_sync before the branch), or use __activemask() only for what needs no agreement."},
      {"barrier.deadlock", "No thread can go on", error, "barriers",
       "All threads that are left wait: at barriers that cannot complete, or for a value that nobody is left "
       "to write. On a GPU the kernel would hang."},
      {"race.shared", "Race in shared memory", error, "races",
       "Two threads of a block access the same bytes of shared memory, one of them writes, and nothing "
       "orders the two. The result depends on which comes first. Put a barrier (__syncthreads(), "
       "__syncwarp() within a warp) between them."},
      {"race.global", "Race in global memory", error, "races",
       "Two threads access the same bytes of global memory, one of them writes, and nothing orders the two. "
       "Within a block a barrier orders them; between blocks a flag with release and acquire, an atomic for "
       "both, cooperative groups' grid barrier, or a second kernel."},
      {"race.stream", "Copy or memset beside a kernel of another stream", error, "races",
       "A copy or a memset, and a kernel or a copy of another stream, use the same bytes of global memory, "
       "one "
       "of them writes, and neither waits for the other. Put them into one stream, let the second stream "
       "wait "
       "for an event behind the first one (cudaStreamWaitEvent), or synchronise in between. Streams made "
       "with "
       "cudaStreamNonBlocking do not wait for the default stream either."},
      {"race.scope", "Atomics or fences of too small a scope", error, "races",
       "Both accesses are atomic, or are ordered by a flag, but the scope of one of them does not include "
       "the other thread: _block between blocks, _device beside the host. Widen the scope."},
      {"race.async", "Race with an asynchronous copy", error, "races",
       "Memory is used while an asynchronous copy (cp.async, cp.async.bulk, TMA) still reads or writes it. "
       "Wait for the copy (cp.async.wait_group, the barrier's wait, pipeline.consumer_wait) and let the "
       "other threads know with a barrier."},
      {"memory.cluster-start", "Shared memory of a block that may not have begun", warning, "memory",
       "Blocks of a cluster are resident together, but one may begin later than another. Before a block "
       "accesses "
       "the shared memory of another one, something has to say that it has begun: a barrier of the cluster, "
       "or a "
       "release of that block that was acquired."},
      {"race.proxy", "Bulk copy of what ordinary stores wrote, without a fence", warning, "races",
       "A bulk copy (cp.async.bulk) reads shared memory on another way than stores write it. Without "
       "fence.proxy.async by the threads that have stored, in front of the barrier, it may read what was "
       "there "
       "before."},
      {"race.unfenced", "What was released was seen and not acquired", warning, "races",
       "A thread has read a flag (or an atomic counter) that another one wrote after a fence, and uses what "
       "that one wrote before the fence, but has no fence of its own in between. Today's GPUs mostly get by; "
       "the memory model promises nothing. Put __threadfence() behind the read of the flag, or read it with "
       "memory_order_acquire."},
      {"race.guess", "Plain load before a compare-and-swap", warning, "races",
       "A plain load brings the value that a compare-and-swap at the same place expects at first, while "
       "other "
       "threads change it by atomics. An old value costs another round and no more, so many programs do it, "
       "the examples of the CUDA programming guide among them; the memory model calls it a race. Load it "
       "through a volatile pointer or cuda::atomic_ref."},
      {"race.volatile", "Order by volatile alone", warning, "races",
       "The two accesses are volatile and nothing else orders them. PTX takes that for no race; CUDA C++ "
       "does. Use cuda::atomic_ref or atomics."},
      {"race.same-value", "Several threads write the same value", warning, "races",
       "Unordered threads write equal values to the same place. The result does not depend on the order "
       "now, but the language calls it a race. Let one thread write, or make the store atomic."},
      {"order.other", "Result that depends on an order: not a race", warning, "races",
       "With another order of blocks and warps memory holds other values, and no race was found: atomics "
       "whose "
       "answers are used (the index that a thread gets), or a lock that whoever comes first takes. Compare "
       "results in a way that does not depend on it."},
      {"order.race", "Result that depends on an order: a race", error, "races",
       "In another order of blocks, warps or lanes a kernel leaves other values, and a race is the reason. "
       "Mend the race that is reported beside it."},
      {"order.float-atomics", "Result that depends on the order of floating-point atomics", warning, "races",
       "In another order a kernel leaves other values, since floating-point sums depend on the order of "
       "their terms. Compare with a tolerance, or sum in a fixed order (a reduction) where bits must agree."},
      {"order.uninitialised", "Result that depends on what memory held before", error, "init",
       "With other values in memory that was not initialised a kernel leaves other values. Initialise what "
       "it reads."},
      {"number.nan", "First NaN", error, "numbers",
       "An operation on numbers gave no number (0/0, inf - inf, the root of a negative number). Everything "
       "that is computed from it is NaN, too. Look at the operands."},
      {"number.infinity", "First infinity", warning, "numbers",
       "An operation on finite numbers gave an infinity: a division by zero, or a result too large for its "
       "type."},
      {"program.trap", "Trap", error, "memory",
       "The kernel executed __trap(): it found out itself that something is wrong."},
      {"program.assert", "Assertion that failed", error, "memory",
       "An assert() of device code did not hold; the message names the condition."},
      {"program.fault", "The kernel was stopped", error, "memory",
       "The kernel did something from which it cannot go on, as a jump to no code or an endless "
       "recursion."},
  };
  return rules;
}

const FindingRule* find_finding_rule(std::string_view id) {
  const auto found = std::ranges::find(finding_rules(), id, &FindingRule::id);
  return found == finding_rules().end() ? nullptr : &*found;
}

}  // namespace simtlab::result
