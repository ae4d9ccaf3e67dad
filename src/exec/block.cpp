// Block: state of a resident thread block; stepping of one warp.
#include <algorithm>
#include <cstring>

#include "exec/memory.h"
#include "exec/state.h"
#include "exec/store_buffer.h"

namespace simtlab::exec {
namespace {

std::uint16_t access_bytes(const Block::Impl& block, const ptx::Inst& inst) {
  switch (inst.op) {
    case ptx::Op::cp_async: return inst.mods.copy_bytes != 0 ? inst.mods.copy_bytes : 16;
    case ptx::Op::tex: return block.texel_bytes;
    case ptx::Op::prefetch:
    case ptx::Op::prefetchu: return 1;
    default: return static_cast<std::uint16_t>(ptx::size_of(inst.type) * inst.mods.vector);
  }
}

// What models read: of machine code an operation is a part of an instruction.
const ptx::Inst* inst_at(const Warp& w) {
  if (w.splits == nullptr) return w.code[w.pc].inst;
  const std::vector<ptx::Inst>& code = w.function->code;
  return &code[std::min<std::size_t>(w.pc, code.size() - 1)];  // behind the last one is a trap
}

bool must_wait(Block::Impl& block, Warp& w, const XInst& x) {
  if ((x.kind & kind_mask) != kind_memory || block.view.buffer == nullptr ||
      !block.view.buffer->holds_atomics())
    return false;
  if (w.delays != nullptr) deliver_results(block, w);
  return runs_operations(x.fn) ? machine_awaits_atomic(w, x) : awaits_atomic(w, x);
}

std::uint32_t lanes_in_other_blocks(const Block::Impl& b, std::uint32_t lanes) {
  std::uint32_t out = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    if (b.addresses[lane] >> ptx::cluster_shift != b.rank) out |= m & (~m + 1);
  }
  return out;
}

void start_warp(Block::Impl& block, Warp& warp) {
  const Launch::Impl& launch = *block.launch;
  const unsigned first = warp.ctx.warp * warp_size;
  const unsigned lanes = std::min(launch.threads - first, warp_size);
  const std::uint32_t mask = lanes == warp_size ? ~0u : (1u << lanes) - 1;
  warp.code = launch.entry_code();
  warp.function = launch.entry->function;
  warp.pc = 0;
  warp.rpc = ptx::no_pc;
  warp.depth = 0;
  warp.divergent_steps = warp.spin_samples = warp.spin_depth = 0;
  warp.frame_depth = 0;
  warp.active = mask;
  warp.active_count = lanes;
  warp.status = WarpStatus::ready;
  warp.wait = nullptr;
  warp.cluster_arrived = 0;
  warp.cluster_awaits = 0;
  warp.frames[0] = Frame{};
  warp.frames[0].function = launch.params.function;
  warp.frames[0].mask = mask;
  warp.turn = 0;
  if (warp.splits != nullptr) start_splits(warp);
  if (warp.delays != nullptr) warp.delays->clear();
  WarpCtx& ctx = warp.ctx;
  ctx.bases[0] = warp.rows;
  ctx.bases[1] = launch.entry_constants();
  ctx.preds = warp.preds;
  ctx.preds[launch.entry->function->pred_count + 1] = 0;
  ctx.frame_offset = 0;
  ctx.carry = 0;
  set_mask(ctx, mask);
}

}  // namespace

Block::Impl::Impl(const Launch::Impl& l) : launch(&l), module(l.module) {
  const std::size_t n = l.warps;
  registers = AlignedBytes(n * l.warp_rows * row_bytes);
  preds = AlignedBytes(n * l.warp_preds * sizeof(std::uint32_t));
  specials = AlignedBytes(n * l.specials->bytes);
  view.outside = l.memory->outside();
  if (l.clusters == nullptr) shared = AlignedBytes(l.bytes_of_shared());
  local = AlignedBytes(n * warp_size * l.local_bytes);
  warps.resize(n);
  const std::uint32_t room = std::min(l.stack_entries, first_stack_entries);
  stacks.resize(n * room);
  frames.resize(n * l.frames);
  if (l.entry->function->machine) splits.resize(n);
  if (l.late.plan != nullptr) delays.resize(n);
  view.global = l.memory;
  view.shared = shared.data();
  view.shared_bytes = l.shared_bytes;
  view.locks = locks;
  view.param = l.parameter_block.data();
  view.param_bytes = l.parameter_bytes;
  view.local_stride = l.local_bytes;
  view.local_bytes = l.local_bytes;
  view.global_delta = l.memory->host_delta();
  for (unsigned i = 0; i < n; ++i) {
    Warp& w = warps[i];
    w.stack = stacks.data() + i * room;
    w.stack_room = room;
    w.frames = frames.data() + i * l.frames;
    if (!splits.empty()) w.splits = &splits[i];
    if (!delays.empty()) w.delays = &delays[i];
    w.rows = registers.data() + std::size_t{i} * l.warp_rows * row_bytes;
    w.preds = reinterpret_cast<std::uint32_t*>(preds.data()) + std::size_t{i} * l.warp_preds;
    w.ctx.bases[2] = specials.data() + std::size_t{i} * l.specials->bytes;
    w.ctx.bases[3] = scratch.data();
    w.ctx.block = this;
    w.ctx.memory = &view;
    w.ctx.warp = i;
    w.ctx.addresses = addresses;
    w.ctx.addresses2 = addresses2;
    w.ctx.local = local.data() + i * warp_size * l.local_bytes;
    fill_special_rows(*this, w);
  }
}

