#include "gpu/untimed.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "check/run.h"

namespace simtlab::gpu {
namespace {

class FastRun final : public UntimedRun {
 public:
  FastRun(const exec::Launch& launch, const exec::FunctionalOptions& options) : run_(launch, options) {}
  bool go_on() override { return run_.go_on(); }
  void report() const override { run_.report(); }
  const exec::FunctionalResult& result() const override { return run_.result(); }

 private:
  exec::FunctionalRun run_;
};

class WatchedRun final : public UntimedRun {
 public:
  WatchedRun(const exec::Launch& launch, const exec::FunctionalOptions& options, check::Checker& checker,
             std::uint64_t number, const std::string& kernel)
      : run_(launch, options, checker, number, kernel) {}
  bool go_on() override { return run_.go_on(); }
  void report() const override { run_.report(); }
  const exec::FunctionalResult& result() const override { return run_.result(); }

 private:
  check::CheckedRun run_;
};

// Warps of a block in turns.
class SteppedRun final : public UntimedRun, private exec::BlockTurns {
 public:
  SteppedRun(const stream::WarpSource& launch, const exec::FunctionalOptions& options)
      : BlockTurns(options.first_block,
                   std::min(options.block_count, launch.block_count() - options.first_block),
                   options.resident_blocks),
        launch_(launch),
        options_(options),
        share_(launch.make_share(stream::Effects::at_once)) {}

  bool go_on() override { return BlockTurns::go_on(); }
  void report() const override { BlockTurns::report(launch_.function().name, launch_.grid()); }
  const exec::FunctionalResult& result() const override { return result_; }

 private:
  void begin(Place place, std::uint64_t block) override {
    if (place == blocks_.size()) blocks_.push_back(share_->make_block());
    blocks_[place]->reset(block, 0, 0);
  }

  bool stuck(Place place, std::uint32_t steps, std::vector<exec::Stuck>& who) override {
    return blocks_[place]->stuck(steps, who);
  }

  void ended() override {
    ++result_.blocks;
    if (options_.tell && result_.blocks % options_.tell_every == 0) options_.tell(result_);
  }

  bool run(Place place) override {
    stream::ResidentBlock& block = *blocks_[place];
    exec::Lookout look = lookout();
    look.restart(result_.warp_instructions);
    for (bool finished = false; !finished;) {
      bool progress = false;
      finished = true;
      for (unsigned warp = 0; warp < launch_.warps_per_block(); ++warp) {
        progress = take_turn(block, warp) || progress;
        finished = finished && block.status(warp) == stream::WarpStatus::exited;
      }
      if (options_.interrupt != nullptr && *options_.interrupt)
        throw Error(ExitCode::interrupted, "interrupted", block.whereabouts());
      if (!progress && !finished) block.check_progress();
      if (finished || !look.due(result_.warp_instructions)) continue;
      std::vector<exec::Stuck> who;
      if (block.stuck(look.steps(), who)) return false;
      look.looked(result_.warp_instructions);
    }
    return true;
  }

  // Each step takes effect at once, so that the next one finds what it left and an atomic's answer is in its
  // register.
  bool take_turn(stream::ResidentBlock& block, unsigned warp) {
    const std::uint64_t most = options_.max_warp_instructions;
    bool progress = false;
    for (std::uint64_t left = exec::functional_turn;
         left > 0 && block.status(warp) == stream::WarpStatus::ready; --left) {
      if (most != 0 && result_.warp_instructions >= most) exec::over_instruction_limit(most);
      const stream::Step& step = block.step(warp, result_.warp_instructions);
      progress = true;
      ++result_.warp_instructions;
      result_.thread_instructions += static_cast<unsigned>(std::popcount(step.mask));
    }
    share_->commit();  // nothing of memory: what a recording has of the steps goes to its file
    return progress;
  }

  const stream::WarpSource& launch_;
  const exec::FunctionalOptions options_;
  const std::unique_ptr<stream::SmShare> share_;
  std::vector<std::unique_ptr<stream::ResidentBlock>> blocks_;  // by place
  exec::FunctionalResult result_;
};

}  // namespace

std::unique_ptr<UntimedRun> make_fast_run(const exec::Launch& launch,
                                          const exec::FunctionalOptions& options) {
  return std::make_unique<FastRun>(launch, options);
}
std::unique_ptr<UntimedRun> make_stepped_run(const stream::WarpSource& launch,
                                             const exec::FunctionalOptions& options) {
  return std::make_unique<SteppedRun>(launch, options);
}

std::unique_ptr<UntimedRun> make_checked_run(const exec::Launch& launch,
                                             const exec::FunctionalOptions& options, check::Checker& checker,
                                             std::uint64_t number, const std::string& kernel) {
  return std::make_unique<WatchedRun>(launch, options, checker, number, kernel);
}

}  // namespace simtlab::gpu
