// Control flow of machine code: branches, convergence barriers, barriers of the block, exits.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "exec/flow_parts.h"
#include "machine/bundles.h"

namespace simtlab::exec {

using namespace flow_parts;

namespace {

using machine::Flow;
using machine::Meeting;
using machine::Vote;

[[noreturn]] void no_lane_can_go_on(const Block::Impl& b, const Warp& w) {
  const ptx::Function& f = *b.module->functions[w.frames[w.frame_depth].function].function;
  const unsigned generation = f.machine->generation;
  const bool bundled = machine::in_bundles(generation);
  // Who waits at a SYNC goes on at a place that the code names, and that may be its first instruction.
  const auto inst = [&](const Split& s) -> const ptx::Inst& {
    return f.code[s.pc < f.code.size() ? s.pc : 0];
  };
  std::string list;
  for (const Split& s : w.splits->others()) {
    const bool meets = s.state == Split::State::meets;
    const std::string_view what = meets && s.barrier == return_barrier  ? "RET"
                                  : meets                               ? (bundled ? "SYNC" : "BSYNC")
                                  : s.state == Split::State::meets_mask ? "WARPSYNC"
                                                                        : "BAR";
    list += fmt::format("; lanes 0x{:08x} at 0x{:04x} ({})", s.mask,
                        machine::address_in_file(generation, inst(s).line), what);
  }
  raise(b, inst(w.splits->other(0)), Fault::Kind::deadlock, "deadlock",
        fmt::format("Deadlock in warp {} of kernel {}: its lanes wait for each other{}", w.ctx.warp, f.name,
                    list));
}

// The next ready split runs; those set aside first come first. False: there is none.
bool run_ready(Warp& w) {
  Splits& s = *w.splits;
  for (std::uint32_t i = 0; i < s.count; ++i) {
    if (s.other(i).state != Split::State::ready) continue;
    const Split next = s.other(i);
    s.remove(i);
    w.turn = 0;
    run(w, next.pc, next.mask);
    return true;
  }
  return false;
}

}  // namespace

// The running split has gone.
void flow_parts::take_next(Block::Impl& b, Warp& w) {
  if (run_ready(w)) return;
  run(w, w.pc, 0);
  if (w.splits->alive == 0) {
    w.status = WarpStatus::exited;
    leave(b, w);
  } else if (w.status == WarpStatus::ready) {
    no_lane_can_go_on(b, w);
  }
}

namespace {

template <class Same>
std::uint32_t lanes_of(const Splits& s, Same same) {
  std::uint32_t lanes = 0;
  for (const Split& x : s.others())
    if (same(x)) lanes |= x.mask;
  return lanes;
}

// Lanes of waiting splits leave them and go on behind where they wait, those at one place as one. `same` says
// which splits; gather: all in the place of the lowest lane.
template <class Same>
void release(Warp& w, std::uint32_t lanes, bool gather, Same same) {
  Splits& s = *w.splits;
  LaneGroups groups;
  std::uint32_t place = 0;
  if (const std::uint32_t all = lanes_of(s, same) & lanes; gather)
    for (const Split& x : s.others())
      if (same(x) && (x.mask & lowest_of(all)) != 0) place = x.pc + 1;
  for (std::uint32_t i = 0; i < s.count;) {
    Split& x = s.other(i);
    const std::uint32_t part = same(x) ? x.mask & lanes : 0;
    if (part != 0) groups.add(gather ? place : x.pc + 1, part, level_of(s, part));
    x.mask &= ~part;
    if (x.mask == 0)
      s.remove(i);
    else
      ++i;
  }
  groups.set_all_aside(w);
}

// Which of the lanes that wait at a convergence barrier have all whom they wait for: the lanes in their view
// that have not exited wait there, too, with the same view.
std::uint32_t met(const Splits& s, unsigned barrier, std::uint32_t waiting) {
  const Splits::View& view = s.barrier(barrier);
  std::uint32_t out = 0;
  for (std::uint32_t rest = waiting; rest != 0;) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t own = 1u << lane, set = view[lane] & s.alive;
    std::uint32_t done = own;
    if ((set & own) == 0) {
      out |= own;  // it is in no set
    } else if ((set & ~waiting) == 0) {
      bool same = true;
      for_lanes(set, [&](unsigned other) { same = same && (view[other] & s.alive) == set; });
      if (same) out |= done = set;
    }
    rest &= ~done;
  }
  return out;
}

}  // namespace

