#include "stream/moved_launch.h"

#include <array>

namespace simtlab::stream {
namespace {

class Block final : public ResidentBlock {
 public:
  Block(std::unique_ptr<ResidentBlock> inner, std::uint64_t by) : inner_(std::move(inner)), by_(by) {}
  void reset(std::uint64_t block, unsigned sm, unsigned first_warp_slot) override {
    inner_->reset(block, sm, first_warp_slot);
  }
  WarpStatus status(unsigned warp) const override { return inner_->status(warp); }
  Next next(unsigned warp) const override { return inner_->next(warp); }
  const Step& step(unsigned warp, std::uint64_t now) override {
    const Step& step = inner_->step(warp, now);
    if (step.addresses == nullptr || (step.space != ptx::Space::global && step.space != ptx::Space::tex &&
                                      step.space != ptx::Space::constant))
      return step;
    step_ = step;
    for (std::size_t lane = 0; lane < exec::warp_size; ++lane) addresses_[lane] = step.addresses[lane] + by_;
    step_.addresses = addresses_.data();
    return step_;
  }
  exec::Run run_plain(unsigned warp, std::uint32_t most) override { return inner_->run_plain(warp, most); }
  void hold_arrivals() override { inner_->hold_arrivals(); }
  void copies_done(unsigned warp) override { inner_->copies_done(warp); }
  std::string whereabouts() const override { return inner_->whereabouts(); }
  void check_progress() const override { inner_->check_progress(); }
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) override {
    return inner_->stuck(steps, who);
  }

 private:
  std::unique_ptr<ResidentBlock> inner_;
  std::uint64_t by_;
  Step step_;
  std::array<std::uint64_t, exec::warp_size> addresses_{};
};

class Share final : public SmShare {
 public:
  Share(std::unique_ptr<SmShare> inner, std::uint64_t by) : inner_(std::move(inner)), by_(by) {}
  std::unique_ptr<ResidentBlock> make_block() override {
    return std::make_unique<Block>(inner_->make_block(), by_);
  }
  void commit() override { inner_->commit(); }

 private:
  std::unique_ptr<SmShare> inner_;
  std::uint64_t by_;
};

}  // namespace

std::unique_ptr<SmShare> MovedLaunch::make_share(Effects effects) const {
  return std::make_unique<Share>(inner_.make_share(effects), by_);
}

}  // namespace simtlab::stream
