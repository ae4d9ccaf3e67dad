// Execution of one instruction and control flow: a stack of lane masks that reconverge at immediate
// post-dominators.
//
// Of a divergent branch the fall-through side runs first. A side that returns or exits leaves every entry it
// was in.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/state.h"

namespace simtlab::exec {
namespace {

unsigned count(std::uint32_t mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

void set_active(Warp& w, std::uint32_t mask) {
  w.active = mask;
  w.active_count = count(mask);
  if (w.ctx.mask != mask) set_mask(w.ctx, mask);
}

const ptx::Function& function_of(const Block::Impl& b, const Frame& f) {
  return *b.module->functions[f.function].function;
}

// Kept for the next blocks.
void grow_stack(Block::Impl& b, Warp& w) {
  auto all = std::make_unique<StackEntry[]>(b.launch->stack_entries);
  std::copy_n(w.stack, w.depth, all.get());
  w.stack = all.get();
  w.stack_room = b.launch->stack_entries;
  b.deep_stacks.push_back(std::move(all));
}

void push_top(Block::Impl& b, Warp& w, const XInst& x) {
  if (w.depth + 1 >= b.launch->stack_entries) {
    raise(b, *x.inst, Fault::Kind::stack_overflow, "stack-overflow",
          fmt::format("divergence of warp {} in {} is too deep", w.ctx.warp, kernel_name(b, *x.inst)));
  }
  if (w.depth == w.stack_room) grow_stack(b, w);
  w.stack[w.depth++] = {w.pc, w.rpc, w.active};
}

void pop_top(Warp& w) {
  const StackEntry& below = w.stack[--w.depth];
  w.pc = below.pc;
  w.rpc = below.rpc;
  set_active(w, below.mask);
}

// Lanes of several targets: at most one group a lane.
struct Groups {
  StackEntry entry[warp_size];
  unsigned size = 0;
  void add(std::uint32_t pc, std::uint32_t mask) {
    for (unsigned i = 0; i < size; ++i) {
      if (entry[i].pc != pc) continue;
      entry[i].mask |= mask;
      return;
    }
    entry[size++] = {pc, 0, mask};
  }
};

// Lanes part: the last group runs first. All meet at `reconverge`, or where the lanes they come from do.
void diverge(Block::Impl& b, Warp& w, const XInst& x, const Groups& groups) {
  if (groups.size == 1) {
    w.pc = groups.entry[0].pc;
    return;
  }
  const std::uint32_t rpc = x.inst->reconverge == ptx::no_pc ? w.rpc : x.inst->reconverge;
  if (rpc != w.rpc) {
    w.pc = rpc;
    push_top(b, w, x);
  }
  bool first = true;
  for (unsigned i = 0; i < groups.size; ++i) {
    const StackEntry& g = groups.entry[i];
    if (g.pc == rpc) continue;
    if (!first) push_top(b, w, x);
    first = false;
    w.pc = g.pc;
    w.rpc = rpc;
    w.active = g.mask;
  }
  set_active(w, w.active);
}

void branch(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t taken) {
  const std::uint32_t others = w.active & ~taken;
  if (taken == 0) {
    ++w.pc;
  } else if (others == 0) {
    w.pc = x.inst->target;
  } else {
    Groups groups;
    groups.add(x.inst->target, taken);
    groups.add(w.pc + 1, others);
    diverge(b, w, x, groups);
  }
}

void branch_table(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t lanes) {
  const ptx::Function& f = function_of(b, w.frame());
  const std::vector<std::uint32_t>& table = f.branch_tables.at(x.inst->target);
  Groups groups;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint32_t index = w.ctx.row32(x.src[0])[lane];
    if (index >= table.size()) {
      raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-instruction",
            fmt::format("brx.idx with index {} of {} targets by {} of {}", index, table.size(),
                        thread_name(b, w.ctx.warp, lane), kernel_name(b, *x.inst)));
    }
    groups.add(table[index], 1u << lane);
  }
  if (const std::uint32_t others = w.active & ~lanes; others != 0) groups.add(w.pc + 1, others);
  diverge(b, w, x, groups);
}

// The row of a lane's value of up to 8 bytes, for arguments that are copied byte by byte.
std::byte* lane_value(WarpCtx& ctx, const BoundArg& a, unsigned lane) {
  return ctx.row(a.row) + lane * (a.register_bytes >= 8 ? 8u : 4u);
}

void copy_args(Block::Impl& b, Warp& w, const std::vector<BoundArg>& args, std::uint32_t callee_frame,
               std::uint32_t lanes) {
  for (const BoundArg& a : args) {
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      std::byte* local = w.ctx.local + lane * b.view.local_stride;
      std::byte* to = local + callee_frame + a.callee_offset;
      if (!a.in_register) {
        std::memcpy(to, local + w.ctx.frame_offset + a.caller_offset, a.bytes);
      } else if (a.register_bytes == 16) {
        std::memcpy(to, lane_value(w.ctx, a, lane), 8);
        std::memcpy(to + 8, lane_value(w.ctx, a, lane) + 2 * row_bytes, 8);
      } else {
        std::memcpy(to, lane_value(w.ctx, a, lane), a.bytes);
      }
    }
  }
}

