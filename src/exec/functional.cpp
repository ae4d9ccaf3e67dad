// run_functional: whole grids at full speed. The loop calls handlers directly; guards, joins and control flow
// that diverges take the general path. What was executed is streamed in batches that stay in the cache.
#include <algorithm>
#include <memory>

#include "exec/block_turns.h"
#include "exec/state.h"

namespace simtlab::exec {
namespace {

constexpr std::size_t batch_records = functional_turn, batch_addresses = 128;
// Why warps take turns at all, and turns of one batch: longer ones are not faster. A warp that
// spins on another warp's flag must not keep it from running, and programs that lack a barrier but work on
// hardware, where warps advance at about the same pace, should work here too.
constexpr std::uint64_t slice = functional_turn;

struct Batch {
  Record records[batch_records];
  alignas(64) std::uint64_t addresses[batch_addresses * warp_size];
};

std::uint64_t first_of(const Launch::Impl& launch, const FunctionalOptions& options) {
  return std::min(options.first_block, launch.params.grid.count());
}

}  // namespace

class FunctionalRun::Runner final : public BlockTurns {
 public:
  Runner(const Launch::Impl& launch, const FunctionalOptions& options)
      : BlockTurns(first_of(launch, options),
                   std::min(options.block_count, launch.params.grid.count() - first_of(launch, options)),
                   whole_clusters(launch, options.resident_blocks)),
        launch_(launch),
        options_(options),
        batch_(std::make_unique<Batch>()) {
    if (launch.clusters != nullptr) launch.clusters->close();
  }

  const FunctionalResult& result() const { return result_; }
  [[noreturn]] void report_all() const { report(launch_.entry->function->name, launch_.params.grid); }

 private:
  void begin(Place place, std::uint64_t block) override {
    if (place == blocks_.size()) blocks_.push_back(std::make_unique<Block::Impl>(launch_));
    blocks_[place]->reset(block_by_clusters(launch_.params.grid, launch_.params.cluster, block), 0, 0);
  }

  bool stuck(Place place, std::uint32_t steps, std::vector<Stuck>& who) override {
    return exec::stuck(*blocks_[place], steps, who);
  }

  void ended() override {
    ++result_.blocks;
    if (options_.tell && result_.blocks % options_.tell_every == 0) options_.tell(result_);
  }

  bool run(Place place) override {
    block_ = blocks_[place].get();
    block_->refresh_bounds();
    const std::uint64_t began = result_.warp_instructions;
    Lookout look = lookout();
    look.restart(result_.warp_instructions);
    for (bool finished = false; !finished;) {
      bool progress = false;
      finished = true;
      for (Warp& w : block_->warps) {
        if (w.status == WarpStatus::ready) {
          run_slice(w);
          progress = true;
        }
        finished = finished && w.status == WarpStatus::exited;
      }
      if (!progress && !finished && wait_for_cluster(*block_)) return false;
      if (!progress && !finished) report_deadlock(*block_);
      if (finished) continue;
      if (look.due(result_.warp_instructions) && cannot_go_on(look)) return false;
      if (launch_.fetches && result_.warp_instructions - began >= long_turn()) {
        BlockTurns::hand_over();
        return false;
      }
    }
    return true;
  }

  bool cannot_go_on(Lookout& look) {
    std::vector<Stuck> who;
    const bool out = exec::stuck(*block_, look.steps(), who);
    look.looked(result_.warp_instructions);
    return out;
  }

  void run_slice(Warp& w) {
    const std::uint64_t end = result_.warp_instructions + slice;
    while (w.status == WarpStatus::ready && result_.warp_instructions < end) {
      if (options_.interrupt != nullptr && *options_.interrupt) {
        throw Error(ExitCode::interrupted, "interrupted", whereabouts(*block_));
      }
      std::uint64_t budget = batch_records;
      if (options_.max_warp_instructions != 0) {
        if (result_.warp_instructions >= options_.max_warp_instructions)
          over_instruction_limit(options_.max_warp_instructions);
        budget = std::min(budget, options_.max_warp_instructions - result_.warp_instructions);
      }
      if (options_.consumer != nullptr) {
        run_batch<true>(w, budget);
      } else {
        run_batch<false>(w, budget);
      }
      if (w.depth != 0 && launch_.may_part && w.status == WarpStatus::ready) check_spin(w);
      w.turn += batch_records;
    }
  }

