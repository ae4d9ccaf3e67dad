#include "stream/executed.h"

namespace simtlab::stream {
namespace {

class ExecutedBlock final : public ResidentBlock {
 public:
  explicit ExecutedBlock(const exec::Launch& launch) : block_(launch) {}
  void reset(std::uint64_t block, unsigned sm, unsigned first_warp_slot) override { block_.reset(block, sm, first_warp_slot); }
  WarpStatus status(unsigned warp) const override { return block_.status(warp); }
  Next next(unsigned warp) const override { return {block_.peek_function(warp), block_.peek_pc(warp)}; }
  const Step& step(unsigned warp, std::uint64_t now) override { return block_.step(warp, now); }
  std::string whereabouts() const override { return block_.whereabouts(); }
  void check_progress() const override { block_.check_progress(); }

 private:
  exec::Block block_;
};

}  // namespace

std::unique_ptr<ResidentBlock> ExecutedLaunch::make_block() const { return std::make_unique<ExecutedBlock>(launch_); }

}  // namespace simtlab::stream