void copy_returns(Block::Impl& b, Warp& w, const std::vector<BoundArg>& returns, std::uint32_t callee_frame,
                  std::uint32_t lanes) {
  for (const BoundArg& a : returns) {
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      std::byte* local = w.ctx.local + lane * b.view.local_stride;
      const std::byte* from = local + callee_frame + a.callee_offset;
      if (!a.in_register) {
        std::memcpy(local + w.ctx.frame_offset + a.caller_offset, from, a.bytes);
        continue;
      }
      std::memset(lane_value(w.ctx, a, lane), 0, a.register_bytes >= 8 ? 8 : 4);
      if (a.register_bytes == 16) {
        std::memcpy(lane_value(w.ctx, a, lane), from, 8);
        std::memcpy(lane_value(w.ctx, a, lane) + 2 * row_bytes, from + 8, 8);
      } else {
        std::memcpy(lane_value(w.ctx, a, lane), from, a.bytes);
      }
    }
  }
}

// Makes the registers, predicates and code of the running frame the current ones.
void enter_frame(Block::Impl& b, Warp& w) {
  const Frame& f = w.frame();
  const BoundFunction& bound = b.module->functions[f.function];
  w.code = bound.code.data();
  w.function = bound.function;
  w.ctx.bases[0] = w.rows + std::size_t{f.row} * row_bytes;
  w.ctx.bases[1] = bound.constants.data();
  w.ctx.preds = w.preds + f.pred;
  w.ctx.frame_offset = f.offset;
}

std::uint64_t function_pointer(const WarpCtx& ctx, const BoundCall& call, unsigned lane) {
  return call.pointer_bytes == 8 ? ctx.row64(call.pointer)[lane] : ctx.row32(call.pointer)[lane];
}

// Function that a lane's pointer names; must be one of the call's candidates.
std::uint32_t resolve_pointer(const Block::Impl& b, const Warp& w, const XInst& x, const BoundCall& call,
                              unsigned lane) {
  const std::uint64_t pointer = function_pointer(w.ctx, call, lane);
  // A 32-bit function pointer holds the low half of the handle.
  const std::uint64_t handle = call.pointer_bytes == 8 ? pointer - ptx::function_handles : pointer;
  for (const std::uint32_t candidate : call.candidates) {
    if (handle == 16ull * candidate) return candidate;
  }
  raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-instruction",
        fmt::format("indirect call of {:#x}, which is no function of the call's prototype, by {} of {}",
                    pointer, thread_name(b, w.ctx.warp, lane), kernel_name(b, *x.inst)));
}

