// Jumps to what a register says, calls and returns in machine code.
#include <fmt/format.h>

#include "exec/flow_parts.h"
#include "machine/bundles.h"

namespace simtlab::exec {

using namespace flow_parts;

namespace {

// Executes the functions of the driver that lanes call. Returns those lanes; the others go to `groups`.
std::uint32_t follow_registers(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a,
                               std::uint32_t lanes, LaneGroups& groups) {
  const std::uint64_t base = static_cast<std::uint64_t>(a.target);
  const std::uint64_t* const addresses = w.ctx.row64(x.src[0]);
  std::array<std::uint32_t, system_call_count> calls{};
  std::uint32_t called = 0;
  for_lanes(lanes, [&](unsigned lane) {
    const std::uint64_t to = addresses[lane] + base;
    if (const unsigned call = system_call_of(to); call != 0) {
      calls[call] |= 1u << lane;
      called |= 1u << lane;
    } else {
      groups.add(index_of(b, w, x, to, lane), 1u << lane);
    }
  });
  for (unsigned call = 1; call < calls.size(); ++call)
    if (calls[call] != 0) call_system(w, x, call, calls[call]);
  return called;
}

// Code that jumps behind a call has told nobody where to return to.
void must_be_in_call(const Block::Impl& b, const Warp& w, const XInst& x, std::uint32_t lanes) {
  if (level_of(*w.splits, lanes) == 0)
    raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-instruction",
          fmt::format("{} of {} returns, and nothing has called",
                      thread_name(b, w.ctx.warp, lowest_lane(lanes)), kernel_name(b, *x.inst)));
}

// Lanes of a call that have come to its end wait for the others of it.
void set_aside_to_return(Warp& w, std::uint32_t lanes) {
  LaneGroups groups;
  for_lanes(lanes, [&](unsigned lane) { groups.add(w.splits->calls().back(lane), 1u << lane); });
  groups.for_each([&](std::uint32_t back, std::uint32_t mask) {
    set_aside(w, {.pc = back - 1,
                  .mask = mask,
                  .state = Split::State::meets,
                  .barrier = std::uint8_t{return_barrier}});
  });
}

}  // namespace

std::uint32_t flow_parts::index_of(const Block::Impl& b, const Warp& w, const XInst& x, std::uint64_t address,
                                   unsigned lane) {
  const std::optional<std::uint32_t> index = b.launch->entry->function->machine->index_of(address);
  if (!index)
    raise(
        b, *x.inst, Fault::Kind::illegal_instruction, "illegal-instruction",
        fmt::format("jump to 0x{:x}, which is no instruction of the kernel, by {} of {}", address,
                    thread_name(b, w.ctx.warp, lane), kernel_name(b, *x.inst)),
        "the register holds no address of code: a pointer to a function that was not set, or memory that was "
        "overwritten");
  return *index;
}

// Functions of the driver return to the next instruction.
void flow_parts::branch_register(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a,
                                 std::uint32_t lanes) {
  LaneGroups groups;
  const std::uint32_t called = follow_registers(b, w, x, a, lanes, groups);
  if (const std::uint32_t next = called | (w.active & ~lanes); next != 0) groups.add(w.pc + 1, next);
  groups.go(w);
}

void flow_parts::enter_call(Block::Impl& b, Warp& w, const XInst& x, unsigned used, std::uint32_t lanes,
                            std::uint32_t back) {
  Splits& s = *w.splits;
  if (level_of(s, lanes) >= Calls::most)
    raise(b, *x.inst, Fault::Kind::stack_overflow, "stack-overflow",
          fmt::format("Stack overflow: {} of {} is in {} calls",
                      thread_name(b, w.ctx.warp, lowest_lane(lanes)), kernel_name(b, *x.inst), Calls::most),
          "give the recursion an end: no GPU has room for so many");
  s.used |= Splits::used_calls | 1u << return_barrier;
  s.calls().enter(s.barriers(), lanes, used, back);
}

void flow_parts::go_back(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a,
                         std::uint32_t lanes) {
  Splits& s = *w.splits;
  must_be_in_call(b, w, x, lanes);
  for (unsigned inner = 0; inner < a.leaves; ++inner) drop(w, inner, lanes);
  if (all_meet(w, return_barrier, lanes)) {
    w.pc = s.calls().back(lowest_lane(lanes));
    s.calls().leave(s.barriers(), lanes);
    return;
  }
  set_aside_to_return(w, lanes);
  const std::uint32_t others = w.active & ~lanes;
  run(w, others != 0 ? w.pc + 1 : w.pc, others);
  s.turns = 0;
  check_meeting(w, return_barrier);
  if (w.active == 0 && w.status == WarpStatus::ready) take_next(b, w);
}

void flow_parts::call_register(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a,
                               std::uint32_t lanes) {
  must_be_in_call(b, w, x, lanes);
  LaneGroups groups;
  const std::uint32_t called = follow_registers(b, w, x, a, lanes, groups);
  const std::vector<std::uint32_t>& entries = b.launch->entry->function->machine->entries;
  groups.for_each([&](std::uint32_t pc, std::uint32_t mask) {
    if (!std::ranges::binary_search(entries, pc))
      raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-instruction",
            fmt::format("call of 0x{:x}, where no function begins, by {} of {}",
                        machine::address_in_file(b.launch->entry->function->machine->generation,
                                                 std::int64_t{pc} * std::int64_t{machine::word_bytes}),
                        thread_name(b, w.ctx.warp, lowest_lane(mask)), kernel_name(b, *x.inst)),
            "the register holds no address of a function: a pointer that was not set, or memory that was "
            "overwritten");
  });
  if (called == w.active) return go_back(b, w, x, a, called);
  if (called != 0) set_aside_to_return(w, called);
  groups.go(w);
}

}  // namespace simtlab::exec