void flow_parts::check_meeting(Warp& w, unsigned barrier) {
  Splits& s = *w.splits;
  const auto here = [&](const Split& x) { return x.state == Split::State::meets && x.barrier == barrier; };
  const std::uint32_t waiting = lanes_of(s, here);
  if (waiting == 0) return;
  const std::uint32_t lanes = met(s, barrier, waiting);
  if (lanes == 0) return;
  release(w, lanes, false, here);
  if (barrier == return_barrier) s.calls().leave(s.barriers(), lanes);
}

namespace {

void check_masks(Warp& w) {
  Splits& s = *w.splits;
  for (std::uint32_t i = 0; i < s.count; ++i) {
    if (s.other(i).state != Split::State::meets_mask) continue;
    const std::uint32_t wanted = s.other(i).wanted;
    const auto here = [&](const Split& x) {
      return x.state == Split::State::meets_mask && x.wanted == wanted;
    };
    if ((wanted & s.alive & ~lanes_of(s, here)) != 0) continue;
    const auto collective = static_cast<std::uint8_t>(Meeting::collective);
    release(w, ~0u, true, [&](const Split& x) { return here(x) && x.meeting == collective; });
    release(w, ~0u, false, here);
    i = ~0u;  // places have changed: from the start
  }
}

// All lanes that are left wait at the barrier of the block: the warp has arrived.
void check_block_barrier(Block::Impl& b, Warp& w) {
  Splits& s = *w.splits;
  const auto here = [](const Split& x) { return x.state == Split::State::block_barrier; };
  const std::uint32_t lanes = lanes_of(s, here);
  if (lanes == 0 || lanes != s.alive) return;
  const Split* first = nullptr;
  std::uint32_t votes = 0;
  for (const Split& x : s.others()) {
    if ((x.mask & lowest_of(lanes)) != 0) first = &x;
    votes |= x.wanted;
  }
  const XInst& x = w.code[first->pc];
  const std::uint32_t at = first->pc, leaders = first->mask;
  // Intermediate values may have been lost meanwhile.
  run(w, at, leaders);
  run_operations(w.ctx, x);
  run(w, at, lanes);
  release(w, lanes, false, here);
  arrive(b, w, x, lanes, &votes);
  // The lanes go on from their own places once the barrier lets the warp go.
  run_ready(w);
}

void after_exit(Block::Impl& b, Warp& w) {
  Splits& s = *w.splits;
  if (s.count == 0) return;
  for (unsigned i = 0; i < convergence_barriers; ++i) check_meeting(w, i);
  check_masks(w);
  if (s.alive != 0) check_block_barrier(b, w);
}

void exit_lanes(Block::Impl& b, Warp& w, std::uint32_t lanes) {
  w.splits->alive &= ~lanes;
  const std::uint32_t left = w.active & ~lanes;
  run(w, left != 0 ? w.pc + 1 : w.pc, left);
  after_exit(b, w);
  if (b.cluster != nullptr) [[unlikely]]
    b.cluster->exit(b, w, lanes);
  if (w.active == 0 && w.status == WarpStatus::ready) take_next(b, w);
}

bool is_taken(const Warp& w, const XInst& x, const machine::Action& a, std::uint32_t lanes) {
  if (a.vote == Vote::any) return lanes != 0;
  std::uint32_t mask = w.ctx.row32(x.src[0])[std::countr_zero(w.active)];
  if (a.inverted) mask = ~mask;
  const bool together = (mask & w.splits->alive & ~lanes) == 0;
  return together == (a.vote == Vote::together);
}

// `lanes` go to the target, the other active ones to the next instruction.
void branch(Warp& w, const XInst& x, const machine::Action& a, std::uint32_t lanes) {
  const auto target = static_cast<std::uint32_t>(a.target);
  if (a.vote != Vote::none) lanes = is_taken(w, x, a, lanes) ? w.active : 0;
  const std::uint32_t others = w.active & ~lanes;
  if (lanes == 0) {
    ++w.pc;
    return;
  }
  const bool must_yield = target <= w.pc && w.turn >= longest_turn;
  if (others == 0) {
    w.pc = target;
  } else {
    set_aside(w, {.pc = target, .mask = lanes});
    run(w, w.pc + 1, others);
  }
  if (must_yield) let_next_split_go(w);
}

// `split` waits, and goes on behind `before`; the other active lanes go on.
void wait(Block::Impl& b, Warp& w, Split split, std::uint32_t before) {
  const std::uint32_t others = w.active & ~split.mask;
  split.pc = before;
  set_aside(w, split);
  run(w, others != 0 ? w.pc + 1 : w.pc, others);
  switch (split.state) {
    case Split::State::meets:
      w.splits->turns = 0;
      check_meeting(w, split.barrier);
      break;
    case Split::State::meets_mask: check_masks(w); break;
    case Split::State::block_barrier: check_block_barrier(b, w); break;
    case Split::State::ready: break;
  }
  if (w.active == 0 && w.status == WarpStatus::ready) take_next(b, w);
}

// The lanes will meet at the barrier.
void set_barrier(Warp& w, unsigned barrier, std::uint32_t lanes) {
  Splits::View& view = w.splits->barrier(barrier);
  w.splits->used |= 1u << barrier;
  if (lanes == ~0u)
    view.fill(lanes);
  else
    for_lanes(lanes, [&](unsigned lane) { view[lane] = lanes; });
  ++w.pc;
}

}  // namespace

