#include "check/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "check/order.h"
#include "check/patch.h"
#include "check/watch.h"
#include "exec/block_turns.h"
#include "exec/state.h"

namespace simtlab::check {
namespace {

// Device memory as it was, in pieces.
struct Snapshot {
  struct Piece {
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Piece> pieces;

  explicit Snapshot(exec::GlobalMemory& memory) {
    memory.for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) {
      Piece& piece = pieces.emplace_back();
      piece.address = a.address;
      piece.bytes.assign(memory.host(a.address), memory.host(a.address) + a.bytes);
    });
  }
  void restore(exec::GlobalMemory& memory) const {
    for (const Piece& piece : pieces)
      std::memcpy(memory.host(piece.address), piece.bytes.data(), piece.bytes.size());
  }
};

constexpr std::uint64_t most_to_keep = std::uint64_t{256} << 20, most_to_mend = std::uint64_t{64} << 20;
// Of a launch that is repeated to try something, and of findings that something is tried for.
// In the place of an order's number: what nobody wrote was filled.
constexpr std::uint64_t poisoned = ~std::uint64_t{0};
// How often the blocks of a launch may hand over: those that wait for each other would do so for ever.
constexpr std::uint64_t most_hand_overs = 4096;
constexpr std::uint64_t longest_trial = 4'000'000, most_trials = 8;

}  // namespace

using exec::Warp;
using exec::WarpStatus;
using exec::XInst;

