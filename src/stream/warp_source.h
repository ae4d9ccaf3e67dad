// Where the warps of a launch come from. Models read this interface, whether a kernel is executed now or was
// recorded.
//
// A model asks a resident block for the next instruction of a warp, decides when it issues, and lets it
// happen (step): pc, lanes and addresses follow. Static code is the decoded form of ptx/inst.h.
// Implementations: executed.h (the functional executor), trace/replay.h (a recorded trace), trace/record.h
// (another source, written down on the way), accelsim/launch.h (SASS).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/executor.h"

namespace simtlab::stream {

namespace trace {
struct Code;
}

using exec::Dim3;
using exec::Step;
using exec::WarpStatus;

// The instruction that a warp executes next; the program counter is an index in the code of `function`.
struct Next {
  const ptx::Function* function = nullptr;
  std::uint32_t pc = 0;
};

// For who would count the bytes of a bulk copy wrongly: throws Error(unsupported, "ptx-unsupported").
[[noreturn]] void refuse_bulk_copy();
// For who runs blocks one by one: throws Error(unsupported, "launch-cluster").
[[noreturn]] void refuse_clusters();

// One resident block of a launch.
class ResidentBlock {
 public:
  virtual ~ResidentBlock() = default;
  // Makes it another block of the launch, without allocating where that can be helped.
  virtual void reset(std::uint64_t block, unsigned sm, unsigned first_warp_slot) = 0;
  virtual WarpStatus status(unsigned warp) const = 0;
  virtual Next next(unsigned warp) const = 0;  // of a warp that has not exited
  // Executes the next instruction of a ready warp; as exec::Block::step: nothing has happened if it says
  // `blocked`.
  virtual const Step& step(unsigned warp, std::uint64_t now) = 0;
  // Where the warp's state is, for the hints of exec::WarpPlace; null: there are none to be had.
  virtual const void* place(unsigned /*warp*/) const { return nullptr; }
  // Executes up to `most` of a warp's next instructions at once, as long as they are arithmetic that no model
  // looks at one by one; possibly none.
  virtual exec::Run run_plain(unsigned /*warp*/, std::uint32_t /*most*/) { return {}; }
  // As exec::Block has them; of a block that is not executed they do nothing. Who does not call the first one
  // does not know of bulk copies: a block that executes one throws.
  virtual void hold_arrivals() {}
  virtual void copies_done(unsigned /*warp*/) {}
  virtual std::string whereabouts() const = 0;
  virtual void check_progress() const = 0;  // throws if no warp is ready and not all exited
  // As exec::Block::stuck(); only between commits of its share. A recorded block is never stuck: its stream
  // ends.
  virtual bool stuck(std::uint32_t /*steps*/, std::vector<exec::Stuck>& /*who*/) { return false; }
};

// When other blocks see the writes and atomics of a share's blocks on global memory.
enum class Effects : std::uint8_t {
  // The shares of a launch may be worked on by several threads in between; a step may be blocked until then
  at_commit,
  // For one thread that steps all blocks; no step is ever blocked, and atomics have their answer when the
  // step returns
  at_once,
};

// The blocks of one SM.
class SmShare {
 public:
  virtual ~SmShare() = default;
  virtual std::unique_ptr<ResidentBlock> make_block() = 0;  // in need of reset(); does not outlive the share
  // Makes the kept writes visible to all blocks. Called share by share, in the order of the SMs, while no
  // share works.
  virtual void commit() {}
};

// One launch; immutable.
class WarpSource {
 public:
  virtual ~WarpSource() = default;
  virtual const ptx::Function& function() const = 0;  // the entry
  // Of the functions' file numbers; a trace's has no text
  virtual const ptx::Module& module() const = 0;
  virtual Dim3 grid() const = 0;
  virtual Dim3 block() const = 0;
  virtual std::uint32_t shared_bytes() const = 0;  // static + dynamic, a block
  // Local memory of a thread; a launch may have a larger stack than the function asks for
  virtual std::uint32_t local_bytes() const { return function().total_frame_bytes; }
  virtual std::unique_ptr<SmShare> make_share(Effects effects) const = 0;
  // The shares have state in common: they must be worked on in the order of the SMs, never side by side.
  virtual bool one_at_a_time() const { return false; }
  // The machine code of a recorded function, which PTX does not have; null: there is none.
  virtual const trace::Code* code_of(const ptx::Function&) const { return nullptr; }

  // Blocks to run: all of the grid, unless a trace holds a part of them. A model counts them from 0.
  virtual std::uint64_t block_count() const { return grid().count(); }
  // Blocks that must be resident together, which are next to each other in the model's count.
  virtual unsigned cluster_blocks() const { return 1; }
  virtual std::uint64_t block_number(std::uint64_t index) const { return index; }  // in the grid
  // Warp instructions of some blocks, if that is known before they run.
  virtual std::optional<std::uint64_t> recorded_instructions(std::uint64_t, std::uint64_t) const {
    return std::nullopt;
  }
  unsigned threads_per_block() const { return static_cast<unsigned>(block().count()); }
  unsigned warps_per_block() const { return (threads_per_block() + exec::warp_size - 1) / exec::warp_size; }
};

}  // namespace simtlab::stream