// The lanes are no longer waited for.
void flow_parts::drop(Warp& w, unsigned barrier, std::uint32_t lanes) {
  Splits& s = *w.splits;
  if (s.calls().empty()) {
    Splits::View& view = s.barrier(barrier);
    std::uint32_t sets = 0;
    for_lanes(lanes, [&](unsigned lane) { sets |= view[lane]; });
    for_lanes(sets, [&](unsigned lane) { view[lane] &= ~lanes; });
  } else {
    s.calls().forget(s.barriers(), barrier, level_of(s, lanes), lanes);
  }
  check_meeting(w, barrier);
}

namespace {

// They go on at the action's target, or at the next instruction.
void meet(Block::Impl& b, Warp& w, const machine::Action& a, std::uint32_t lanes) {
  const unsigned barrier = a.barrier;
  const std::uint32_t next = a.target < 0 ? w.pc + 1 : static_cast<std::uint32_t>(a.target);
  for (unsigned inner = 1; inner <= a.leaves; ++inner) drop(w, barrier + inner, lanes);
  if (all_meet(w, barrier, lanes)) {
    w.pc = next;
    return;
  }
  wait(b, w, {.mask = lanes, .state = Split::State::meets, .barrier = static_cast<std::uint8_t>(barrier)},
       next - 1);
}

void leave_barrier(Warp& w, unsigned barrier, std::uint32_t lanes) {
  drop(w, barrier, lanes);
  ++w.pc;
}

void read_barrier(Warp& w, const XInst& x, const machine::Action& a, std::uint32_t lanes) {
  Splits::View& view = w.splits->barrier(a.barrier);
  for_lanes(lanes, [&](unsigned lane) {
    w.ctx.row32(x.dst)[lane] = view[lane];
    if (a.clear) view[lane] = 0;
  });
  ++w.pc;
}

void write_barrier(Warp& w, const XInst& x, unsigned barrier, std::uint32_t lanes) {
  w.splits->used |= 1u << barrier;
  for_lanes(lanes, [&](unsigned lane) { w.splits->barrier(barrier)[lane] = w.ctx.row32(x.src[0])[lane]; });
  ++w.pc;
  check_meeting(w, barrier);
}

// Lanes that name different masks wait apart, unless all they wait for are here and they need not run apart.
void meet_mask(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a, std::uint32_t lanes) {
  Splits& s = *w.splits;
  const std::uint32_t* const masks = w.ctx.row32(x.src[0]);
  if (a.meeting == Meeting::collective)
    for_lanes(lanes, [&](unsigned lane) {
      s.used |= Splits::used_returns;
      s.returns()[lane] = index_of(b, w, x, static_cast<std::uint64_t>(a.target), lane);
    });
  const std::uint32_t at = w.pc, all = w.active;
  if (a.meeting == Meeting::plain && lanes == all) {
    std::uint32_t wanted = 0;
    for_lanes(lanes, [&](unsigned lane) { wanted |= masks[lane]; });
    if ((wanted & s.alive & ~lanes) == 0) {
      ++w.pc;
      return;
    }
  }
  for (std::uint32_t rest = lanes; rest != 0;) {
    const std::uint32_t wanted = masks[std::countr_zero(rest)];
    std::uint32_t group = 0;
    for_lanes(rest, [&](unsigned lane) { group |= masks[lane] == wanted ? 1u << lane : 0; });
    rest &= ~group;
    if (group == all && (wanted & s.alive & ~group) == 0) {
      ++w.pc;
      return;
    }
    set_aside(w, {.pc = at,
                  .mask = group,
                  .state = Split::State::meets_mask,
                  .meeting = static_cast<std::uint8_t>(a.meeting),
                  .wanted = wanted});
  }
  const std::uint32_t others = all & ~lanes;
  run(w, others != 0 ? at + 1 : at, others);
  check_masks(w);
  if (w.active == 0) take_next(b, w);
}

void end_collective(Warp& w, std::uint32_t lanes) {
  Splits& s = *w.splits;
  LaneGroups groups;
  for_lanes(lanes, [&](unsigned lane) {
    groups.add(s.returns()[lane] == no_return ? w.pc + 1 : s.returns()[lane], 1u << lane);
    s.returns()[lane] = no_return;
  });
  if (const std::uint32_t others = w.active & ~lanes; others != 0) groups.add(w.pc + 1, others);
  groups.go(w);
}

// Behind the last instruction stands one, too.
void trap(Block::Impl& b, Warp& w, const XInst& x) {
  if (w.pc >= b.launch->entry->function->code.size())
    raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-instruction",
          fmt::format("{} of {} runs past the last instruction of the code",
                      thread_name(b, w.ctx.warp, static_cast<unsigned>(__builtin_ctz(w.ctx.mask))),
                      kernel_name(b, *x.inst)),
          "it has no EXIT or branch there: the file is damaged, or was written by hand");
  handle_trap(w.ctx, x);
}

