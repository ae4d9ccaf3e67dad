#include "exec/spin_loop.h"

#include <algorithm>
#include <cstring>

namespace simtlab::exec {
namespace {

std::uint32_t rows_of(const ptx::Operand& operand) { return std::max(1u, operand.bytes / 4u); }

// Its operands decide, whatever becomes of its result: where it goes, what it touches, what it stores.
bool decides(const XInst& x) { return (x.kind & kind_mask) != kind_plain; }

// Of machine code that is more than one operation; null: it is one.
const MachineStep* step_of(const XInst& x) {
  return (x.kind & kind_mask) == kind_flow || runs_operations(x.fn) ? x.machine : nullptr;
}

std::span<const XInst> operations_of(const XInst& x) {
  const MachineStep* const step = step_of(x);
  return step == nullptr ? std::span<const XInst>() : std::span(step->operations, step->count);
}

}  // namespace

void WayRound::begin(const Warp& w, std::uint32_t temporary) {
  code_ = w.code;
  temporary_ = temporary;
  frame_ = w.frame_depth;
  understood_ = true;
  closed_ = false;
  met_.clear();
  instructions_.clear();
}

void WayRound::add(const XInst& x, const Warp& w) {
  const std::uint16_t kind = x.kind & kind_mask;
  if (w.code != code_ || w.frame_depth != frame_ || kind == kind_call || kind == kind_return ||
      x.inst->mods.cc_in || x.inst->mods.cc_out)
    understood_ = false;
  if (!understood_ || !mark(met_, static_cast<std::uint32_t>(&x - code_))) return;
  instructions_.push_back(&x);
  closed_ = false;
}

bool WayRound::mark(Marks& marks, std::uint32_t index) {
  if (index >= marks.size()) marks.resize(index + 1);
  if (marks[index]) return false;
  marks[index] = true;
  return true;
}

bool WayRound::mark_operand(const ptx::Operand& operand) {
  if (operand.kind == ptx::OperandKind::pred) return mark(preds_, operand.index);
  bool any = false;
  if (operand.kind == ptx::OperandKind::reg)
    for (std::uint32_t row = operand.index; row < operand.index + rows_of(operand); ++row)
      if (row < temporary_) any = mark(rows_, row) || any;
  return any;
}

bool WayRound::mark_sources(const ptx::Inst& inst) {
  bool any = mark_operand(inst.guard);
  for (const ptx::Operand& source : std::span(inst.src).first(inst.src_count))
    any = mark_operand(source) || any;
  return any;
}

bool WayRound::mark_all(const XInst& x) {
  bool any = mark_sources(*x.inst);
  for (const XInst& part : operations_of(x)) any = mark_sources(*part.inst) || any;
  if (const MachineStep* const step = step_of(x)) {
    any = mark_operand(step->action->operand) || any;
    any = mark_operand(step->action->condition) || any;
  }
  if ((x.kind & flag_guarded) != 0) any = mark(preds_, x.guard / 2u) || any;
  return any;
}

bool WayRound::touches(const ptx::Operand& operand) const {
  const auto marked = [](const Marks& marks, std::uint32_t index) {
    return index < marks.size() && marks[index];
  };
  if (operand.kind == ptx::OperandKind::pred) return marked(preds_, operand.index);
  if (operand.kind != ptx::OperandKind::reg) return false;
  for (std::uint32_t row = operand.index; row < operand.index + rows_of(operand); ++row)
    if (marked(rows_, row)) return true;
  return false;
}

bool WayRound::touches(const XInst& x) const {
  const auto results_of = [&](const ptx::Inst& inst) {
    return std::ranges::any_of(std::span(inst.dst).first(inst.dst_count),
                               [&](const ptx::Operand& d) { return touches(d); });
  };
  const MachineStep* const step = step_of(x);
  return results_of(*x.inst) || (step != nullptr && touches(step->action->result)) ||
         std::ranges::any_of(operations_of(x), [&](const XInst& part) { return results_of(*part.inst); });
}

// What an instruction reads that writes something that decides decides, too.
void WayRound::close() {
  closed_ = true;
  rows_.clear();
  preds_.clear();
  for (bool more = true; more;) {
    more = false;
    for (const XInst* const x : instructions_)
      if (decides(*x) || touches(*x)) more = mark_all(*x) || more;
  }
}

bool WayRound::same_decisions(const Warp& w, const std::byte* rows, const std::uint32_t* preds) {
  if (!understood_) return false;
  if (!closed_) close();
  const std::byte* const now = w.ctx.bases[0];
  for (std::uint32_t row = 0; row < rows_.size(); ++row)
    if (rows_[row] &&
        std::memcmp(now + std::size_t{row} * row_bytes, rows + std::size_t{row} * row_bytes, row_bytes) != 0)
      return false;
  for (std::uint32_t pred = 0; pred < preds_.size(); ++pred)
    if (preds_[pred] && w.ctx.preds[pred] != preds[pred]) return false;
  return true;
}

}  // namespace simtlab::exec
