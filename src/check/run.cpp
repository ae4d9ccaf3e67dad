#include "check/run.h"

#include <algorithm>

#include "base/error.h"
#include "check/watch.h"
#include "exec/block_turns.h"
#include "exec/state.h"

namespace simtlab::check {
namespace {

constexpr std::uint64_t slice = exec::functional_turn;

}  // namespace

using exec::Warp;
using exec::WarpStatus;
using exec::XInst;

class CheckedRun::Runner final : public exec::BlockTurns {
 public:
  Runner(const exec::Launch& launch, const exec::FunctionalOptions& options, Checker& checker,
         std::uint64_t number, const std::string& kernel)
      : BlockTurns(options.first_block,
                   std::min(options.block_count, launch.block_count() - options.first_block),
                   options.resident_blocks),
        launch_(launch.impl()),
        options_(options),
        checker_(checker),
        id_(checker.begin_launch({number, kernel, launch.grid(), launch.block(), launch_.entry->function,
                                  launch_.module->module})),
        watch_(checker, launch_, id_) {}
  ~Runner() override { checker_.end_launch(); }

  const exec::FunctionalResult& result() const { return result_; }
  [[noreturn]] void report_all() {
    try {
      report(launch_.entry->function->name, launch_.params.grid);
    } catch (const exec::Fault& fault) {
      watch_.fault(fault);
      throw;
    }
  }

 private:
  void begin(Place place, std::uint64_t block) override {
    if (place == blocks_.size()) {
      blocks_.push_back(std::make_unique<WatchedBlock>());
      blocks_[place]->block = std::make_unique<exec::Block::Impl>(launch_);
    }
    blocks_[place]->block->reset(block, 0, 0);
    watch_.begin(*blocks_[place], block);
  }

  bool stuck(Place place, std::uint32_t steps, std::vector<exec::Stuck>& who) override {
    return exec::stuck(*blocks_[place]->block, steps, who);
  }

  void ended() override {
    ++result_.blocks;
    if (options_.tell && result_.blocks % options_.tell_every == 0) options_.tell(result_);
  }

  bool run(Place place) override {
    try {
      return run_block(*blocks_[place]);
    } catch (const exec::Fault& fault) {
      watch_.fault(fault);
      throw;
    }
  }

  bool run_block(WatchedBlock& b) {
    block_ = &b;
    b.block->refresh_bounds();
    exec::Lookout look = lookout();
    look.restart(result_.warp_instructions);
    for (bool finished = false; !finished;) {
      bool progress = false;
      finished = true;
      for (Warp& w : b.block->warps) {
        if (w.status == WarpStatus::ready) {
          run_slice(w);
          progress = true;
        }
        finished = finished && w.status == WarpStatus::exited;
      }
      if (!progress && !finished) exec::report_deadlock(*b.block);
      if (!look.due(result_.warp_instructions) || finished) continue;
      std::vector<exec::Stuck> who;
      if (exec::stuck(*b.block, look.steps(), who)) return false;
      look.looked(result_.warp_instructions);
    }
    return true;
  }

  void run_slice(Warp& w) {
    if (options_.interrupt != nullptr && *options_.interrupt)
      throw Error(ExitCode::interrupted, "interrupted", exec::whereabouts(*block_->block));
    std::uint64_t budget = slice;
    if (options_.max_warp_instructions != 0) {
      if (result_.warp_instructions >= options_.max_warp_instructions)
        exec::over_instruction_limit(options_.max_warp_instructions);
      budget = std::min(budget, options_.max_warp_instructions - result_.warp_instructions);
    }
    steps(w, budget);
    if (w.depth != 0 && launch_.may_part && w.status == WarpStatus::ready) exec::check_spin(w);
  }

  static void count(Counted& c, unsigned lanes) {
    ++c.warps;
    if (lanes > c.lanes) c.lanes = lanes;
  }
  static void count_branch(Counted& c, std::uint32_t taken, std::uint32_t active) {
    if (taken == 0)
      ++c.not_taken;
    else if (taken == active)
      ++c.taken;
    else
      ++c.parted;
  }