[[noreturn]] void too_deep(const Block::Impl& b, const Warp& w, const XInst& x) {
  raise(b, *x.inst, Fault::Kind::stack_overflow, "stack-overflow",
        fmt::format("call by warp {} of {} goes deeper than the {} calls there is room for", w.ctx.warp,
                    kernel_name(b, *x.inst), b.launch->frames - 1),
        "functions that call each other through pointers may nest only so deep (D-PTX-7)");
}

// Calls the target of the lowest of the lanes with all lanes that share it; the others wait in `pending`.
void start_call(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t lanes) {
  const Frame caller = w.frame();
  const ptx::Function& from = function_of(b, caller);
  const BoundCall& call = b.module->functions[caller.function].calls.at(x.inst->target);
  std::uint32_t group = lanes, target = call.function;
  if (call.indirect) {
    const auto leader = static_cast<unsigned>(__builtin_ctz(lanes));
    target = resolve_pointer(b, w, x, call, leader);
    const std::uint64_t pointer = function_pointer(w.ctx, call, leader);
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      if (function_pointer(w.ctx, call, lane) != pointer) group &= ~(1u << lane);
    }
  }
  const ptx::Function& to = *b.module->functions[target].function;
  if (to.code.empty()) {
    raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-instruction",
          fmt::format("call of {}, which is only declared, in {}", to.name, kernel_name(b, *x.inst)));
  }
  Frame next;
  next.function = target;
  next.site = x.inst->target;
  next.mask = group;
  next.pending = lanes & ~group;
  next.row = caller.row + from.reg_rows;
  next.pred = caller.pred + from.pred_count + 2;
  next.offset = caller.offset + from.frame_bytes;
  const Launch::Impl& l = *b.launch;
  if (w.frame_depth + 1 >= l.frames || next.row + to.reg_rows > l.warp_rows ||
      next.pred + to.pred_count + 2 > l.warp_preds ||
      std::uint64_t{next.offset} + to.frame_bytes > l.local_bytes) {
    too_deep(b, w, x);
  }
  copy_args(b, w, call.args, next.offset, group);
  push_top(b, w, x);
  next.stack_base = w.depth;
  w.frames[++w.frame_depth] = next;
  enter_frame(b, w);
  w.ctx.preds[to.pred_count + 1] = 0;
  w.pc = 0;
  w.rpc = ptx::no_pc;
  set_active(w, group);
}

// The running frame has no lanes left: back to the caller, or to the next target of an indirect call.
void finish_frame(Block::Impl& b, Warp& w) {
  const Frame done = w.frame();
  --w.frame_depth;
  enter_frame(b, w);
  pop_top(w);
  const BoundCall& call = b.module->functions[w.frame().function].calls.at(done.site);
  copy_returns(b, w, call.returns, done.offset, done.mask);
  if (done.pending != 0) {
    start_call(b, w, w.code[w.pc], done.pending);
  } else {
    ++w.pc;
  }
}

// After lanes have gone: what runs next.
void unwind(Block::Impl& b, Warp& w) {
  while (w.active == 0) {
    if (w.depth > w.frame().stack_base) {
      pop_top(w);
    } else if (w.frame_depth != 0) {
      finish_frame(b, w);
    } else {
      w.status = WarpStatus::exited;
      leave(b, w);
      return;
    }
  }
}

void take_from_stack(Warp& w, std::uint32_t from, std::uint32_t lanes) {
  for (std::uint32_t i = from; i < w.depth; ++i) w.stack[i].mask &= ~lanes;
}

void leave_function(Block::Impl& b, Warp& w, std::uint32_t lanes) {
  ++w.pc;
  take_from_stack(w, w.frame().stack_base, lanes);
  set_active(w, w.active & ~lanes);
  unwind(b, w);
}