void block_barrier(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t lanes) {
  const ptx::BarMode mode = x.inst->mods.bar;
  if (mode == ptx::BarMode::arrive || lanes == w.splits->alive) {
    arrive(b, w, x, lanes);
    return;
  }
  const bool votes = mode != ptx::BarMode::sync;
  wait(b, w,
       {.mask = lanes,
        .state = Split::State::block_barrier,
        .wanted = votes ? w.ctx.pred(x.psrc[0]) & lanes : 0},
       w.pc);
}

// Lanes that wait at convergence barriers for lanes that yield all the time go on without them.
void wait_no_longer(Warp& w) {
  Splits& s = *w.splits;
  const auto waits = [](const Split& x) { return x.state == Split::State::meets; };
  if (lanes_of(s, waits) == 0 || ++s.turns < most_turns) return;
  s.turns = 0;
  const std::uint32_t yielding =
      w.active | lanes_of(s, [](const Split& x) { return x.state == Split::State::ready; });
  for (unsigned barrier = 0; barrier < convergence_barriers; ++barrier) {
    const auto here = [&](const Split& x) { return waits(x) && x.barrier == barrier; };
    const std::uint32_t waiting = lanes_of(s, here);
    Splits::View& view = s.barrier(barrier);
    std::uint32_t gone = 0;
    for_lanes(waiting, [&](unsigned lane) {
      if ((view[lane] & s.alive & ~waiting & ~yielding) == 0) gone |= 1u << lane;
    });
    if (gone == 0) continue;
    release(w, gone, false, here);
    if (s.calls().empty())
      for (std::uint32_t& lanes : view) lanes &= ~gone;
    else
      for_lanes(gone, [&](unsigned lane) {
        s.calls().forget(s.barriers(), barrier, s.calls().level(lane), 1u << lane);
      });
    if (barrier == return_barrier) s.calls().leave(s.barriers(), gone);
  }
}

}  // namespace

