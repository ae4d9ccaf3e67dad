// Barriers of a block: bar.sync, bar.arrive, bar.red on 16 barriers. A warp arrives as a whole, as before
// Volta, even if some of its lanes are elsewhere; warps that have exited count as arrived where the whole
// block is expected.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exec/state.h"

namespace simtlab::exec {
namespace {

constexpr bool is_reduction(ptx::BarMode mode) {
  return mode == ptx::BarMode::red_popc || mode == ptx::BarMode::red_and || mode == ptx::BarMode::red_or;
}

// Threads named by the instruction; 0: all of the block.
std::uint32_t expected_threads(const Block::Impl& b, const Warp& w, const XInst& x, unsigned lane) {
  if (x.inst->src_count < 2 || x.inst->src[1].kind == ptx::OperandKind::none) return 0;
  const std::uint32_t threads = w.ctx.row32(x.src[1])[lane];
  // Machine code has 0 for all in registers, too.
  if (threads == 0 && (x.kind & kind_mask) == kind_flow) return 0;
  if (threads == 0 || threads % warp_size != 0 || threads > b.launch->warps * warp_size) {
    raise(
        b, *x.inst, Fault::Kind::illegal_instruction, "illegal-barrier",
        fmt::format("barrier for {} threads, which is not a multiple of {} up to the block's {}, by {} of {}",
                    threads, warp_size, b.launch->warps * warp_size, thread_name(b, w.ctx.warp, lane),
                    kernel_name(b, *x.inst)));
  }
  return threads;
}

unsigned barrier_number(const Block::Impl& b, const Warp& w, const XInst& x, unsigned lane) {
  const std::uint32_t id = x.inst->src_count == 0 ? 0 : w.ctx.row32(x.src[0])[lane];
  if (id >= barrier_count) {
    raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-barrier",
          fmt::format("barrier {} does not exist (0 to {}), used by {} of {}", id, barrier_count - 1,
                      thread_name(b, w.ctx.warp, lane), kernel_name(b, *x.inst)));
  }
  return id;
}

void deliver(Warp& w, const Barrier& barrier) {
  const XInst& x = *w.wait;
  const ptx::BarMode mode = x.inst->mods.bar;
  if (!is_reduction(mode)) return;
  set_mask(w.ctx, w.wait_mask);
  if (mode == ptx::BarMode::red_popc) {
    for (std::uint32_t m = w.wait_mask; m != 0; m &= m - 1)
      w.ctx.row32(x.dst)[__builtin_ctz(m)] = barrier.popc;
  } else {
    const bool value = mode == ptx::BarMode::red_and ? barrier.all : barrier.any;
    w.ctx.set_pred(x.pdst, value ? ~0u : 0u);
  }
  set_mask(w.ctx, w.active);
}

void release_if_complete(Block::Impl& b, Barrier& barrier) {
  const auto warps = static_cast<unsigned>(b.warps.size());
  const std::uint32_t everybody = warps == warp_size ? ~0u : (1u << warps) - 1;
  if (!barrier.complete(everybody, b.exited)) return;
  for (std::uint32_t m = barrier.waiting; m != 0; m &= m - 1) {
    Warp& w = b.warps[static_cast<unsigned>(__builtin_ctz(m))];
    deliver(w, barrier);
    w.status = WarpStatus::ready;
    w.wait = nullptr;
  }
  barrier = Barrier{};
}

}  // namespace

namespace {

void meet_in_cluster(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t lanes) {
  ++w.pc;
  if (x.inst->mods.bar == ptx::BarMode::arrive)
    b.cluster->arrive(b, w, x, lanes);
  else
    b.cluster->wait(w, x, lanes);
}

}  // namespace

