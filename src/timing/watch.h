// Does the program still get anywhere? Asked shortly before --max-cycles ends a kernel.
//
// A warp polls if all that it has read since the watch began are the same words again, by atomics or loads that are not weak, and it has
// written nothing. If every warp that is there polls or waits at a barrier, nothing can change any more: memory, and with it what
// they wait for, stays as it is (unless a poll counts its tries and gives up). The program has locked itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stream/warp_source.h"
#include "timing/messages.h"

namespace simtlab::timing {

// What one warp did since the watch began.
struct WatchedWarp {
  const ptx::Inst* poll = nullptr;       // the read that it repeats
  std::uint64_t address = 0;             // of its first lane
  std::uint32_t polls = 0;
  bool elsewhere = false;                // it read another word, or wrote
};

class Watch {
 public:
  explicit Watch(std::size_t warps) : warps_(warps) {}
  void executed(std::uint32_t warp, const stream::Step& step);
  void block_changed() { moved_ = true; }            // one began or ended
  bool moved() const { return moved_; }
  bool polls(std::uint32_t warp) const { return !warps_[warp].elsewhere && warps_[warp].polls >= enough; }
  const WatchedWarp& operator[](std::uint32_t warp) const { return warps_[warp]; }

 private:
  static constexpr std::uint32_t enough = 3;
  std::vector<WatchedWarp> warps_;
  bool moved_ = false;
};

// Who waits for what: warps of equal wait, in the order of the first.
struct Wait {
  const stream::WarpSource* launch = nullptr;
  bool barrier = false;
  const ptx::Inst* inst = nullptr;
  std::uint64_t address = 0;
  std::uint64_t first_block = 0;
  std::uint32_t first_warp = 0;
  std::uint64_t warps = 0;
};

}  // namespace simtlab::timing
