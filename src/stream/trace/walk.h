// A recorded block instruction by instruction, warp after warp: for tools that look at traces without a
// model.
#pragma once

#include <array>

#include "stream/trace/replay.h"

namespace simtlab::stream::trace {

// One warp of a block, from its first instruction to its last.
class WarpWalk {
 public:
  // Both outlive it.
  WarpWalk(const ReplayedLaunch& launch, const BlockEntry& block, unsigned warp);
  bool at_end() const { return decoder_.exited(); }
  std::uint32_t function() const { return decoder_.code().number; }
  const Step& step();  // the next instruction; not at_end()

 private:
  template <class F>
  void guarded(F&& f);
  void advance();
  void feed();

  const ReplayedLaunch& launch_;
  const BlockEntry& block_;
  unsigned warp_;
  WarpDecoder decoder_;
  std::shared_ptr<const Segment> segment_;
  std::size_t part_ = 0;
  Step step_;
  alignas(64) std::array<std::uint64_t, 32> addresses_{}, addresses2_{};
};

// Name of an instruction: the machine's mnemonic, or PTX's.
std::string name_of(const Code& code, std::uint32_t pc);

}  // namespace simtlab::stream::trace