void Block::Impl::forget() {
  view.forget_bounds();
  generation = launch->memory->generation();
}

Block::Impl::~Impl() {
  if (cluster != nullptr) launch->clusters->leave(*cluster, rank);
}

// The cluster's memory is zero when its first block begins: from then on the others may write to it.
void Block::Impl::join_cluster() {
  if (cluster != nullptr) launch->clusters->leave(*cluster, rank);
  const ClusterPlace place = place_in_cluster(launch->params.grid, launch->params.cluster, index);
  rank = place.rank;
  cluster = launch->clusters->join(*this, place.number, rank);
  view.shared = cluster->shared(rank);
  if (!launch->module->module->clusters) return;  // nobody learns an address of another block
  view.shared_first = rank * ptx::cluster_stride;
  view.cluster = cluster;
}

void Block::Impl::reset(std::uint64_t block_index, unsigned on_sm, unsigned first_warp_slot) {
  index = block_index;
  std::ranges::fill(locks, 0u);
  position = block_at(launch->params.grid, block_index);
  if (launch->clusters != nullptr) join_cluster();
  sm = on_sm;
  first_slot = first_warp_slot;
  exited = 0;
  for (Barrier& b : barriers) b = Barrier{};
  if (late != nullptr) late->clear();
  refresh_bounds();
  // Zero on hardware by chance only; here always, so that runs repeat.
  if (cluster == nullptr) std::memset(shared.data(), 0, launch->shared_bytes);
  for (Warp& w : warps) {
    start_warp(*this, w);
    fill_block_rows(*this, w);
  }
}

Block::Block(const Launch& launch, StoreBuffer* buffer) : impl_(std::make_unique<Impl>(launch.impl())) {
  impl_->view.buffer = buffer;
  // One that takes a place in a cluster does so when it is known which block it is.
  if (launch.impl().clusters == nullptr) impl_->reset(0, 0, 0);
}
Block::~Block() = default;
Block::Block(Block&&) noexcept = default;
Block& Block::operator=(Block&&) noexcept = default;

void Block::reset(std::uint64_t block_index, unsigned sm, unsigned first_warp_slot) {
  SIMTLAB_ASSERT(block_index < impl_->launch->params.grid.count(), "the block is one of the grid");
  impl_->reset(block_index, sm, first_warp_slot);
}

std::uint64_t Block::index() const { return impl_->index; }
unsigned Block::warp_count() const { return static_cast<unsigned>(impl_->warps.size()); }
WarpStatus Block::status(unsigned warp) const { return impl_->warps[warp].status; }

bool Block::finished() const {
  const auto n = impl_->warps.size();
  return impl_->exited == (n == warp_size ? ~0u : (1u << n) - 1);
}

const ptx::Inst* Block::peek(unsigned warp) const {
  const Warp& w = impl_->warps[warp];
  return w.status == WarpStatus::exited ? nullptr : inst_at(w);
}

std::uint32_t Block::peek_pc(unsigned warp) const { return impl_->warps[warp].pc; }

const ptx::Function* Block::peek_function(unsigned warp) const { return impl_->warps[warp].function; }

std::uint32_t Block::active_mask(unsigned warp) const {
  const Warp& w = impl_->warps[warp];
  return w.status == WarpStatus::exited ? 0 : w.active;
}