void exit_lanes(Block::Impl& b, Warp& w, std::uint32_t lanes) {
  ++w.pc;
  take_from_stack(w, 0, lanes);
  for (std::uint32_t i = 0; i <= w.frame_depth; ++i) w.frames[i].mask &= ~lanes;
  set_active(w, w.active & ~lanes);
  unwind(b, w);
}

void run_handler(Warp& w, const XInst& x, std::uint32_t lanes) {
  if (lanes == w.active) {
    x.fn(w.ctx, x);
  } else if (lanes != 0) {
    set_mask(w.ctx, lanes);
    x.fn(w.ctx, x);
    set_mask(w.ctx, w.active);
  }
  ++w.pc;
}

}  // namespace

void set_mask(WarpCtx& ctx, std::uint32_t mask) {
  using Four = std::uint32_t __attribute__((vector_size(16)));
  ctx.mask = mask;
  const Four bits = {1, 2, 4, 8};
  for (unsigned lane = 0; lane < warp_size; lane += 4) {
    const std::uint32_t m = mask >> lane;
    const Four spread = {m, m, m, m};
    const auto on = (spread & bits) == bits;
    std::memcpy(ctx.lanes + lane, &on, sizeof on);
  }
}

std::uint32_t execute(Block::Impl& b, Warp& w, const XInst& x, std::uint64_t now) {
  std::uint32_t lanes = w.active;
  if ((x.kind & (flag_guarded | flag_delayed)) != 0) {
    if ((x.kind & flag_delayed) != 0) return execute_delayed(b, w, now);
    lanes &= w.ctx.pred(x.guard);
  }
  const std::uint16_t kind = x.kind & kind_mask;
  if (lanes == 0 && kind != kind_branch && kind != kind_flow) {
    ++w.pc;
    return 0;
  }
  switch (kind) {
    case kind_timed: fill_clock_rows(b, w, now); [[fallthrough]];
    case kind_plain:
    case kind_memory: run_handler(w, x, lanes); break;
    case kind_branch: branch(b, w, x, lanes); break;
    case kind_branch_table: branch_table(b, w, x, lanes); break;
    case kind_call: start_call(b, w, x, lanes); break;
    case kind_return: leave_function(b, w, lanes); break;
    case kind_exit:
      exit_lanes(b, w, lanes);
      if (b.cluster != nullptr) [[unlikely]]
        b.cluster->exit(b, w, lanes);
      break;
    case kind_barrier: arrive(b, w, x, lanes); break;
    case kind_flow:
      if (x.machine->count != 0 && lanes != 0) {
        if (lanes != w.active) set_mask(w.ctx, lanes);
        run_operations(w.ctx, x);
        if (lanes != w.active) set_mask(w.ctx, w.active);
      }
      flow(b, w, x, lanes);
      break;
    default: break;
  }
  return lanes;
}

void settle(Warp& w) {
  // The bottom entry of a frame has no place to meet (rpc = no_pc), so this ends in the frame.
  while (w.pc == w.rpc) pop_top(w);
}

void check_spin(Warp& w) {
  w.divergent_steps = 0;
  if (w.depth != w.spin_depth || w.active != w.spin_active) {
    w.spin_depth = w.depth;
    w.spin_active = w.active;
    w.spin_samples = 0;
    return;
  }
  if (++w.spin_samples < spin_limit) return;
  w.spin_samples = 0;
  let_others_go(w);
}

bool let_others_go(Warp& w) {
  while (w.depth > w.frame().stack_base) {
    StackEntry& below = w.stack[w.depth - 1];
    const StackEntry spinning{w.pc, below.rpc, w.active};
    const std::uint32_t others = below.mask & ~w.active;
    if (others != 0) {  // the other side of a branch, or lanes that have arrived where the two meet
      w.pc = below.pc;
      w.rpc = below.rpc;
      below = spinning;
      set_active(w, others);
      settle(w);
      return true;
    }
    w.rpc = below.rpc;  // all lanes of this level loop: look one level further out
    --w.depth;
  }
  return false;
}

}  // namespace simtlab::exec
