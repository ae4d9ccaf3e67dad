#include "models/counts/counted.h"

#include <algorithm>
#include <bit>

#include "stream/coalescer.h"

namespace simtlab::models::counts {
namespace {

using stream::Next;
using stream::Step;

// Accesses of an instruction that are looked at one by one; of the later ones every so many
constexpr std::uint64_t looks_at_all = 256;
constexpr std::uint64_t look_every = 16;
constexpr std::size_t ways_kept = 12;      // warps
constexpr std::size_t steps_kept = 40000;  // of each
// A coalesced access needs no more sectors than its bytes fill, and one for a start in the middle of a
// sector.
constexpr unsigned sectors_to_spare = 1;

// Executions of straight runs of instructions are noted at both ends and added up at the end.
struct Growing {
  FunctionCounts counts;
  std::vector<std::int64_t> runs, run_threads;  // differences
};

bool is_global(ptx::Space space) {
  return space == ptx::Space::global || space == ptx::Space::local || space == ptx::Space::generic;
}

}  // namespace

void BlockSpread::add(double instructions) {
  ++blocks;
  const double delta = instructions - mean;
  mean += delta / static_cast<double>(blocks);
  squares += delta * (instructions - mean);
}

struct CountedState {
  explicit CountedState(const device::Device& d)
      : banks{d.shared.banks, d.shared.bank_bytes, d.shared.shares_pairs} {}
  Growing& of(const ptx::Function& function) {
    if (last_function == &function) return *last;
    Growing& g = functions[&function];
    if (g.counts.at.empty()) {
      g.counts.at.resize(function.code.size());
      g.runs.resize(function.code.size() + 1);
      g.run_threads.resize(function.code.size() + 1);
    }
    last_function = &function;
    return *(last = &g);
  }
  void settle();
  void look(InstCounts& counts, const Step& step, Footstep* footstep);

  stream::Banks banks;
  std::map<const ptx::Function*, Growing> functions;
  const ptx::Function* last_function = nullptr;
  Growing* last = nullptr;
  stream::Segments segments;
  std::vector<WarpWay> ways;
  BlockSpread spread;
  std::uint64_t warp_instructions = 0, begun = 0;  // begun: blocks
};

void CountedState::settle() {
  for (auto& [function, g] : functions) {
    std::int64_t runs = 0, threads = 0;
    for (std::size_t pc = 0; pc < g.counts.at.size(); ++pc) {
      runs += g.runs[pc], threads += g.run_threads[pc];
      g.counts.at[pc].executed += static_cast<std::uint64_t>(runs);
      g.counts.at[pc].threads += static_cast<std::uint64_t>(threads);
    }
    std::ranges::fill(g.runs, 0);
    std::ranges::fill(g.run_threads, 0);
  }
}

void CountedState::look(InstCounts& counts, const Step& step, Footstep* footstep) {
  if (step.space == ptx::Space::shared) {
    const bool atomic = device::traits(step.inst->op_class).access == device::Access::atomic;
    const auto passes_of = atomic                         ? stream::shared_atomic_passes
                           : step.inst->op == ptx::Op::st ? stream::shared_passes
                                                          : stream::shared_load_passes;
    const unsigned passes = passes_of(step.addresses, step.mask, step.bytes, banks);
    ++counts.shared_looks;
    counts.passes += passes;
    counts.ideal_passes += stream::shared_passes_ideal(step.mask, step.bytes, banks);
    if (footstep != nullptr) footstep->passes = static_cast<std::uint16_t>(passes);
    return;
  }
  if (!is_global(step.space)) return;
  if (step.space == ptx::Space::local)
    stream::coalesce_local(step.addresses, step.mask, step.bytes, 0, segments);
  else
    stream::coalesce(step.addresses, step.mask, step.bytes, segments);
  unsigned bytes = 0;
  for (unsigned i = 0; i < segments.count; ++i)
    for (const std::uint32_t touched : segments.items[i].bytes)
      bytes += static_cast<unsigned>(std::popcount(touched));
  const unsigned sectors = segments.sector_count();
  if (sectors <= (bytes + stream::sector_bytes - 1) / stream::sector_bytes + sectors_to_spare) {
    ++counts.coalesced;
  } else {
    ++counts.uncoalesced;
    counts.uncoalesced_sectors += sectors;
  }
}

namespace {

class CountedBlock final : public stream::ResidentBlock {
 public:
  CountedBlock(std::unique_ptr<stream::ResidentBlock> inner, CountedState& state, unsigned warps)
      : inner_(std::move(inner)), state_(state), ways_(warps, none), warp_executed_(warps) {}

