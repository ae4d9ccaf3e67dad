// Counts per static instruction: what it issued, which scheduler slots it lost and why, what it asked of
// memory.
//
// A slot without an issue is charged to the instruction that the warp waits to issue, of the warp that gives
// the slot its reason (sm.cpp, evaluate). So the sums over all instructions are the kernel's own, but for
// slots without any warp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ptx/module.h"
#include "result/profile.h"
#include "timing/program.h"

namespace simtlab::timing {

struct InstCounters {
  std::uint64_t instructions = 0, threads = 0;
  SlotCounts slots{};
  std::uint64_t requests = 0, sectors = 0;
  std::uint64_t shared_passes = 0, shared_conflicts = 0;
  std::uint64_t loads = 0, load_cycles = 0;
  void add(const InstCounters& other);
};

// The counters of one SM; those of all are added at the end. Counters keep their place until clear().
class InstTable {
 public:
  InstCounters& at(const ptx::Function& function, std::uint32_t pc) {
    if (&function != last_function_) [[unlikely]]
      find(function);
    return last_->counters[pc];
  }
  void add(const InstTable& other);
  void clear();

  // Lines of PTX that did or lost anything. slots: of the whole kernel.
  result::Profile profile(const ptx::Module& module, const SlotCounts& slots) const;

 private:
  struct Entry {
    const ptx::Function* function;
    std::vector<InstCounters> counters;  // by pc
  };
  void find(const ptx::Function& function);

  std::vector<std::unique_ptr<Entry>> functions_;
  const ptx::Function* last_function_ = nullptr;
  Entry* last_ = nullptr;
};

}  // namespace simtlab::timing
