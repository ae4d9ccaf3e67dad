// The blocks of a launch that is watched, in an order: what is looked at before and behind each instruction.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/checker.h"
#include "check/order.h"
#include "check/patch.h"
#include "check/watch.h"
#include "exec/block_turns.h"
#include "exec/executor.h"
#include "exec/state.h"

namespace simtlab::check {

class Runner final : public exec::BlockTurns {
 public:
  Runner(const exec::Launch& launch, const exec::FunctionalOptions& options, Checker& checker,
         std::uint64_t number, const std::string& kernel, std::uint64_t order, const Patch& patch = {})
      : BlockTurns(options.first_block,
                   std::min(options.block_count, launch.block_count() - options.first_block),
                   exec::whole_clusters(launch.impl(), options.resident_blocks)),
        launch_(launch.impl()),
        options_(options),
        checker_(checker),
        id_(checker.begin_launch({number, kernel, launch.grid(), launch.block(), launch_.entry->function,
                                  launch_.module->module})),
        watch_(checker, launch_, id_),
        order_(make_order(order, launch.block_count() / launch.cluster_blocks(), launch_.warps,
                          exec::functional_turn)),
        patch_(patch),
        patched_(places_of(patch)),
        numbers_(checker.options().numbers) {
    watch_.set_late_copies(order_.late_copies);
    if (launch_.clusters != nullptr) launch_.clusters->close();
  }
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
    const std::uint64_t number = block_number(block);
    blocks_[place]->block->reset(number, 0, 0);
    watch_.begin(*blocks_[place], number);
  }

  // One cluster begins after another.
  std::uint64_t block_number(std::uint64_t i) const {
    const std::uint64_t blocks = launch_.params.cluster.count(), rank = i % blocks;
    return exec::block_by_clusters(
        launch_.params.grid, launch_.params.cluster,
        order_.block(i / blocks) * blocks + (order_.warps_reversed ? blocks - 1 - rank : rank));
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
    const std::uint64_t began = result_.warp_instructions;
    exec::Lookout look = lookout();
    look.restart(result_.warp_instructions);
    for (bool finished = false; !finished;) {
      bool progress = false;
      finished = true;
      for (unsigned i = 0; i < order_.warps; ++i) {
        exec::Warp& w = b.block->warps[order_.warp(i)];
        if (w.status == exec::WarpStatus::ready && !b.warps[w.ctx.warp].waits_at_patch) {
          run_slice(w);
          progress = true;
        }
        finished = finished && w.status == exec::WarpStatus::exited;
      }
      if (!progress && !finished && go_on_behind_patch(b)) continue;
      if (!progress && !finished && exec::wait_for_cluster(*b.block)) return false;
      if (!progress && !finished) exec::report_deadlock(*b.block);
      if (finished) continue;
      if (hands_over(began)) return false;
      if (!look.due(result_.warp_instructions)) continue;
      std::vector<exec::Stuck> who;
      if (exec::stuck(*b.block, look.steps(), who)) return false;
      look.looked(result_.warp_instructions);
    }
    return true;
  }

  // Whether another block shall go on first, in an order in which blocks do so.
  bool hands_over(std::uint64_t began) {
    const bool wrote = std::exchange(strong_writes_, 0) != 0;
    if (launch_.fetches && result_.warp_instructions - began >= long_turn()) {
      hand_over();
      return true;
    }
    if (hand_overs_ >= most_hand_overs) return false;
    const bool by_turn = order_.turn != 0 && result_.warp_instructions - began >= order_.turn;
    if (!by_turn && !(wrote && (order_.pick(++chances_) % order_.hands_over) == 0)) return false;
    ++hand_overs_;
    hand_over();
    return true;
  }

