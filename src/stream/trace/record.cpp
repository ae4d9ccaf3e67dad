#include "stream/trace/record.h"

#include <bit>
#include <set>

#include "stream/trace/segment.h"

namespace simtlab::stream::trace {
namespace {

// Finished blocks of an SM go to the file when all SMs meet, in the order of the SMs. So the file is equal
// for any number of threads.
class RecordingShare final : public SmShare {
 public:
  RecordingShare(const RecordingLaunch& launch, std::unique_ptr<SmShare> inner)
      : launch_(launch), inner_(std::move(inner)) {}
  std::unique_ptr<ResidentBlock> make_block() override;
  void commit() override {
    inner_->commit();
    for (const auto& [segment, content] : finished_) launch_.keep(segment, content);
    finished_.clear();
  }
  void keep(const Writer::Segment& segment, Buffer content) {
    finished_.emplace_back(segment, std::move(content));
  }

 private:
  const RecordingLaunch& launch_;
  std::unique_ptr<SmShare> inner_;
  std::vector<std::pair<Writer::Segment, Buffer>> finished_;
};

class RecordingBlock final : public ResidentBlock {
 public:
  RecordingBlock(const RecordingLaunch& launch, RecordingShare& share, std::unique_ptr<ResidentBlock> inner,
                 unsigned warps)
      : launch_(launch), share_(share), inner_(std::move(inner)), warps_(warps) {}

  void reset(std::uint64_t block, unsigned sm, unsigned first_warp_slot) override {
    if (launch_.cluster_blocks() > 1) refuse_clusters();
    inner_->reset(block, sm, first_warp_slot);
    for (WarpEncoder& warp : warps_) warp.begin();
    segment_ = {.block = launch_.block_number(block)};
    pending_ = 0;
    running_ = warps_.size();
  }
  WarpStatus status(unsigned warp) const override { return inner_->status(warp); }
  Next next(unsigned warp) const override { return inner_->next(warp); }
  void hold_arrivals() override { inner_->hold_arrivals(); }
  void copies_done(unsigned warp) override { inner_->copies_done(warp); }
  std::string whereabouts() const override { return inner_->whereabouts(); }
  void check_progress() const override { inner_->check_progress(); }
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) override {
    return inner_->stuck(steps, who);
  }

  const Step& step(unsigned warp, std::uint64_t now) override {
    const Step& step = inner_->step(warp, now);
    if (step.blocked) return step;
    if (ptx::is_bulk_copy(*step.inst)) [[unlikely]]
      refuse_bulk_copy();
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
    share_.keep(segment_, take_segment(warps_));
    segment_.warp_instructions = segment_.thread_instructions = 0;
    pending_ = 0;
  }

  const RecordingLaunch& launch_;
  RecordingShare& share_;
  std::unique_ptr<ResidentBlock> inner_;
  std::vector<WarpEncoder> warps_;
  const CodeView* code_ = nullptr;
  Writer::Segment segment_;
  std::size_t pending_ = 0, running_ = 0;
};

std::unique_ptr<ResidentBlock> RecordingShare::make_block() {
  return std::make_unique<RecordingBlock>(launch_, *this, inner_->make_block(), launch_.warps_per_block());
}

// The functions that a kernel may call get their numbers before any thread meets them.
void number_callees(const RecordingLaunch& launch, const ptx::Function& function,
                    std::set<const ptx::Function*>& seen) {
  if (!seen.insert(&function).second) return;
  launch.code(function);
  const std::vector<ptx::Function>& all = launch.module().functions;
  const auto visit = [&](std::uint32_t number) {
    if (number < all.size()) number_callees(launch, all[number], seen);
  };
  for (const ptx::CallSite& call : function.call_sites) {
    if (!call.indirect) visit(call.function);
    for (const std::uint32_t candidate : call.candidates) visit(candidate);
  }
}

}  // namespace

RecordingLaunch::RecordingLaunch(const WarpSource& inner, Writer& writer, Writer::Place place)
    : inner_(inner), writer_(writer), place_(place) {
  Kernel kernel;
  kernel.function = code(inner.function()).number;
  const Dim3 grid = inner.grid(), block = inner.block();
  kernel.grid = {grid.x, grid.y, grid.z};
  kernel.block = {block.x, block.y, block.z};
  kernel.shared_bytes = inner.shared_bytes();
  // A recorded function stands alone: its calls name functions of a module that is not there.
  std::set<const ptx::Function*> seen;
  if (inner.code_of(inner.function()) == nullptr) number_callees(*this, inner.function(), seen);
  writer_.begin_kernel(place_, std::move(kernel));
}

RecordingLaunch::~RecordingLaunch() {
  if (!finished_) writer_.drop_kernel(place_);
}

void RecordingLaunch::finish() {
  writer_.finish_kernel(place_);
  finished_ = true;
}

std::unique_ptr<SmShare> RecordingLaunch::make_share(Effects effects) const {
  return std::make_unique<RecordingShare>(*this, inner_.make_share(effects));
}

const CodeView& RecordingLaunch::code(const ptx::Function& function) const {
  const std::lock_guard lock(mutex_);
  auto& known = codes_[&function];
  if (known != nullptr) return *known;
  const Code* recorded = inner_.code_of(function);
  const ptx::Module& module = recorded == nullptr ? inner_.module() : *recorded->module;
  const auto add = [&](const ptx::Function& f) { return writer_.add_code(write_code(module, f, recorded)); };
  std::uint32_t number = 0;
  // A launch may give its threads another stack than the function asks for.
  if (&function == &inner_.function() && inner_.local_bytes() != function.total_frame_bytes) {
    ptx::Function with_stack = function;
    with_stack.total_frame_bytes = inner_.local_bytes();
    number = add(with_stack);
  } else {
    number = add(function);
  }
  known = std::make_unique<CodeView>(function, number);
  return *known;
}

}  // namespace simtlab::stream::trace
