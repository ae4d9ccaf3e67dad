// A launch that is counted while a model reads it: how often each instruction was executed, by how many
// threads, with how many passes over shared memory; and what a few of its warps did, instruction by
// instruction.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "device/device.h"
#include "stream/bank_conflicts.h"
#include "stream/warp_source.h"

namespace simtlab::models::counts {

// Of one static instruction.
struct InstCounts {
  std::uint64_t executed = 0;  // warp instructions
  std::uint64_t threads = 0;   // of them: active, guard true
  // Warp accesses to global or local memory that were looked at
  std::uint64_t coalesced = 0, uncoalesced = 0;
  std::uint64_t uncoalesced_sectors = 0;  // of these
  // Shared memory: accesses that were looked at, and their passes
  std::uint64_t shared_looks = 0, passes = 0, ideal_passes = 0;
};

struct FunctionCounts {
  std::vector<InstCounts> at;  // by program counter
};

// One instruction of a warp whose way is kept.
struct Footstep {
  const ptx::Function* function = nullptr;
  std::uint32_t pc = 0;
  std::uint16_t passes = 1;  // of shared memory
  bool skipped = false;      // the guard was false in all lanes
};

struct WarpWay {
  std::vector<Footstep> steps;  // the first part of a long way
};

// How many instructions the blocks executed that have ended: their spread says how good a sample of them is.
struct BlockSpread {
  std::uint64_t blocks = 0;
  double mean = 0, squares = 0;    // Welford's sums
  std::uint64_t longest_warp = 0;  // instructions
  void add(double instructions);
  double variance() const { return blocks < 2 ? 0 : squares / static_cast<double>(blocks - 1); }
};

struct CountedState;

// For one thread: all shares count together.
class CountedLaunch final : public stream::WarpSource {
 public:
  CountedLaunch(const stream::WarpSource& inner, const device::Device& device);
  ~CountedLaunch() override;

  const ptx::Function& function() const override { return inner_.function(); }
  const ptx::Module& module() const override { return inner_.module(); }
  stream::Dim3 grid() const override { return inner_.grid(); }
  stream::Dim3 block() const override { return inner_.block(); }
  std::uint32_t shared_bytes() const override { return inner_.shared_bytes(); }
  std::uint32_t local_bytes() const override { return inner_.local_bytes(); }
  std::uint64_t block_count() const override { return inner_.block_count(); }
  std::uint64_t block_number(std::uint64_t index) const override { return inner_.block_number(index); }
  std::unique_ptr<stream::SmShare> make_share(stream::Effects effects) const override;
  bool one_at_a_time() const override { return true; }
  const stream::trace::Code* code_of(const ptx::Function& f) const override { return inner_.code_of(f); }

  // In the order of the text.
  std::vector<std::pair<const ptx::Function*, const FunctionCounts*>> functions() const;
  const std::vector<WarpWay>& ways() const;
  const BlockSpread& spread() const;
  std::uint64_t warp_instructions() const;

 private:
  const stream::WarpSource& inner_;
  std::unique_ptr<CountedState> state_;
};

}  // namespace simtlab::models::counts