  void run_slice(exec::Warp& w) {
    if (options_.interrupt != nullptr && *options_.interrupt)
      throw Error(ExitCode::interrupted, "interrupted", exec::whereabouts(*block_->block));
    watch_.goes_on(*block_, w);
    std::uint64_t budget = order_.slice;
    if (options_.max_warp_instructions != 0) {
      if (result_.warp_instructions >= options_.max_warp_instructions)
        exec::over_instruction_limit(options_.max_warp_instructions);
      budget = std::min(budget, options_.max_warp_instructions - result_.warp_instructions);
    }
    steps(w, budget);
    if (w.depth != 0 && launch_.may_part && w.status == exec::WarpStatus::ready) exec::check_spin(w);
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

  // All threads have arrived at a barrier that was put there; false: there is none.
  bool go_on_behind_patch(WatchedBlock& b) {
    if (patch_.kind != Patch::Kind::barrier) return false;
    for (const exec::Warp& w : b.block->warps)
      if (w.status != exec::WarpStatus::exited && !b.warps[w.ctx.warp].waits_at_patch) throw NoPlace();
    for (WatchedWarp& w : b.warps) {
      w.passed_patch = w.waits_at_patch;
      w.waits_at_patch = false;
    }
    checker_.races().barrier(b.races);
    return true;
  }

  // The warp is about to execute the instruction that something was put before. True: it has to wait.
  bool at_patch(exec::Warp& w) {
    WatchedWarp& watched = block_->warps[w.ctx.warp];
    if (std::exchange(watched.passed_patch, false)) return false;
    const bool all = w.active == w.frames[0].mask;
    switch (patch_.kind) {
      case Patch::Kind::barrier:
        if (!all) throw NoPlace();
        watched.waits_at_patch = true;
        return true;
      case Patch::Kind::sync_warp:
        if (!all) throw NoPlace();
        checker_.races().sync_warp(block_->races, w.ctx.warp, w.active, w.active);
        return false;
      case Patch::Kind::fence:
        checker_.races().fence(block_->races, w.ctx.warp, w.active, ptx::Scope::gpu, true);
        return false;
      case Patch::Kind::none: break;
    }
    return false;
  }

  void steps(exec::Warp& w, std::uint64_t budget) {
    exec::WarpCtx& ctx = w.ctx;
    WatchedWarp& watched = block_->warps[ctx.warp];
    CheckedFunction* f = &watch_.function(w.frame().function);
    const exec::XInst* code = w.code;
    std::uint32_t pc = w.pc;
    std::uint64_t threads = 0, done = 0;
    while (done != budget) {
      if (f == patch_.at.function && patched_[pc]) [[unlikely]] {
        w.pc = pc;
        exec::settle(w);
        if (at_patch(w)) break;
      }
      ++done;
      const exec::XInst* x = &code[pc];
      const unsigned kind = x->kind & (exec::kind_mask | exec::all_flags);
      Counted& counted = f->counted[pc];
      if (kind == exec::kind_plain && !watched.any_unwritten && !numbers_) [[likely]] {
        count(counted, w.active_count);
        threads += w.active_count;
        if (f->hooks[pc] != Hook::none) [[unlikely]]
          watch_.hook(*block_, w, *x, *f, pc);
        x->fn(ctx, *x);
        ++pc;
      } else if (kind == exec::kind_memory && !watched.any_unwritten && !numbers_) {
        count(counted, w.active_count);
        threads += w.active_count;
        if (goes_by_groups(*x->inst)) [[unlikely]] {
          by_groups(w, *x, *f, pc, ctx.mask);
        } else {
          watch_.before(*block_, w, *x, *f, pc);
          x->fn(ctx, *x);
        }
        if (x->inst->op == ptx::Op::cp_async) watch_.behind(*block_, w, *x, *f, pc);
        ++pc;
        if (order_.hands_over != 0 && may_be_waited_for(*x->inst)) [[unlikely]] {
          ++strong_writes_;
          break;
        }
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
        if (w.status != exec::WarpStatus::ready) break;
        if (order_.hands_over != 0 && (x->kind & exec::kind_mask) == exec::kind_memory &&
            may_be_waited_for(*x->inst)) {
          ++strong_writes_;
          break;
        }
      }
    }
    w.pc = pc;
    result_.warp_instructions += done;
    result_.thread_instructions += threads;
  }

  // How often the blocks of a launch may hand over: those that wait for each other would do so for ever.
  static constexpr std::uint64_t most_hand_overs = 4096;

  bool goes_by_groups(const ptx::Inst& inst) const {
    return order_.lane_groups != 1 &&
           (inst.op == ptx::Op::st || inst.op == ptx::Op::atom || inst.op == ptx::Op::red);
  }
  // As if each group executed the instruction by itself.
  void by_groups(exec::Warp& w, const exec::XInst& x, CheckedFunction& f, std::uint32_t pc,
                 std::uint32_t lanes) {
    exec::WarpCtx& ctx = w.ctx;
    const unsigned width = exec::warp_size / order_.lane_groups;
    const std::uint32_t group = width == exec::warp_size ? ~0u : (1u << width) - 1;
    for (unsigned first = exec::warp_size; first != 0;) {
      first -= width;
      const std::uint32_t part = lanes & group << first;
      if (part == 0) continue;
      exec::set_mask(ctx, part);
      watch_.before(*block_, w, x, f, pc);
      x.fn(ctx, x);
    }
    exec::set_mask(ctx, lanes);
  }

  static bool may_be_waited_for(const ptx::Inst& inst) {
    const bool atomic = inst.op == ptx::Op::atom || inst.op == ptx::Op::red;
    return (atomic || (inst.op == ptx::Op::st && inst.mods.order != ptx::MemOrder::weak)) &&
           inst.mods.space != ptx::Space::shared && inst.mods.space != ptx::Space::local;
  }

  // The warp's next instruction, whatever it is. Returns the lanes that executed it.
  std::uint32_t general(exec::Warp& w, WatchedWarp& watched, std::uint64_t done) {
    exec::WarpCtx& ctx = w.ctx;
    const exec::XInst& x = w.code[w.pc];
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
      if (kind == exec::kind_memory && !goes_by_groups(*x.inst)) watch_.before(*block_, w, x, f, pc);
      if (f.hooks[pc] != Hook::none) watch_.hook(*block_, w, x, f, pc);
      if (lanes != active) exec::set_mask(ctx, active);
      if (kind == exec::kind_barrier) watch_.arrives(*block_, w, x, f, pc, lanes);
      if (kind == exec::kind_call) watch_.calls(*block_, w, x, lanes);
      if (kind == exec::kind_exit) watch_.exits(*block_, w, lanes);
    }
    const bool number = numbers_ && lanes != 0 && Watch::makes_numbers(*x.inst);
    if (number) watch_.before_number(w, x, lanes);
    std::uint32_t executed = lanes;
    if (kind == exec::kind_memory && lanes != 0 && goes_by_groups(*x.inst)) {
      by_groups(w, x, f, pc, lanes);
      exec::set_mask(ctx, active);
      ++w.pc;
      exec::settle(w);
    } else {
      executed = exec::execute(*block_->block, w, x, result_.warp_instructions + done - 1);
    }
    if (lanes == 0) return executed;
    if (number) watch_.number(*block_, w, x, f, pc, lanes);
    if (x.inst->op == ptx::Op::cp_async) {
      if (lanes != active) exec::set_mask(ctx, lanes);
      watch_.behind(*block_, w, x, f, pc);
      if (lanes != active) exec::set_mask(ctx, active);
    }
    if (kind == exec::kind_barrier || w.status == exec::WarpStatus::exited) watch_.has_arrived(*block_);
    if (kind == exec::kind_barrier && w.status == exec::WarpStatus::ready) watch_.goes_on(*block_, w);
    return executed;
  }

  static bool is_uniform(const exec::WarpCtx& ctx, const exec::XInst& x) {
    const std::uint32_t taken = ctx.pred(x.guard) & ctx.mask;
    return taken == 0 || taken == ctx.mask;
  }

  const exec::Launch::Impl& launch_;
  const exec::FunctionalOptions options_;
  Checker& checker_;
  std::uint32_t id_;
  Watch watch_;
  const Order order_;
  const Patch patch_;
  const std::vector<bool> patched_;  // by pc of its function
  const bool numbers_;
  std::uint64_t hand_overs_ = 0, chances_ = 0, strong_writes_ = 0;
  std::vector<std::unique_ptr<WatchedBlock>> blocks_;  // by place
  WatchedBlock* block_ = nullptr;                      // that runs
  exec::FunctionalResult result_;
};

}  // namespace simtlab::check