  // At most `budget` instructions of one warp, handed over at the end.
  template <bool recording>
  void run_batch(Warp& w, std::uint64_t budget) {
    WarpCtx& ctx = w.ctx;
    const XInst* code = w.code;
    std::uint32_t pc = w.pc, function = w.frame().function;
    std::uint64_t threads = 0;
    Record* record = batch_->records;
    Record* const end = record + budget;
    std::uint64_t* addresses = batch_->addresses;
    const std::uint64_t* const last_addresses = batch_->addresses + (batch_addresses - 1) * warp_size;
    if constexpr (recording) ctx.addresses = addresses;
    while (record != end) {
      const XInst* x = &code[pc];
      const unsigned kind = x->kind & (kind_mask | all_flags);
      if (kind == kind_plain) [[likely]] {
        if constexpr (recording) *record = {pc, ctx.mask, ptx::no_pc, function};
        threads += w.active_count;
        x->fn(ctx, *x);
        ++pc;
      } else if (kind == kind_memory) {
        if constexpr (recording) *record = {pc, ctx.mask, address_index(addresses), function};
        threads += w.active_count;
        x->fn(ctx, *x);
        ++pc;
        if constexpr (recording) ctx.addresses = addresses += warp_size;
      } else if (kind == (kind_branch | flag_guarded) && is_uniform(ctx, *x)) {
        const bool taken = (ctx.pred(x->guard) & ctx.mask) != 0;
        if constexpr (recording) *record = {pc, taken ? ctx.mask : 0, ptx::no_pc, function};
        threads += taken ? w.active_count : 0;
        pc = taken ? x->inst->target : pc + 1;
      } else {
        w.pc = pc;
        settle(w);
        x = &w.code[w.pc];
        const std::uint32_t at = w.pc;
        const std::uint32_t lanes = execute(
            *block_, w, *x, result_.warp_instructions + static_cast<std::uint64_t>(record - batch_->records));
        threads += static_cast<unsigned>(__builtin_popcount(lanes));
        if constexpr (recording) {
          const bool memory = (x->kind & kind_mask) == kind_memory && lanes != 0;
          *record = {at, lanes, memory ? address_index(addresses) : ptx::no_pc, function};
          if (memory) ctx.addresses = addresses += warp_size;
        }
        pc = w.pc;
        code = w.code;
        function = w.frame().function;
        if (w.status != WarpStatus::ready) {
          ++record;
          break;
        }
      }
      ++record;
      if constexpr (recording) {
        if (addresses > last_addresses) break;
      }
    }
    w.pc = pc;
    hand_over<recording>(w, static_cast<std::size_t>(record - batch_->records), threads, addresses);
  }

  template <bool recording>
  void hand_over(Warp& w, std::size_t count, std::uint64_t threads, const std::uint64_t* addresses) {
    result_.warp_instructions += count;
    result_.thread_instructions += threads;
    if constexpr (recording) {
      w.ctx.addresses = block_->addresses;
      options_.consumer->consume(
          block_->index * launch_.warps + w.ctx.warp, {batch_->records, count},
          {batch_->addresses, static_cast<std::size_t>(addresses - batch_->addresses)});
    }
  }

  std::uint32_t address_index(const std::uint64_t* addresses) const {
    return static_cast<std::uint32_t>((addresses - batch_->addresses) / warp_size);
  }

  static bool is_uniform(const WarpCtx& ctx, const XInst& x) {
    const std::uint32_t taken = ctx.pred(x.guard) & ctx.mask;
    return taken == 0 || taken == ctx.mask;
  }

  const Launch::Impl& launch_;
  std::vector<std::unique_ptr<Block::Impl>> blocks_;  // by place
  Block::Impl* block_ = nullptr;                      // that runs
  const FunctionalOptions options_;
  FunctionalResult result_;
  std::unique_ptr<Batch> batch_;
};

FunctionalRun::FunctionalRun(const Launch& launch, const FunctionalOptions& options)
    : runner_(std::make_unique<Runner>(launch.impl(), options)) {}
FunctionalRun::~FunctionalRun() = default;
bool FunctionalRun::go_on() { return runner_->go_on(); }
void FunctionalRun::report() const { runner_->report_all(); }
const FunctionalResult& FunctionalRun::result() const { return runner_->result(); }

void over_instruction_limit(std::uint64_t limit) {
  throw Error(ExitCode::failure, "limit-instructions",
              "stopped after " + std::to_string(limit) + " warp instructions, the limit given",
              "raise the limit if the program is expected to run longer");
}

FunctionalResult run_functional(const Launch& launch, const FunctionalOptions& options) {
  FunctionalRun run(launch, options);
  if (!run.go_on()) run.report();
  return run.result();
}

}  // namespace simtlab::exec
