#include "stream/trace/record.h"

#include <bit>

namespace simtlab::stream::trace {
namespace {

class RecordingBlock final : public ResidentBlock {
 public:
  RecordingBlock(const RecordingLaunch& launch, std::unique_ptr<ResidentBlock> inner, unsigned warps)
      : launch_(launch), inner_(std::move(inner)), warps_(warps) {}

  void reset(std::uint64_t block, unsigned sm, unsigned first_warp_slot) override {
    inner_->reset(block, sm, first_warp_slot);
    for (WarpEncoder& warp : warps_) warp.begin();
    segment_ = {.block = launch_.block_number(block)};
    pending_ = 0;
    running_ = warps_.size();
  }
  WarpStatus status(unsigned warp) const override { return inner_->status(warp); }
  Next next(unsigned warp) const override { return inner_->next(warp); }
  std::string whereabouts() const override { return inner_->whereabouts(); }
  void check_progress() const override { inner_->check_progress(); }

  const Step& step(unsigned warp, std::uint64_t now) override {
    const Step& step = inner_->step(warp, now);
    if (code_ == nullptr || code_->function != step.function) code_ = &launch_.code(*step.function);
    WarpEncoder& encoder = warps_[warp];
    const std::size_t before = encoder.bytes();
    encoder.add(*code_, step);
    pending_ += encoder.bytes() - before;
    ++segment_.warp_instructions;
    segment_.thread_instructions += static_cast<unsigned>(std::popcount(step.mask));
    if (inner_->status(warp) == WarpStatus::exited) {
      encoder.end();
      if (--running_ == 0) flush();
    } else if (pending_ >= segment_bytes) {
      flush();
    }
    return step;
  }

 private:
  void flush() {
    // Never taken for a zstd dictionary with a header.
    content_.assign(1, 1);
    put_number(content_, warps_.size());
    for (WarpEncoder& warp : warps_) {
      warp.cut();
      put_number(content_, warp.control().size());
      put_number(content_, warp.data().size());
    }
    for (const WarpEncoder& warp : warps_) content_.insert(content_.end(), warp.control().begin(), warp.control().end());
    for (WarpEncoder& warp : warps_) {
      content_.insert(content_.end(), warp.data().begin(), warp.data().end());
      warp.take();
    }
    launch_.writer().add_segment(segment_, content_);
    segment_.warp_instructions = segment_.thread_instructions = 0;
    pending_ = 0;
  }

  const RecordingLaunch& launch_;
  std::unique_ptr<ResidentBlock> inner_;
  std::vector<WarpEncoder> warps_;
  const CodeView* code_ = nullptr;
  Writer::Segment segment_;
  Buffer content_;
  std::size_t pending_ = 0, running_ = 0;
};

}  // namespace

RecordingLaunch::RecordingLaunch(const WarpSource& inner, Writer& writer, std::uint32_t stream) : inner_(inner), writer_(writer) {
  Kernel kernel;
  kernel.function = code(inner.function()).number;
  const Dim3 grid = inner.grid(), block = inner.block();
  kernel.grid = {grid.x, grid.y, grid.z};
  kernel.block = {block.x, block.y, block.z};
  kernel.shared_bytes = inner.shared_bytes();
  writer_.begin_kernel(std::move(kernel), stream);
}

RecordingLaunch::~RecordingLaunch() {
  if (!finished_) writer_.drop_kernel();
}

void RecordingLaunch::finish() {
  writer_.finish_kernel();
  finished_ = true;
}

std::unique_ptr<ResidentBlock> RecordingLaunch::make_block() const {
  return std::make_unique<RecordingBlock>(*this, inner_.make_block(), warps_per_block());
}

const CodeView& RecordingLaunch::code(const ptx::Function& function) const {
  const std::lock_guard lock(mutex_);
  auto& known = codes_[&function];
  if (known == nullptr) known = std::make_unique<CodeView>(function, writer_.add_code(write_code(inner_.module(), function)));
  return *known;
}

}  // namespace simtlab::stream::trace
