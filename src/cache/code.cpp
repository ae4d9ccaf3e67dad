#include "cache/code.h"

#include <algorithm>

#include "memory/l1_rules.h"

namespace simtlab::cache {
namespace {

using ptx::OpClass;

Access access_of(const ptx::Inst& inst) {
  // Generic accesses are classed by what they can be; the executor says what they are.
  if (!ptx::accesses(inst.op_class, device::Memory::global)) return Access::none;
  switch (device::traits(inst.op_class).access) {
    case device::Access::load:
    case device::Access::copy:
      return inst.op == ptx::Op::cp_async_commit || inst.op == ptx::Op::cp_async_wait ? Access::none
                                                                                      : Access::load;
    case device::Access::store: return Access::store;
    case device::Access::atomic: return Access::atomic;
    case device::Access::none: break;
  }
  return Access::none;
}

}  // namespace

Code::Code(const ptx::Function& function, const device::Device& device)
    : counts(function.code.size()),
      strides(function.code.size()),
      buffers(function.code.size(), none_yet),
      function_(&function) {
  code_.reserve(function.code.size());
  for (const ptx::Inst& inst : function.code) {
    StaticInst s;
    s.rows = static_cast<std::uint32_t>(rows_.size());
    for (unsigned i = 0; i < inst.dst_count; ++i) add_rows(inst.dst[i]);
    s.dst_count = static_cast<std::uint8_t>(rows_.size() - s.rows);
    for (unsigned i = 0; i < inst.src_count; ++i) add_rows(inst.src[i]);
    s.row_count = static_cast<std::uint16_t>(rows_.size() - s.rows);
    s.access = access_of(inst);
    s.cached = memory::looks_into_l1(inst, device);
    s.ends_block = s.changes_status;
    s.asks = inst.op == ptx::Op::ld && inst.mods.order != ptx::MemOrder::weak &&
             ptx::accesses(inst.op_class, device::Memory::shared);
    s.orders = inst.op_class == OpClass::barrier || inst.op_class == OpClass::fence;
    s.changes_status = inst.op_class == OpClass::barrier || inst.op_class == OpClass::control;
    code_.push_back(s);
  }
  const auto leader = [&](std::uint32_t pc) {
    if (pc < code_.size()) code_[pc].ends_block = true;
  };
  for (const ptx::Inst& inst : function.code)
    if (inst.op == ptx::Op::bra) leader(inst.target);
  for (const std::vector<std::uint32_t>& table : function.branch_tables)
    for (const std::uint32_t pc : table) leader(pc);
  rows_.push_back(0);  // so that rows() may point at the end
}

void Code::add_rows(const ptx::Operand& operand) {
  if (operand.kind != ptx::OperandKind::reg) return;
  for (unsigned row = 0; row < std::max(1u, operand.bytes / 4u); ++row)
    rows_.push_back(static_cast<std::uint16_t>(operand.index + row));
}

std::vector<const Code*> Codes::all() const {
  std::vector<const Code*> out;
  for (const auto& [function, code] : codes_) out.push_back(code.get());
  std::ranges::sort(out, [](const Code* a, const Code* b) {
    return a->function().line != b->function().line ? a->function().line < b->function().line
                                                    : a->function().name < b->function().name;
  });
  return out;
}

}  // namespace simtlab::cache