const Step& Block::step(unsigned index, std::uint64_t now) {
  Impl& b = *impl_;
  Warp& w = b.warps[index];
  SIMTLAB_ASSERT(w.status == WarpStatus::ready, "only a ready warp can be stepped");
  b.refresh_bounds();
  const XInst& x = w.code[w.pc];
  Step& s = b.step;
  s.inst = inst_at(w);
  s.pc = w.pc;
  s.function = w.function;
  s.active = w.active;
  s.arrives = false;
  s.blocked = must_wait(b, w, x);
  if (s.blocked) [[unlikely]] {
    s.mask = 0;
    s.addresses = s.addresses2 = nullptr;
    return s;
  }
  s.mask = execute(b, w, x, now);
  s.addresses = s.addresses2 = nullptr;
  s.bytes = 0;
  s.remote = 0;
  s.space = s.inst->mods.space;
  if ((x.kind & kind_mask) == kind_memory) {
    if (x.fn == run_guarded) s.mask &= w.ctx.pred(x.machine->operations[x.machine->memory].guard);
    if (s.mask != 0) {
      s.addresses = b.addresses;
      s.space = w.ctx.space;
      if (s.inst->op == ptx::Op::cp_async) s.addresses2 = b.addresses2;
    }
    s.bytes = access_bytes(b, *s.inst);
    if (b.view.cluster != nullptr && s.space == ptx::Space::shared) [[unlikely]]
      s.remote = lanes_in_other_blocks(b, s.mask);
  }
  if (w.status != WarpStatus::exited) settle(w);
  if (w.depth != 0 && b.launch->may_part && ++w.divergent_steps >= spin_period &&
      w.status == WarpStatus::ready)
    check_spin(w);
  ++w.turn;
  return s;
}

namespace {

// The warp begins soon: nobody has touched its registers for long where many warps are resident. Always
// inline: g++ takes a function that only prefetches for one without effect.
[[gnu::always_inline]] inline void expect_warp(const Block::Impl& block, unsigned index) {
  constexpr std::size_t line = 64, most = 32 * row_bytes;
  const auto expect = [](const void* begin, std::size_t bytes) __attribute__((always_inline)) {
    for (std::size_t at = 0; at < bytes; at += line)
      __builtin_prefetch(static_cast<const std::byte*>(begin) + at, 1);
  };
  const std::size_t rows = std::size_t{block.launch->warp_rows} * row_bytes,
                    specials = block.launch->specials->bytes;
  expect(&block.warps[index], sizeof(Warp));
  expect(block.registers.data() + index * rows, std::min(most, rows));
  expect(block.specials.data() + index * specials, std::min(most, specials));
}

}  // namespace

const void* Block::place(unsigned index) const {
  static_assert(offsetof(Warp, frame_depth) <= place_bytes && offsetof(Warp, code) + 64 <= place_bytes);
  return &impl_->warps[index];
}

void Block::expect_registers(const void* place) {
  constexpr std::size_t instructions = 2;
  const Warp& w = *static_cast<const Warp*>(place);
  const auto& block = *static_cast<const Impl*>(w.ctx.block);
  __builtin_prefetch(&block.launch, 1);
  __builtin_prefetch(&block.generation, 1);
  __builtin_prefetch(&block.step, 1);
  const std::size_t size = w.function->code.size();
  if (w.status == WarpStatus::exited || w.pc >= size) return;
  const XInst* x = w.code + w.pc;
  for (std::size_t left = std::min(instructions, size - w.pc); left > 0; --left, ++x) {
    for (const RowRef ref : {x->dst, x->src[0], x->src[1], x->src[2]}) {
      if ((ref & 3u) != 0) continue;
      __builtin_prefetch(w.ctx.row(ref), 1);
      __builtin_prefetch(w.ctx.row(ref) + 64, 1);
    }
  }
}

void Block::hold_arrivals() {
  if (impl_->late == nullptr) impl_->late = std::make_unique<LateArrivals>();
  impl_->view.late = impl_->late.get();
}

void Block::copies_done(unsigned warp) {
  if (impl_->late != nullptr) impl_->late->happen(warp);
}

Run Block::run_plain(unsigned index, std::uint32_t most) {
  Warp& w = impl_->warps[index];
  if (w.depth != 0 && impl_->launch->may_part) return {};
  std::uint32_t pc = w.pc;
  if (pc == 0 && index + 1 < impl_->warps.size()) expect_warp(*impl_, index + 1);
  Run run;
  for (; run.instructions < most && w.code[pc].kind == kind_plain; ++pc, ++run.instructions)
    w.code[pc].fn(w.ctx, w.code[pc]);
  if (run.instructions == 0) return run;
  run.threads = std::uint64_t{run.instructions} * w.active_count;
  w.pc = pc;
  settle(w);
  return run;
}

std::string Block::whereabouts() const { return exec::whereabouts(*impl_); }

void Block::check_progress() const {
  for (const Warp& w : impl_->warps) {
    if (w.status == WarpStatus::ready) return;
  }
  if (!finished()) report_deadlock(*impl_);
}

}  // namespace simtlab::exec
