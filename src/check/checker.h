// What watches a program: shadow memory, findings and coverage over all its kernels.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/findings.h"
#include "check/options.h"
#include "check/ordered_memory.h"
#include "check/races.h"
#include "check/shadow.h"
#include "check/sites.h"
#include "check/streams.h"
#include "exec/executor.h"
#include "exec/memory.h"
#include "result/findings.h"

namespace simtlab::check {

// How often an instruction was executed.
struct Counted {
  std::uint64_t warps = 0, taken = 0, not_taken = 0, parted = 0;
  std::uint32_t lanes = 0;  // most at once
};

// What the loop does besides executing.
enum class Hook : std::uint8_t { none, fence, sync_warp, members, commit, wait, bulk_group };

// Which access of an instruction: an asynchronous copy reads, writes late, and has written once it was waited
// for, or has been handed to a barrier in shared memory, where others wait for it. Of a bulk copy to global
// memory what it reads is late as well.
enum class SiteKind : std::uint8_t { usual, late, source, late_source, handed };
inline constexpr std::size_t site_kinds = 5;

// A function of PTX, as checked runs see it.
struct CheckedFunction {
  std::shared_ptr<const ptx::Module> module;  // keeps the function
  const ptx::Function* function = nullptr;
  std::vector<Hook> hooks;
  std::array<std::vector<std::uint32_t>, site_kinds> sites;  // by SiteKind; 0: not yet
  std::vector<Counted> counted;
  std::vector<std::uint32_t> unset;  // of an entry (check/unset_registers.h)
};

struct CheckedLaunch {
  std::uint64_t number = 0;
  std::string kernel;  // demangled
  exec::Dim3 grid, block;
  const ptx::Function* entry = nullptr;
  std::shared_ptr<const ptx::Module> module;
  Submitted submitted = {};
  bool beside = false;  // others of other streams may run at the same time
};

class Checker {
 public:
  Checker(const Options& options, exec::GlobalMemory& memory);
  ~Checker();

  // ---- the host
  void allocated(std::uint64_t address, std::uint64_t bytes);  // nothing has been written there
  void released(std::uint64_t address);                        // before it is gone
  // The same in the order of a stream: behind allocated(), before released().
  void allocated_in_stream(std::uint64_t address, std::uint32_t stream);
  void freed_in_stream(std::uint64_t address, std::uint32_t stream);
  // The launch uses the address, for the first time as far as its allocation is concerned.
  OrderedMemory& ordered() { return ordered_; }
  void uses_ordered(OrderedMemory::Allocation& allocation, InstructionAt at, std::uint32_t launch,
                    std::uint64_t block, unsigned thread, std::uint64_t address, std::string what);
  void written(std::uint64_t address, std::uint64_t bytes);
  void unwritten(std::uint64_t address, std::uint64_t bytes);  // as if nobody had written there
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  Streams& streams() { return streams_; }
  // The launch of this number has been submitted.
  void submitted(std::uint64_t launch, std::uint32_t stream) { submitted_[launch] = streams_.submit(stream); }
  // Copied to the host. element: bytes of what lies there, of which none is padding; 0: not known.
  void fetched(std::uint64_t from, std::uint64_t bytes, unsigned element = 0);
  // A call of the program that failed: name and error.
  void api_error(const std::string& call, const std::string& error);
  void gap(const std::string& sentence) { findings_.gap(sentence); }

  // ---- kernels (run.cpp)
  CheckedFunction& function(const std::shared_ptr<const ptx::Module>& module, const ptx::Function& function);
  std::uint32_t begin_launch(CheckedLaunch launch);
  void end_launch();
  // The how manieth launch of the kernel this is, from 1; counted by each call.
  unsigned count_launch(const ptx::Function& kernel) {
    ++launched_;
    return ++launches_of_[&kernel];
  }
  const CheckedLaunch& launch(std::uint32_t id) const { return launches_.at(id); }
  result::Access access_of(const CheckedFunction& f, std::uint32_t pc, std::uint32_t launch,
                           std::uint64_t block, unsigned thread, std::string what);
  std::uint32_t site(CheckedFunction& function, std::uint32_t pc, SiteKind kind);

  // These instructions count as of the GPU's scope in the launches that begin.
  void widen(std::vector<InstructionAt> instructions) { widened_ = std::move(instructions); }

  const Options& options() const { return options_; }
  exec::GlobalMemory& memory() { return memory_; }
  Shadow& shadow() { return shadow_; }
  Races& races() { return races_; }
  RaceSink*& sink() { return sink_.to; }
  Sites& sites() { return sites_; }
  Findings& findings() { return trial_ != nullptr ? *trial_ : findings_; }
  // Until it is null again, what is found goes there.
  void set_trial(Findings* trial) { trial_ = trial; }
  // Whether the bytes were written, as far as anybody keeps account of them.
  bool is_written(std::uint64_t address, std::uint64_t bytes);
  // Pieces of allocations that are kept account of and that nobody wrote to: address, bytes.
  void for_each_unwritten(const std::function<void(std::uint64_t, std::uint64_t)>& take) const;
  struct Gone {
    std::uint64_t bytes = 0;
    std::string what;
  };
  // What lay there and was released; null: nothing.
  const Gone* gone(std::uint64_t address, std::uint64_t* offset) const;

  // ended: the process ends; what is still allocated has leaked.
  result::CheckResult result(bool ended);

 private:
  struct PassOn final : RaceSink {
    RaceSink* to = nullptr;
    void race(const Race& race) override {
      if (to != nullptr) to->race(race);
    }
  };
  void add_leaks(std::vector<result::Finding>& findings) const;

  Options options_;
  exec::GlobalMemory& memory_;
  Shadow shadow_;
  Sites sites_;
  PassOn sink_;
  Races races_;
  Findings findings_;
  Findings* trial_ = nullptr;
  std::vector<InstructionAt> widened_;
  std::map<const ptx::Function*, std::unique_ptr<CheckedFunction>> functions_;
  std::map<std::uint32_t, CheckedLaunch> launches_;  // whose accesses are remembered
  Streams streams_;
  std::map<std::uint64_t, Submitted> submitted_;    // by number
  std::map<std::uint64_t, std::uint64_t> tracked_;  // allocations whose bytes are kept account of
  std::map<std::uint64_t, Gone> gone_;
  OrderedMemory ordered_;
  std::map<const ptx::Function*, unsigned> launches_of_;
  unsigned under_way_ = 0;
  std::uint64_t launched_ = 0;
};

}  // namespace simtlab::check