class CheckedRun::Runner final : public exec::BlockTurns {
 public:
  Runner(const exec::Launch& launch, const exec::FunctionalOptions& options, Checker& checker,
         std::uint64_t number, const std::string& kernel, std::uint64_t order, const Patch& patch = {})
      : BlockTurns(options.first_block,
                   std::min(options.block_count, launch.block_count() - options.first_block),
                   options.resident_blocks),
        launch_(launch.impl()),
        options_(options),
        checker_(checker),
        id_(checker.begin_launch({number, kernel, launch.grid(), launch.block(), launch_.entry->function,
                                  launch_.module->module})),
        watch_(checker, launch_, id_),
        order_(make_order(order, launch.block_count(), launch_.warps, exec::functional_turn)),
        patch_(patch),
        numbers_(checker.options().numbers) {}
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
    const std::uint64_t number = order_.block(block);
    blocks_[place]->block->reset(number, 0, 0);
    watch_.begin(*blocks_[place], number);
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
        Warp& w = b.block->warps[order_.warp(i)];
        if (w.status == WarpStatus::ready && !b.warps[w.ctx.warp].waits_at_patch) {
          run_slice(w);
          progress = true;
        }
        finished = finished && w.status == WarpStatus::exited;
      }
      if (!progress && !finished && go_on_behind_patch(b)) continue;
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
    if (hand_overs_ >= most_hand_overs) return false;
    const bool by_turn = order_.turn != 0 && result_.warp_instructions - began >= order_.turn;
    if (!by_turn && !(wrote && (order_.pick(++chances_) % order_.hands_over) == 0)) return false;
    ++hand_overs_;
    hand_over();
    return true;
  }

  void run_slice(Warp& w) {
    if (options_.interrupt != nullptr && *options_.interrupt)
      throw Error(ExitCode::interrupted, "interrupted", exec::whereabouts(*block_->block));
    std::uint64_t budget = order_.slice;
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

  // All threads have arrived at a barrier that was put there; false: there is none.
  bool go_on_behind_patch(WatchedBlock& b) {
    if (patch_.kind != Patch::Kind::barrier) return false;
    for (const Warp& w : b.block->warps)
      if (w.status != WarpStatus::exited && !b.warps[w.ctx.warp].waits_at_patch) throw NoPlace();
    for (WatchedWarp& w : b.warps) {
      w.passed_patch = w.waits_at_patch;
      w.waits_at_patch = false;
    }
    checker_.races().barrier(b.races);
    return true;
  }

  // The warp is about to execute the instruction that something was put before. True: it has to wait.
  bool at_patch(Warp& w) {
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

  void steps(Warp& w, std::uint64_t budget) {
    exec::WarpCtx& ctx = w.ctx;
    WatchedWarp& watched = block_->warps[ctx.warp];
    CheckedFunction* f = &watch_.function(w.frame().function);
    const XInst* code = w.code;
    std::uint32_t pc = w.pc;
    std::uint64_t threads = 0, done = 0;
    while (done != budget) {
      if (patch_.kind != Patch::Kind::none && pc == patch_.before.pc && f == patch_.before.function)
          [[unlikely]] {
        w.pc = pc;
        exec::settle(w);
        if (at_patch(w)) break;
      }
      ++done;
      const XInst* x = &code[pc];
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
        watch_.before(*block_, w, *x, *f, pc);
        x->fn(ctx, *x);
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
        if (w.status != WarpStatus::ready) break;
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

  static bool may_be_waited_for(const ptx::Inst& inst) {
    const bool atomic = inst.op == ptx::Op::atom || inst.op == ptx::Op::red;
    return (atomic || (inst.op == ptx::Op::st && inst.mods.order != ptx::MemOrder::weak)) &&
           inst.mods.space != ptx::Space::shared && inst.mods.space != ptx::Space::local;
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
    const bool number = numbers_ && lanes != 0 && Watch::makes_numbers(*x.inst);
    if (number) watch_.before_number(w, x, lanes);
    const std::uint32_t executed = exec::execute(*block_->block, w, x, result_.warp_instructions + done - 1);
    if (lanes == 0) return executed;
    if (number) watch_.number(*block_, w, x, f, pc, lanes);
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
  const Order order_;
  const Patch patch_;
  const bool numbers_;
  std::uint64_t hand_overs_ = 0, chances_ = 0, strong_writes_ = 0;
  std::vector<std::unique_ptr<WatchedBlock>> blocks_;  // by place
  WatchedBlock* block_ = nullptr;                      // that runs
  exec::FunctionalResult result_;
};

struct CheckedRun::Impl {
  Impl(const exec::Launch& l, const exec::FunctionalOptions& o, Checker& c, std::uint64_t n,
       const std::string& k)
      : launch(l), options(o), checker(c), number(n), kernel(k) {
    // Races are tried to be mended where they are found: mostly in the first launches of a kernel.
    const unsigned times = checker.count_launch(launch.function());
    const bool mends = checker.options().races && times <= 2;
    if (checker.options().explore == 0 && !mends) return;
    std::uint64_t bytes = 0;
    checker.memory().for_each(0, ~std::uint64_t{0}, [&](const exec::Allocation& a) { bytes += a.bytes; });
    const bool whole = options.first_block == 0 && options.block_count >= launch.block_count();
    const bool explores = checker.options().explore != 0;
    if (explores && bytes > most_to_keep)
      checker.gap(
          fmt::format("other orders of kernel {}: {} MiB of device memory would have to be kept, more "
                      "than {}",
                      kernel, bytes >> 20, most_to_keep >> 20));
    else if (explores && launch.module().allocates)
      checker.gap(fmt::format("other orders of kernel {}: it allocates memory", kernel));
    else if (whole && !launch.module().allocates && bytes <= (explores ? most_to_keep : most_to_mend))
      before.emplace(checker.memory());
    if (before && explores) unwritten = unwritten_now();
    known = checker.findings().all().size();
  }

  void explore();
  void mend();
  std::string try_to_mend(const exec::Launch& quiet, const Snapshot& usual, const result::Finding& finding,
                          const Conflict& conflict);
  void compare(const Snapshot& usual, std::uint64_t order);
  bool poison();

  const exec::Launch& launch;
  const exec::FunctionalOptions options;
  Checker& checker;
  const std::uint64_t number;
  const std::string kernel;
  std::optional<Snapshot> before;
  std::unique_ptr<Runner> runner;
  exec::FunctionalResult result;
  bool parked = false;
  std::size_t known = 0;  // findings before it ran
  struct Unwritten {
    std::uint64_t address = 0, bytes = 0;
  };
  std::vector<Unwritten> unwritten;  // before it ran
  std::vector<Unwritten> unwritten_now() const {
    std::vector<Unwritten> out;
    checker.for_each_unwritten([&out](std::uint64_t address, std::uint64_t n) {
      out.push_back({address, n});
    });
    return out;
  }
};

// Fills what nobody wrote with a pattern; false: all has been written.
bool CheckedRun::Impl::poison() {
  constexpr std::byte pattern{0xa5};
  bool any = false;
  for (const Unwritten& u : unwritten) {
    std::fill_n(checker.memory().host(u.address), u.bytes, pattern);
    any = true;
  }
  return any;
}

// The first place that another order leaves otherwise.
void CheckedRun::Impl::compare(const Snapshot& usual, std::uint64_t order) {
  exec::GlobalMemory& memory = checker.memory();
  for (const Snapshot::Piece& piece : usual.pieces) {
    const std::byte* const now = memory.host(piece.address);
    if (std::memcmp(now, piece.bytes.data(), piece.bytes.size()) == 0) continue;
    std::size_t at = 0;
    // What nobody has written is as it was filled.
    while (at < piece.bytes.size() &&
           (now[at] == piece.bytes[at] || (order == poisoned && !checker.is_written(piece.address + at, 1))))
      ++at;
    if (at == piece.bytes.size()) continue;
    const auto races = [&](const result::Finding& f) {
      return f.rule.starts_with("race.") && std::ranges::any_of(f.accesses, [&](const result::Access& a) {
               return a.place.kernel == kernel;
             });
    };
    const bool racy = std::ranges::any_of(checker.findings().all(), races);
    bool adds_floats = false;
    for (const ptx::Inst& inst : launch.function().code)
      adds_floats = adds_floats || ((inst.op == ptx::Op::atom || inst.op == ptx::Op::red) &&
                                    (inst.type == ptx::Type::f32 || inst.type == ptx::Type::f64) &&
                                    inst.mods.atom == ptx::AtomOp::add);
    const char* const rule = order == poisoned ? "order.uninitialised"
                             : racy            ? "order.race"
                             : adds_floats     ? "order.float-atomics"
                                               : "order.other";
    result::Finding* const found = checker.findings().add(rule, kernel);
    if (found == nullptr) return;
    const bool filled = order == poisoned;
    if (!filled) found->order = std::to_string(order);
    found->message =
        filled
            ? "with other values in memory that nobody wrote, the kernel leaves other values where it writes"
            : fmt::format("another order of blocks and warps leaves other values in memory: {}",
                          racy ? "a race, see its own finding"
                          : adds_floats
                              ? "floating-point sums by atomics, whose rounding depends on the order"
                              : "atomics, or a choice of whoever comes first, and no race");
    const std::size_t word = at / 4 * 4;
    std::uint32_t one = 0, other = 0;
    const std::size_t width = std::min<std::size_t>(4, piece.bytes.size() - word);
    std::memcpy(&one, piece.bytes.data() + word, width);
    std::memcpy(&other, now + word, width);
    found->memory = fmt::format("{}: {:#x} in the usual run, {:#x} in this one ({:g} and {:g} as floats)",
                                global_place(memory, piece.address + word, 4), one, other,
                                std::bit_cast<float>(one), std::bit_cast<float>(other));
    result::Access& access = found->accesses.emplace_back();
    access.launch = number;
    access.what = "launch";
    access.place.kernel = access.place.function = kernel;
    return;
  }
}

void CheckedRun::Impl::explore() {
  exec::GlobalMemory& memory = checker.memory();
  const Snapshot usual(memory);
  exec::LaunchParams params = launch.params();
  params.print = nullptr;  // it has printed
  const exec::Launch quiet(params, memory);
  exec::FunctionalOptions other = options;
  other.tell = nullptr;
  const std::vector<Unwritten> left = unwritten_now();
  for (std::uint64_t order = 1; order <= checker.options().explore; ++order) {
    before->restore(memory);
    for (const Unwritten& u : unwritten) checker.unwritten(u.address, u.bytes);
    const std::size_t known = checker.findings().all().size();
    try {
      Runner run(quiet, other, checker, number, kernel, order);
      if (!run.go_on()) run.report_all();
      compare(usual, order);
    } catch (const exec::Fault&) {  // it is a finding
    }
    for (std::size_t i = known; i < checker.findings().all().size(); ++i)
      checker.findings().all()[i].order = std::to_string(order);
  }
  for (const Unwritten& u : unwritten) checker.written(u.address, u.bytes);
  for (const Unwritten& u : left) checker.unwritten(u.address, u.bytes);
  before->restore(memory);
  if (poison()) {
    Findings ignored;
    checker.set_trial(&ignored);
    try {
      Runner run(quiet, other, checker, number, kernel, 0);
      run.go_on();
    } catch (const exec::Fault&) {  // of values that nobody wrote
    } catch (...) {
      checker.set_trial(nullptr);
      throw;
    }
    checker.set_trial(nullptr);
    compare(usual, poisoned);
  }
  usual.restore(memory);
}

// Runs the kernel again with something inserted. What came of it, in words; empty: there is nothing to try.
std::string CheckedRun::Impl::try_to_mend(const exec::Launch& quiet, const Snapshot& usual,
                                          const result::Finding& finding, const Conflict& c) {
  struct Attempt {
    Patch patch;
    bool widen = false;
    std::string what;
  };
  std::vector<Attempt> attempts;
  const auto line = [&](std::size_t i) {
    const result::CodePlace& p = finding.accesses.at(i).place;
    return fmt::format("line {}", p.line);
  };
  const InstructionAt behind{c.earlier.function, c.earlier.pc + 1};
  if (c.why == Race::Why::scope) {
    attempts.push_back({{}, true, "the scope of the whole GPU for both operations"});
  } else if (c.why == Race::Why::unfenced) {
    attempts.push_back({{Patch::Kind::fence, c.later}, false, "__threadfence() before " + line(0)});
  } else if (c.why != Race::Why::late && c.same_block && !c.same_instruction) {
    if (c.same_warp)
      attempts.push_back({{Patch::Kind::sync_warp, c.later}, false, "__syncwarp() before " + line(0)});
    // In the order of the source: the second one is the likelier place.
    Attempt first{{Patch::Kind::barrier, c.later}, false, "__syncthreads() before " + line(0)},
        second{{Patch::Kind::barrier, c.earlier}, false, "__syncthreads() before " + line(1)};
    if (c.later.function == c.earlier.function && c.earlier.pc > c.later.pc) std::swap(first, second);
    attempts.push_back(std::move(first));
    if (c.later != c.earlier) attempts.push_back(std::move(second));
    attempts.push_back({{Patch::Kind::barrier, behind}, false, "__syncthreads() behind " + line(1)});
  }
  std::string stays;
  for (const Attempt& attempt : attempts) {
    Findings found;
    before->restore(checker.memory());
    if (attempt.widen) checker.widen({c.later, c.earlier});
    checker.set_trial(&found);
    bool possible = true;
    exec::FunctionalOptions trial = options;
    trial.tell = nullptr;
    trial.max_warp_instructions = 4 * longest_trial;
    try {
      Runner run(quiet, trial, checker, number, kernel, 0, attempt.patch);
      possible = run.go_on();
    } catch (const NoPlace&) { possible = false; } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) {
        checker.set_trial(nullptr);
        throw;
      }
      possible = false;
    }
    checker.set_trial(nullptr);
    checker.widen({});
    usual.restore(checker.memory());
    if (!possible) continue;
    const auto again = [&](const result::Finding& f) {
      return f.rule.starts_with("race.") && f.accesses.size() == 2 &&
             f.accesses[0].place.line + std::uint64_t{f.accesses[1].place.line} ==
                 finding.accesses[0].place.line + std::uint64_t{finding.accesses[1].place.line} &&
             f.accesses[0].place.file == finding.accesses[0].place.file;
    };
    if (std::ranges::none_of(found.all(), again))
      return fmt::format("the kernel was run again with {}: the race is gone", attempt.what);
    if (stays.empty())
      stays = fmt::format("the kernel was run again with {}: that is not enough", attempt.what);
  }
  return stays;
}

void CheckedRun::Impl::mend() {
  Findings& findings = checker.findings();
  std::vector<std::size_t> which;
  for (const auto& [at, conflict] : findings.conflicts())
    if (at >= known && which.size() < most_trials) which.push_back(at);
  if (which.empty() || result.warp_instructions > longest_trial) return;
  const Snapshot usual(checker.memory());
  exec::LaunchParams params = launch.params();
  params.print = nullptr;
  const exec::Launch quiet(params, checker.memory());
  for (const std::size_t at : which) {
    const result::Finding finding = findings.all()[at];
    std::string mend = try_to_mend(quiet, usual, finding, findings.conflicts().at(at));
    findings.all()[at].mend = std::move(mend);
  }
}

CheckedRun::CheckedRun(const exec::Launch& launch, const exec::FunctionalOptions& options, Checker& checker,
                       std::uint64_t number, const std::string& kernel)
    : impl_(std::make_unique<Impl>(launch, options, checker, number, kernel)) {
  std::uint64_t order = 0;
  if (const std::string& seed = checker.options().order; !seed.empty()) order = std::stoull(seed);
  impl_->runner = std::make_unique<Runner>(launch, options, checker, number, kernel, order);
}
CheckedRun::~CheckedRun() = default;

bool CheckedRun::go_on() {
  Impl& m = *impl_;
  if (!m.runner->go_on()) {
    m.parked = true;  // what it waits for would have to be repeated, too
    return false;
  }
  m.result = m.runner->result();
  m.runner.reset();
  if (!m.before || m.parked) return true;
  m.mend();
  m.explore();
  return true;
}

void CheckedRun::report() const { impl_->runner->report_all(); }
const exec::FunctionalResult& CheckedRun::result() const {
  return impl_->runner ? impl_->runner->result() : impl_->result;
}

}  // namespace simtlab::check