  void reset(std::uint64_t block, unsigned sm, unsigned first_warp_slot) override {
    inner_->reset(block, sm, first_warp_slot);
    live_ = static_cast<unsigned>(ways_.size());
    executed_ = 0;
    std::ranges::fill(ways_, none);
    std::ranges::fill(warp_executed_, 0u);
    // Warps of the first blocks, then of ever fewer of the later ones; in the middle of a block, which its
    // edges are not like, and elsewhere.
    const std::uint64_t number = state_.begun++;
    if (number >= 4 && !std::has_single_bit(number)) return;
    const auto count = ways_.size();
    for (const std::size_t warp : {count / 2, (number * 5 + 1) % count}) {
      if (state_.ways.size() >= ways_kept || ways_[warp] != none) continue;
      ways_[warp] = state_.ways.size();
      state_.ways.emplace_back();
    }
  }
  stream::WarpStatus status(unsigned warp) const override { return inner_->status(warp); }
  Next next(unsigned warp) const override { return inner_->next(warp); }
  std::string whereabouts() const override { return inner_->whereabouts(); }
  void check_progress() const override { inner_->check_progress(); }
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) override {
    return inner_->stuck(steps, who);
  }

  const Step& step(unsigned warp, std::uint64_t now) override {
    const Step& step = inner_->step(warp, now);
    if (step.blocked) return step;
    InstCounts& counts = state_.of(*step.function).counts.at[step.pc];
    ++counts.executed;
    counts.threads += static_cast<unsigned>(std::popcount(step.mask));
    ++executed_, ++warp_executed_[warp];
    Footstep* const footstep =
        ways_[warp] == none ? nullptr : add_step(ways_[warp], {step.function, step.pc, 1, step.mask == 0});
    if (step.addresses != nullptr && step.mask != 0 &&
        (footstep != nullptr || counts.executed <= looks_at_all || counts.executed % look_every == 0))
      state_.look(counts, step, footstep);
    if (step.inst->op_class == ptx::OpClass::control && inner_->status(warp) == stream::WarpStatus::exited)
      ended(warp);
    return step;
  }

  exec::Run run_plain(unsigned warp, std::uint32_t most) override {
    const Next from = inner_->next(warp);
    const exec::Run run = inner_->run_plain(warp, most);
    if (run.instructions == 0) return run;
    Growing& g = state_.of(*from.function);
    const auto threads = static_cast<std::int64_t>(run.threads / run.instructions);
    ++g.runs[from.pc], --g.runs[from.pc + run.instructions];
    g.run_threads[from.pc] += threads, g.run_threads[from.pc + run.instructions] -= threads;
    executed_ += run.instructions, warp_executed_[warp] += run.instructions;
    if (ways_[warp] != none)
      for (std::uint32_t i = 0; i < run.instructions; ++i)
        add_step(ways_[warp], {from.function, from.pc + i, 1, false});
    return run;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  Footstep* add_step(std::size_t way, const Footstep& step) {
    std::vector<Footstep>& steps = state_.ways[way].steps;
    if (steps.size() >= steps_kept) return nullptr;
    steps.push_back(step);
    return &steps.back();
  }

  void ended(unsigned warp) {
    state_.spread.longest_warp = std::max(state_.spread.longest_warp, warp_executed_[warp]);
    if (--live_ != 0) return;
    state_.spread.add(static_cast<double>(executed_));
    state_.warp_instructions += executed_;
  }

  std::unique_ptr<stream::ResidentBlock> inner_;
  CountedState& state_;
  std::vector<std::size_t> ways_;
  std::vector<std::uint64_t> warp_executed_;
  unsigned live_ = 0;
  std::uint64_t executed_ = 0;
};

class CountedShare final : public stream::SmShare {
 public:
  CountedShare(std::unique_ptr<stream::SmShare> inner, CountedState& state, unsigned warps)
      : inner_(std::move(inner)), state_(state), warps_(warps) {}
  std::unique_ptr<stream::ResidentBlock> make_block() override {
    return std::make_unique<CountedBlock>(inner_->make_block(), state_, warps_);
  }
  void commit() override { inner_->commit(); }

 private:
  std::unique_ptr<stream::SmShare> inner_;
  CountedState& state_;
  unsigned warps_;
};

}  // namespace

CountedLaunch::CountedLaunch(const stream::WarpSource& inner, const device::Device& device)
    : inner_(inner), state_(std::make_unique<CountedState>(device)) {}
CountedLaunch::~CountedLaunch() = default;

std::unique_ptr<stream::SmShare> CountedLaunch::make_share(stream::Effects effects) const {
  return std::make_unique<CountedShare>(inner_.make_share(effects), *state_, inner_.warps_per_block());
}

std::vector<std::pair<const ptx::Function*, const FunctionCounts*>> CountedLaunch::functions() const {
  state_->settle();
  std::vector<std::pair<const ptx::Function*, const FunctionCounts*>> out;
  for (const auto& [function, g] : state_->functions) out.emplace_back(function, &g.counts);
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return a.first->line != b.first->line ? a.first->line < b.first->line : a.first->name < b.first->name;
  });
  return out;
}

const std::vector<WarpWay>& CountedLaunch::ways() const { return state_->ways; }
const BlockSpread& CountedLaunch::spread() const { return state_->spread; }
std::uint64_t CountedLaunch::warp_instructions() const { return state_->warp_instructions; }

}  // namespace simtlab::models::counts