void start_splits(Warp& w) { w.splits->clear(w.active); }

void let_next_split_go(Warp& w) {
  if (w.splits->count == 0) return;
  wait_no_longer(w);
  const Split running{.pc = w.pc, .mask = w.active};
  if (run_ready(w)) set_aside(w, running);
}

void flow(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t guarded) {
  const machine::Action& a = *x.machine->action;
  const std::uint32_t lanes =
      a.condition.kind == ptx::OperandKind::none ? guarded : guarded & w.ctx.pred(x.psrc[1]);
  if (lanes == 0 && a.vote == Vote::none) {
    ++w.pc;
    return;
  }
  switch (a.flow) {
    case Flow::next: ++w.pc; break;
    case Flow::branch: branch(w, x, a, lanes); break;
    case Flow::branch_register: branch_register(b, w, x, a, lanes); break;
    case Flow::exit: exit_lanes(b, w, lanes); break;
    case Flow::call:
      enter_call(b, w, x, a.barrier, lanes, w.pc + 1);
      branch(w, x, a, lanes);
      break;
    case Flow::set_return:
      enter_call(b, w, x, a.barrier, lanes, static_cast<std::uint32_t>(a.target));
      ++w.pc;
      break;
    case Flow::call_register: call_register(b, w, x, a, lanes); break;
    case Flow::go_back: go_back(b, w, x, a, lanes); break;
    case Flow::set_barrier: set_barrier(w, a.barrier, lanes); break;
    case Flow::meet: meet(b, w, a, lanes); break;
    case Flow::leave_barrier: leave_barrier(w, a.barrier, lanes); break;
    case Flow::read_barrier: read_barrier(w, x, a, lanes); break;
    case Flow::write_barrier: write_barrier(w, x, a.barrier, lanes); break;
    case Flow::meet_mask: meet_mask(b, w, x, a, lanes); break;
    case Flow::end_collective: end_collective(w, lanes); break;
    case Flow::yield:
      ++w.pc;
      let_next_split_go(w);
      break;
    case Flow::block_barrier: block_barrier(b, w, x, lanes); break;
    case Flow::trap: trap(b, w, x); break;
  }
}

void run_operations(WarpCtx& ctx, const XInst& x) {
  const MachineStep& step = *x.machine;
  for (const XInst* o = step.operations; o != step.operations + step.count; ++o) o->fn(ctx, *o);
}

void run_guarded(WarpCtx& ctx, const XInst& x) {
  const MachineStep& step = *x.machine;
  const std::uint32_t all = ctx.mask;
  for (const XInst* o = step.operations; o != step.operations + step.count; ++o) {
    const std::uint32_t lanes = (o->kind & flag_guarded) != 0 ? all & ctx.pred(o->guard) : all;
    if (lanes == 0) continue;
    if (lanes != all) set_mask(ctx, lanes);
    o->fn(ctx, *o);
    if (lanes != all) set_mask(ctx, all);
  }
}

void run_uniform(WarpCtx& ctx, const XInst& x) {
  const std::uint32_t lanes = ctx.mask;
  if (lanes != ~0u) set_mask(ctx, ~0u);
  run_operations(ctx, x);
  if (lanes != ~0u) set_mask(ctx, lanes);
}

// A row, or a predicate, of all lanes.
void handle_broadcast(WarpCtx& ctx, const XInst& x) {
  if (ctx.mask == 0) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(ctx.mask));
  if (x.inst->type == ptx::Type::pred) {
    const bool value = ctx.pred(x.psrc[0]) >> lane & 1u;
    ctx.preds[x.pdst >> 1] = value ? ~0u : 0u;
    return;
  }
  std::uint32_t* const out = ctx.row32(x.dst);
  std::fill_n(out, warp_size, ctx.row32(x.src[0])[lane]);
}

}  // namespace simtlab::exec