  void steps(Warp& w, std::uint64_t budget) {
    exec::WarpCtx& ctx = w.ctx;
    WatchedWarp& watched = block_->warps[ctx.warp];
    CheckedFunction* f = &watch_.function(w.frame().function);
    const XInst* code = w.code;
    std::uint32_t pc = w.pc;
    std::uint64_t threads = 0, done = 0;
    while (done != budget) {
      ++done;
      const XInst* x = &code[pc];
      const unsigned kind = x->kind & (exec::kind_mask | exec::all_flags);
      Counted& counted = f->counted[pc];
      if (kind == exec::kind_plain && !watched.any_unwritten) [[likely]] {
        count(counted, w.active_count);
        threads += w.active_count;
        if (f->hooks[pc] != Hook::none) [[unlikely]] watch_.hook(*block_, w, *x, *f, pc);
        x->fn(ctx, *x);
        ++pc;
      } else if (kind == exec::kind_memory && !watched.any_unwritten) {
        count(counted, w.active_count);
        threads += w.active_count;
        watch_.before(*block_, w, *x, *f, pc);
        x->fn(ctx, *x);
        if (x->inst->op == ptx::Op::cp_async) watch_.behind(*block_, w, *x, *f, pc);
        ++pc;
      } else if (kind == (exec::kind_branch | exec::flag_guarded) && !watched.any_unwritten &&
                 is_uniform(ctx, *x)) {
        const std::uint32_t taken = ctx.pred(x->guard) & ctx.mask;
        count(counted, w.active_count);
        count_branch(counted, taken, ctx.mask);
        threads += taken != 0 ? w.active_count : 0;
        pc = taken != 0 ? x->inst->target : pc + 1;
      } else {
        w.pc = pc;
        exec::settle(w);
        threads += static_cast<unsigned>(__builtin_popcount(general(w, watched, done)));
        pc = w.pc;
        code = w.code;
        f = &watch_.function(w.frame().function);
        if (w.status != WarpStatus::ready) break;
      }
    }
    w.pc = pc;
    result_.warp_instructions += done;
    result_.thread_instructions += threads;
  }

  // The warp's next instruction, whatever it is. Returns the lanes that executed it.
  std::uint32_t general(Warp& w, WatchedWarp& watched, std::uint64_t done) {
    exec::WarpCtx& ctx = w.ctx;
    const XInst& x = w.code[w.pc];
    const std::uint32_t pc = w.pc;
    CheckedFunction& f = watch_.function(w.frame().function);
    Counted& counted = f.counted[pc];
    std::uint32_t lanes = w.active;
    if ((x.kind & exec::flag_guarded) != 0) lanes &= ctx.pred(x.guard);
    count(counted, static_cast<unsigned>(__builtin_popcount(lanes)));
    const unsigned kind = x.kind & exec::kind_mask;
    if (kind == exec::kind_branch && (x.kind & exec::flag_guarded) != 0)
      count_branch(counted, lanes, w.active);
    if (watched.any_unwritten && w.active != 0) watch_.use(*block_, w, x, f, pc, lanes);
    const std::uint32_t active = w.active;
    if (lanes != 0) {
      if (lanes != active) exec::set_mask(ctx, lanes);
      if (kind == exec::kind_memory) watch_.before(*block_, w, x, f, pc);
      if (f.hooks[pc] != Hook::none) watch_.hook(*block_, w, x, f, pc);
      if (lanes != active) exec::set_mask(ctx, active);
      if (kind == exec::kind_barrier) watch_.arrives(*block_, w, x, f, pc, lanes);
      if (kind == exec::kind_call) watch_.calls(*block_, w, x, lanes);
      if (kind == exec::kind_exit) watch_.exits(*block_, w, lanes);
    }
    const std::uint32_t executed = exec::execute(*block_->block, w, x, result_.warp_instructions + done - 1);
    if (lanes == 0) return executed;
    if (x.inst->op == ptx::Op::cp_async) {
      if (lanes != active) exec::set_mask(ctx, lanes);
      watch_.behind(*block_, w, x, f, pc);
      if (lanes != active) exec::set_mask(ctx, active);
    }
    if (kind == exec::kind_barrier || w.status == WarpStatus::exited) watch_.has_arrived(*block_);
    return executed;
  }

  static bool is_uniform(const exec::WarpCtx& ctx, const XInst& x) {
    const std::uint32_t taken = ctx.pred(x.guard) & ctx.mask;
    return taken == 0 || taken == ctx.mask;
  }

  const exec::Launch::Impl& launch_;
  const exec::FunctionalOptions options_;
  Checker& checker_;
  std::uint32_t id_;
  Watch watch_;
  std::vector<std::unique_ptr<WatchedBlock>> blocks_;  // by place
  WatchedBlock* block_ = nullptr;                      // that runs
  exec::FunctionalResult result_;
};

CheckedRun::CheckedRun(const exec::Launch& launch, const exec::FunctionalOptions& options, Checker& checker,
                       std::uint64_t number, const std::string& kernel)
    : runner_(std::make_unique<Runner>(launch, options, checker, number, kernel)) {}
CheckedRun::~CheckedRun() = default;
bool CheckedRun::go_on() { return runner_->go_on(); }
void CheckedRun::report() const { runner_->report_all(); }
const exec::FunctionalResult& CheckedRun::result() const { return runner_->result(); }

}  // namespace simtlab::check
