// Warps that are executed now, by the functional executor: with a store buffer for SMs that are simulated
// side by side, or directly on memory for one thread that steps all blocks.
#include "stream/executed.h"

#include "base/error.h"
#include "exec/spin.h"
#include "exec/store_buffer.h"

namespace simtlab::stream {

void refuse_bulk_copy() {
  throw Error(ExitCode::unsupported, "ptx-unsupported",
              "bulk copies (cp.async.bulk) are executed by `run` and `check` alone, and are not recorded: "
              "their bytes "
              "would be counted wrongly");
}

void refuse_clusters() {
  throw Error(
      ExitCode::unsupported, "launch-cluster",
      "clusters of several blocks are simulated by `run` and `check` alone, and are not recorded: this "
      "study runs blocks by themselves");
}

namespace {

class ExecutedBlock final : public ResidentBlock {
 public:
  ExecutedBlock(const exec::Launch& launch, exec::StoreBuffer* buffer)
      : launch_(launch), block_(launch, buffer) {}
  void reset(std::uint64_t block, unsigned sm, unsigned first_warp_slot) override {
    if (!holds_ && launch_.cluster_blocks() > 1) refuse_clusters();
    block_.reset(launch_.block_in_order(block), sm, first_warp_slot);
  }
  WarpStatus status(unsigned warp) const override { return block_.status(warp); }
  Next next(unsigned warp) const override { return {block_.peek_function(warp), block_.peek_pc(warp)}; }
  const Step& step(unsigned warp, std::uint64_t now) override {
    const Step& step = block_.step(warp, now);
    if (!holds_ && ptx::is_bulk_copy(*step.inst)) [[unlikely]]
      refuse_bulk_copy();
    return step;
  }
  const void* place(unsigned warp) const override { return block_.place(warp); }
  exec::Run run_plain(unsigned warp, std::uint32_t most) override { return block_.run_plain(warp, most); }
  void hold_arrivals() override {
    block_.hold_arrivals();
    holds_ = true;
  }
  void copies_done(unsigned warp) override { block_.copies_done(warp); }
  std::string whereabouts() const override { return block_.whereabouts(); }
  void check_progress() const override { block_.check_progress(); }
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) override { return block_.stuck(steps, who); }

 private:
  const exec::Launch& launch_;
  exec::Block block_;
  bool holds_ = false;
};

class ExecutedShare final : public SmShare {
 public:
  explicit ExecutedShare(const exec::Launch& launch)
      : launch_(launch), buffer_(launch.memory(), launch.params().print) {}
  std::unique_ptr<ResidentBlock> make_block() override {
    return std::make_unique<ExecutedBlock>(launch_, &buffer_);
  }
  void commit() override {
    if (!buffer_.empty()) buffer_.commit();
  }

 private:
  const exec::Launch& launch_;
  exec::StoreBuffer buffer_;
};

class DirectShare final : public SmShare {
 public:
  explicit DirectShare(const exec::Launch& launch) : launch_(launch) {}
  std::unique_ptr<ResidentBlock> make_block() override {
    return std::make_unique<ExecutedBlock>(launch_, nullptr);
  }

 private:
  const exec::Launch& launch_;
};

}  // namespace

std::unique_ptr<SmShare> ExecutedLaunch::make_share(Effects effects) const {
  if (effects == Effects::at_once) return std::make_unique<DirectShare>(launch_);
  return std::make_unique<ExecutedShare>(launch_);
}

}  // namespace simtlab::stream
