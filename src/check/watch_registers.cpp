// Registers that nobody wrote. Compilers move arithmetic to where its result may not be wanted, so that a
// value made of such a register is no finding yet; that a thread decides by it, or takes it as an address,
// is.
#include <algorithm>

#include "check/watch.h"

namespace simtlab::check {
namespace {

// Of these the value itself matters, not what is made of it.
bool decides(ptx::Op op) {
  switch (op) {
    case ptx::Op::atom:
    case ptx::Op::red:
    case ptx::Op::vote:
    case ptx::Op::brx: return true;
    default: return false;
  }
}

bool touches_memory(ptx::Op op) {
  switch (op) {
    case ptx::Op::ld:
    case ptx::Op::ldu:
    case ptx::Op::st:
    case ptx::Op::atom:
    case ptx::Op::red:
    case ptx::Op::cp_async: return true;
    default: return false;
  }
}

}  // namespace

std::uint32_t Watch::lanes_that_read(const exec::Warp& w, const exec::XInst& x, unsigned source) {
  if (x.inst->op != ptx::Op::selp || source > 1) return ~0u;
  const std::uint32_t first = w.ctx.pred(x.psrc[0]);
  return source == 0 ? first : ~first;
}

void Watch::unset_use(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc,
                      unsigned lane, bool address) {
  result::Finding* const found = checker_.findings().add("init.register", {&f, pc});
  if (found == nullptr) return;
  found->message = address ? "an address is computed from a variable that was not set"
                           : "a decision depends on a variable that was not set";
  found->accesses.push_back(
      checker_.access_of(f, pc, id_, b.races.block, w.ctx.warp * exec::warp_size + lane, "use of the value"));
  found->hint = "set it on every way that leads here; the register holds whatever was there";
}

namespace {

// What is not set, in the words of one warp: a lane's register or predicate, or what is made of it.
class Unset {
 public:
  Unset(WatchedWarp& watched, exec::Warp& w, const exec::XInst& x, std::uint32_t lanes)
      : watched_(watched), w_(w), x_(x), lanes_(lanes) {}

  std::uint32_t* at(const ptx::Operand& o) {
    if (o.kind == ptx::OperandKind::reg) return &watched_.unset[w_.frame().row + o.index];
    if (o.kind == ptx::OperandKind::pred) return &watched_.unset_preds[o.index];
    return nullptr;
  }
  std::uint32_t of(const ptx::Operand& o) {
    const std::uint32_t* const there = at(o);
    return there == nullptr ? 0 : *there & lanes_;
  }
  // The sources from which the result is made. Of `and` and `or` the other side may decide alone.
  std::uint32_t made() {
    const ptx::Inst& inst = *x_.inst;
    const bool joins = inst.type == ptx::Type::pred && inst.src_count == 2 &&
                       (inst.op == ptx::Op::and_ || inst.op == ptx::Op::or_);
    if (joins) {
      const std::uint32_t a = of(inst.src[0]), b = of(inst.src[1]);
      const std::uint32_t flip = inst.op == ptx::Op::or_ ? ~0u : 0;
      const std::uint32_t open_a = a | (w_.ctx.pred(x_.psrc[0]) ^ flip),
                          open_b = b | (w_.ctx.pred(x_.psrc[1]) ^ flip);
      return (a & open_b) | (b & open_a);
    }
    std::uint32_t out = 0;
    for (unsigned i = 0; i < inst.src_count; ++i) out |= of(inst.src[i]) & Watch::lanes_that_read(w_, x_, i);
    if (inst.op != ptx::Op::setp || inst.mods.bool_op == ptx::BoolOp::none || inst.src_count < 3) return out;
    // The comparison is joined with a predicate, which may decide alone.
    const std::uint32_t joined = of(inst.src[2]), value = w_.ctx.pred(x_.psrc[0]);
    if (inst.mods.bool_op == ptx::BoolOp::and_) return joined | (out & (joined | value));
    if (inst.mods.bool_op == ptx::BoolOp::or_) return joined | (out & (joined | ~value));
    return out;
  }

 private:
  WatchedWarp& watched_;
  exec::Warp& w_;
  const exec::XInst& x_;
  std::uint32_t lanes_;
};

}  // namespace

// Before the lanes execute an instruction of a kernel that has such registers.
void Watch::use_unset(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f,
                      std::uint32_t pc, std::uint32_t lanes) {
  const ptx::Inst& inst = *x.inst;
  Unset unset(b.warps[w.ctx.warp], w, x, lanes);
  const auto report = [&](const ptx::Operand& o, std::uint32_t some, bool address) {
    std::uint32_t* const there = unset.at(o);
    if (there == nullptr || (*there & some) == 0) return;
    unset_use(b, w, f, pc, static_cast<unsigned>(__builtin_ctz(*there & some)), address);
    *there &= ~some;
  };
  report(inst.guard, w.active, false);
  const bool memory = touches_memory(inst.op);
  for (unsigned i = 0; i < inst.src_count; ++i) {
    const bool address = memory && (i == 0 || inst.op == ptx::Op::cp_async);
    if (address || decides(inst.op)) report(inst.src[i], lanes, address);
  }
  // What memory gives is looked at there.
  const std::uint32_t made = memory ? 0 : unset.made();
  for (unsigned i = 0; i < inst.dst_count; ++i)
    if (std::uint32_t* const there = unset.at(inst.dst[i])) *there = (*there & ~lanes) | made;
  if (inst.op != ptx::Op::call || inst.target >= f.function->call_sites.size()) return;
  for (const ptx::CallArg& value : f.function->call_sites[inst.target].returns)
    if (std::uint32_t* const there = unset.at(value.reg)) *there &= ~lanes;
}

}  // namespace simtlab::check