void arrive(Block::Impl& b, Warp& w, const XInst& x, std::uint32_t lanes, const std::uint32_t* votes) {
  if (x.inst->op == ptx::Op::barrier_cluster) return meet_in_cluster(b, w, x, lanes);
  const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
  const unsigned id = barrier_number(b, w, x, lane);
  const std::uint32_t expected = expected_threads(b, w, x, lane);
  Barrier& barrier = b.barriers[id];
  if (barrier.arrivals != 0 && barrier.expected != expected) {
    raise(b, *x.inst, Fault::Kind::illegal_instruction, "illegal-barrier",
          fmt::format(
              "barrier {} is used with different thread counts at once ({} and {}; 0 = all), by {} of {}", id,
              barrier.expected, expected, thread_name(b, w.ctx.warp, lane), kernel_name(b, *x.inst)));
  }
  barrier.arrive(w.ctx.warp, expected);
  b.step.arrives = true;
  b.step.barrier = static_cast<std::uint16_t>(id);
  b.step.barrier_threads = static_cast<std::uint16_t>(expected);
  const ptx::BarMode mode = x.inst->mods.bar;
  if (is_reduction(mode)) {
    const std::uint32_t yes = (votes != nullptr ? *votes : w.ctx.pred(x.psrc[0])) & lanes;
    barrier.popc += static_cast<std::uint32_t>(__builtin_popcount(yes));
    barrier.all = barrier.all && yes == lanes;
    barrier.any = barrier.any || yes != 0;
  }
  ++w.pc;
  if (mode != ptx::BarMode::arrive) {
    barrier.waiting |= 1u << w.ctx.warp;
    w.status = WarpStatus::barrier;
    w.waits_at = id;
    w.wait = &x;
    w.wait_mask = lanes;
  }
  release_if_complete(b, barrier);
}

void leave(Block::Impl& b, Warp& w) {
  b.exited |= 1u << w.ctx.warp;
  for (Barrier& barrier : b.barriers) {
    if (barrier.arrivals != 0) release_if_complete(b, barrier);
  }
}

bool wait_for_cluster(const Block::Impl& b) {
  return b.cluster != nullptr && std::ranges::any_of(b.warps, [](const Warp& w) {
           return w.status == WarpStatus::barrier && w.waits_at == cluster_barrier;
         });
}

void report_deadlock(const Block::Impl& b) {
  // Warps that wait at the same place in one phrase, in the order of their first warp.
  struct Group {
    const XInst* at;
    unsigned barrier;
    std::string warps;
    unsigned size;
  };
  std::vector<Group> groups;
  unsigned waiting = 0;
  for (const Warp& w : b.warps) {
    if (w.status != WarpStatus::barrier) continue;
    ++waiting;
    bool known = false;
    for (Group& g : groups) {
      if (g.at != w.wait || g.barrier != w.waits_at) continue;
      g.warps += fmt::format(", {}", w.ctx.warp);
      ++g.size;
      known = true;
    }
    if (!known) groups.push_back({w.wait, w.waits_at, std::to_string(w.ctx.warp), 1});
  }
  SIMTLAB_ASSERT(!groups.empty(), "a deadlock has waiting warps");
  std::string list;
  for (const Group& g : groups) {
    if (g.barrier == cluster_barrier) {
      list += fmt::format("; warp{} {} at the barrier of the cluster ({} of {} threads arrived) in {}",
                          g.size == 1 ? "" : "s", g.warps, b.cluster->arrived(), b.cluster->expected(),
                          kernel_name(b, *g.at->inst));
      continue;
    }
    const Barrier& barrier = b.barriers[g.barrier];
    const unsigned expected =
        barrier.expected != 0 ? barrier.expected / warp_size : static_cast<unsigned>(b.warps.size());
    list += fmt::format("; warp{} {} at barrier {} ({} of {} warps arrived) in {}", g.size == 1 ? "" : "s",
                        g.warps, g.barrier, barrier.arrivals, expected, kernel_name(b, *g.at->inst));
  }
  const unsigned gone = static_cast<unsigned>(__builtin_popcount(b.exited));
  raise(b, *groups.front().at->inst, Fault::Kind::deadlock, "deadlock",
        fmt::format(
            "Deadlock in block ({},{},{}): {} of {} warps wait at barriers that cannot complete, {} exited{}",
            b.position.x, b.position.y, b.position.z, waiting, b.warps.size(), gone, list),
        "every thread of the block (or as many as the barrier names) must reach the same barrier");
}

}  // namespace simtlab::exec
