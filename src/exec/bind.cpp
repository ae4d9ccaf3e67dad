// Binds decoded instructions to handlers and operands to rows.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "exec/state.h"
#include "machine/launch_state.h"
#include "ptx/machine_ops.h"
#include "ptx/special.h"

namespace simtlab::exec {
namespace {

using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Special;

constexpr RowRef constant_base = 1, special_base = 2, scratch = 3;

// Handlers that exist once, and instructions that need none: fences and hints change nothing where memory is
// in order.
Handler common_handler(const Inst& inst) {
  switch (inst.op) {
    case Op::nop:
    case Op::membar:
    case Op::fence:
    case Op::nanosleep:
    case Op::pmevent:
    case Op::setmaxnreg:
    case Op::griddepcontrol:
    case Op::cp_async_commit:
    case Op::cp_async_wait:
    case Op::applypriority:
    case Op::discard:
    case Op::createpolicy:
    case Op::bar_warp: return handle_nothing;
    case Op::cp_async: return inst.mods.copy_bytes == 0 ? handle_bulk_copy : nullptr;
    case Op::broadcast: return handle_broadcast;
    case Op::trap:
    case Op::brkpt: return handle_trap;
    case Op::vprintf: return handle_print;
    case Op::assertfail: return handle_assert;
    case Op::heap_alloc: return handle_heap_alloc;
    case Op::heap_free: return handle_heap_free;
    default: return nullptr;
  }
}

bool is_convergent(Op op) {
  switch (op) {
    case Op::bar:
    case Op::bar_warp:
    case Op::barrier_cluster:
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::activemask:
    case Op::elect: return true;
    default: return false;
  }
}

bool is_memory(Op op) {
  switch (op) {
    case Op::ld:
    case Op::ldu:
    case Op::st:
    case Op::atom:
    case Op::red:
    case Op::cp_async:
    case Op::prefetch:
    case Op::prefetchu:
    case Op::tex: return true;
    default: return false;
  }
}

bool is_address(const Inst& inst, unsigned source) {
  return is_memory(inst.op) && inst.op != Op::tex &&
         (source == 0 || (inst.op == Op::cp_async && source == 1));
}

// Would destination i be a predicate if it were wanted? Asked for sinks.
bool predicate_position(const Inst& inst, unsigned i) {
  switch (inst.op) {
    case Op::setp:
    case Op::testp:
    case Op::isspacep: return true;
    case Op::vote: return inst.mods.vote != ptx::VoteMode::ballot;
    case Op::shfl:
    case Op::match:
    case Op::elect: return i == 1;
    case Op::iadd3:
    case Op::lea: return i > 0;
    case Op::imad_wide: return i > 1;
    case Op::setp_ex: return true;
    default: return inst.type == ptx::Type::pred;
  }
}

class Binder {
 public:
  Binder(LoadedModule::Impl& module, const ptx::Function& function) : module_(module), function_(function) {
    rows_.resize(row_bytes);  // offset 0 means "no list", so a row that nobody refers to begins
  }

  BoundFunction bind(std::vector<Diagnostic>& problems) {
    BoundFunction out;
    out.function = &function_;
    if (function_.code.empty()) return out;  // declared only
    specials_ = function_.machine ? &out.specials : &module_.specials;
    if (function_.machine) {
      bind_machine(out, problems);
    } else {
      bind_ptx(out, problems);
    }
    const std::size_t lists_at = rows_.size();
    out.constant_bytes = lists_at + lists_.size() * sizeof(RowRef);
    out.launch_rows = std::move(launch_rows_);
    out.constants = AlignedBytes(out.constant_bytes);
    std::memcpy(out.constants.data(), rows_.data(), rows_.size());
    if (!lists_.empty())
      std::memcpy(out.constants.data() + lists_at, lists_.data(), lists_.size() * sizeof(RowRef));
    for (std::vector<XInst>* code : {&out.code, &out.operations})
      for (XInst& x : *code)
        if (x.list != 0) x.list = static_cast<std::uint32_t>(lists_at + (x.list - 1) * sizeof(RowRef));
    return out;
  }

 private:
  void bind_ptx(BoundFunction& out, std::vector<Diagnostic>& problems) {
    out.code.reserve(function_.code.size() + 1);
    for (const Inst& inst : function_.code) out.code.push_back(bind_inst(inst, problems));
    mark_joins(out.code);
    // A guard on the last instruction lets lanes run past it: the function ends there.
    XInst end;
    end.inst = &function_.code.back();
    end.kind = function_.is_entry ? kind_exit : kind_return;
    out.code.push_back(end);
    for (const ptx::CallSite& site : function_.call_sites) out.calls.push_back(bind_call(site));
  }

  void bind_machine(BoundFunction& out, std::vector<Diagnostic>& problems) {
    const machine::Code& code = *function_.machine;
    out.operations.reserve(code.operations.size());  // they are pointed to
    for (const Inst& inst : code.operations) out.operations.push_back(bind_inst(inst, problems));
    out.steps.reserve(code.actions.size() + 1);
    for (std::size_t i = 0; i < code.actions.size(); ++i)
      out.code.push_back(bind_step(out, code.actions[i], function_.code[i]));
    // Nothing stands behind the last instruction.
    static const machine::Action end = [] {
      machine::Action action;
      action.flow = machine::Flow::trap;
      return action;
    }();
    out.steps.push_back({.action = &end});
    XInst x;
    x.inst = &function_.code.back();
    x.kind = kind_flow;
    x.machine = &out.steps.back();
    out.code.push_back(x);
  }

  XInst bind_step(BoundFunction& out, const machine::Action& action, const Inst& view) {
    const XInst* const first = out.operations.data() + action.first;
    XInst x;
    const bool guarded =
        std::any_of(first, first + action.count, [](const XInst& o) { return (o.kind & flag_guarded) != 0; });
    const bool alone = action.count == 1 && action.flow == machine::Flow::next && !action.uniform && !guarded;
    if (alone) {
      x = *first;
    } else {
      out.steps.push_back({first, action.count, action.memory, &action});
      x.inst = &view;
      x.machine = &out.steps.back();
      x.kind = kind_plain;
      x.fn = action.count == 0 ? handle_nothing
             : action.uniform  ? run_uniform
             : guarded         ? run_guarded
                               : run_operations;
      if (action.memory != machine::no_operation) x.kind = kind_memory;
      for (std::uint32_t i = 0; i < action.count; ++i)
        if ((first[i].kind & kind_mask) == kind_timed) x.kind = kind_timed;
      if (action.flow != machine::Flow::next) bind_flow(action, view, x);
    }
    constexpr unsigned slot_bits = (bounds_slots - 1) << bounds_slot_shift;
    x.kind = static_cast<std::uint16_t>(x.kind & (kind_mask | slot_bits));
    if (view.guard.kind != OperandKind::none) {
      x.guard = predicate(view.guard);
      x.kind |= flag_guarded;
    }
    return x;
  }

  void bind_flow(const machine::Action& action, const Inst& view, XInst& x) {
    x.kind = kind_flow;
    if (action.flow == machine::Flow::block_barrier) {
      bind_sources(view, x);
      bind_destinations(view, x);
    }
    if (action.condition.kind != OperandKind::none) x.psrc[1] = predicate(action.condition);
    if (action.operand.kind != OperandKind::none) x.src[0] = row(action.operand);
    if (action.result.kind != OperandKind::none) x.dst = row(action.result);
  }

  // How a row of an operand holds 64 bits; words: it has 32 of them.
  enum class Form : std::uint8_t { words, values, halves };

  RowRef constant_row(std::uint32_t index, Form form) {
    const auto [it, fresh] =
        constant_rows_.try_emplace({index, form}, static_cast<RowRef>(rows_.size()) | constant_base);
    if (!fresh) return it->second;
    const ptx::Constant& constant = function_.constants.at(index);
    const std::uint64_t value = constant_value(module_, constant);
    const bool wide = form != Form::words, halves = form == Form::halves;
    const std::size_t at = rows_.size();
    if (constant.kind == ptx::Constant::Kind::launch_state)
      launch_rows_.push_back(
          {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(constant.value), wide, halves});
    rows_.resize(at + (wide ? 2 : 1) * row_bytes);
    fill_row(rows_.data() + at, value, wide, halves);
    return it->second;
  }

  RowRef row(const Operand& operand, Form form) {
    switch (operand.kind) {
      case OperandKind::reg: return operand.index * row_bytes;
      case OperandKind::imm: return constant_row(operand.index, form);
      case OperandKind::special: {
        return specials_->row(static_cast<Special>(operand.index), form != Form::words) | special_base;
      }
      default: return scratch;
    }
  }
  RowRef row(const Operand& operand) { return row(operand, form_of(operand.bytes)); }
  static Form form_of(unsigned bytes) { return bytes == 8 ? Form::values : Form::words; }

  // Two scratch predicates lie behind the frame's own: one to write to, one that is always false.
  PredRef predicate(const Operand& operand) const {
    std::uint32_t index = operand.index;
    bool negated = operand.negated;
    if (operand.kind == OperandKind::imm) {
      negated ^= constant_value(module_, function_.constants.at(operand.index)) != 0;
      index = function_.pred_count + 1;
    } else if (operand.kind != OperandKind::pred) {
      index = function_.pred_count;
    }
    return static_cast<PredRef>(index * 2 + (negated ? 1 : 0));
  }

  std::uint16_t kind_of(const Inst& inst) const {
    switch (inst.op) {
      case Op::bra: return kind_branch;
      case Op::brx: return kind_branch_table;
      case Op::call: return kind_call;
      case Op::ret: return function_.is_entry ? kind_exit : kind_return;
      case Op::exit: return kind_exit;
      case Op::bar:
      case Op::barrier_cluster: return kind_barrier;
      default: break;
    }
    if (is_memory(inst.op)) return kind_memory;
    return reads_clock(inst) ? kind_timed : kind_plain;
  }

  XInst bind_inst(const Inst& inst, std::vector<Diagnostic>& problems) {
    XInst x;
    x.inst = &inst;
    x.imm = inst.imm_offset;
    x.kind = kind_of(inst);
    if (inst.guard.kind != OperandKind::none) {
      x.guard = predicate(inst.guard);
      x.kind |= flag_guarded;
    }
    bind_destinations(inst, x);
    bind_sources(inst, x);
    bind_list(inst, x);
    const std::uint16_t kind = x.kind & kind_mask;
    if (kind == kind_memory) {
      x.kind = static_cast<std::uint16_t>(x.kind | bounds_slot_ << bounds_slot_shift);
      bounds_slot_ = (bounds_slot_ + 1) % bounds_slots;
    }
    if (kind == kind_plain || kind == kind_memory || kind == kind_timed) {
      x.fn = common_handler(inst);
      if (x.fn == nullptr) x.fn = select_handler(module_.isa, inst);
      if (x.fn == nullptr) {
        problems.push_back(diagnose(*module_.module, function_, inst,
                                    fmt::format("{} in this form is not supported", ptx::name_of(inst.op))));
      }
    }
    return x;
  }

  void bind_destinations(const Inst& inst, XInst& x) {
    unsigned rows = 0, preds = 0;
    for (unsigned i = 0; i < inst.dst_count; ++i) {
      const Operand& o = inst.dst[i];
      if (o.kind == OperandKind::pred || (o.kind != OperandKind::reg && predicate_position(inst, i))) {
        (preds++ == 0 ? x.pdst : x.pdst2) = predicate(o);
      } else {
        (rows == 0 ? x.dst : x.dst2) = rows < 2 ? row(o) : x.dst2;
        ++rows;
      }
    }
    if (rows == 0) x.dst = scratch;
    if (rows < 2) x.dst2 = scratch;
  }

  void bind_sources(const Inst& inst, XInst& x) {
    unsigned rows = 0, preds = 0;
    for (unsigned i = 0; i < inst.src_count; ++i) {
      const Operand& o = inst.src[i];
      // Immediates of barriers and votes are numbers, counts, masks.
      const bool numbers = inst.op == Op::bar || inst.op == Op::vote;
      const bool immediate_predicate = o.kind == OperandKind::imm && inst.type == ptx::Type::pred && !numbers;
      if (o.kind == OperandKind::pred || immediate_predicate) {
        if (preds < 2) x.psrc[preds++] = predicate(o);
      } else if (rows < 4) {
        x.src[rows++] = source_row(inst, i);
      }
    }
    for (; rows < 4; ++rows) x.src[rows] = scratch;
  }

  RowRef source_row(const Inst& inst, unsigned i) {
    const Operand& o = inst.src[i];
    if (inst.type == ptx::Type::f64 && (inst.mods.video & ptx::f64_in_halves) != 0)
      return row(o, Form::halves);
    if (is_address(inst, i) && o.kind == OperandKind::imm) return row(o, Form::values);
    if (inst.op == Op::st && o.kind != OperandKind::reg) return row(o, form_of(store_width(inst)));
    return row(o);
  }

  // Values of one st have rows of one width, immediates included.
  static unsigned store_width(const Inst& inst) {
    unsigned width = 0;
    for (unsigned i = 1; i < inst.src_count; ++i) width = std::max<unsigned>(width, inst.src[i].bytes);
    return width;
  }

  void push_list(const Operand& o, RowRef ref) {
    lists_.push_back(ref);
    if (o.bytes == 16) lists_.push_back(o.kind == OperandKind::reg ? ref + 2 * row_bytes : ref);
  }

  void bind_list(const Inst& inst, XInst& x) {
    const bool values = inst.op == Op::ld || inst.op == Op::ldu || inst.op == Op::st;
    const bool needed = values ? inst.mods.vector > 1 || inst.type == ptx::Type::b128
                               : inst.dst_count > 2 || inst.src_count > 4;
    if (!needed) return;
    x.list = static_cast<std::uint32_t>(lists_.size()) + 1;  // made an offset when all rows are known
    for (unsigned i = 0; i < inst.dst_count; ++i) {
      if (values) {
        push_list(inst.dst[i], row(inst.dst[i]));
      } else {
        lists_.push_back(row(inst.dst[i]));
      }
    }
    for (unsigned i = values ? 1 : 0; i < inst.src_count; ++i) {
      if (values && inst.op != Op::st) break;
      if (values) {
        push_list(inst.src[i], source_row(inst, i));
      } else {
        lists_.push_back(source_row(inst, i));
      }
    }
  }

  void mark_joins(std::vector<XInst>& code) const {
    for (const Inst& inst : function_.code) {
      if (inst.reconverge < code.size()) code[inst.reconverge].kind |= flag_join;
    }
  }

  std::vector<BoundArg> bind_args(const std::vector<ptx::CallArg>& args) {
    std::vector<BoundArg> out;
    for (const ptx::CallArg& a : args) {
      BoundArg b{a.reg.kind != OperandKind::none, a.reg.bytes, 0, a.caller_offset, a.callee_offset, a.bytes};
      if (b.in_register) b.row = row(a.reg);
      out.push_back(b);
    }
    return out;
  }

  BoundCall bind_call(const ptx::CallSite& site) {
    BoundCall call;
    call.indirect = site.indirect;
    call.function = site.function;
    call.candidates = site.candidates;
    if (site.indirect) {
      call.pointer = row(site.pointer);
      call.pointer_bytes = site.pointer.bytes;
    }
    call.args = bind_args(site.args);
    call.returns = bind_args(site.returns);
    return call;
  }

  LoadedModule::Impl& module_;
  const ptx::Function& function_;
  SpecialRows* specials_ = nullptr;
  unsigned bounds_slot_ = 0;  // of the next memory instruction
  std::vector<std::byte> rows_;
  std::vector<RowRef> lists_;
  std::vector<LaunchRow> launch_rows_;
  std::map<std::pair<std::uint32_t, Form>, RowRef> constant_rows_;
};

}  // namespace

void fill_row(std::byte* row, std::uint64_t value, bool wide, bool halves) {
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if (wide && !halves) {
      std::memcpy(row + lane * 8, &value, 8);
      continue;
    }
    const auto low = static_cast<std::uint32_t>(value), high = static_cast<std::uint32_t>(value >> 32);
    std::memcpy(row + lane * 4, &low, 4);
    if (halves) std::memcpy(row + row_bytes + lane * 4, &high, 4);
  }
}

BoundFunction bind_function(LoadedModule::Impl& module, const ptx::Function& function,
                            std::vector<Diagnostic>& problems) {
  BoundFunction bound = Binder(module, function).bind(problems);
  bound.convergent =
      std::ranges::any_of(function.code, [](const ptx::Inst& inst) { return is_convergent(inst.op); });
  bound.fetches = std::ranges::any_of(function.code, [](const ptx::Inst& inst) {
    return inst.op == Op::atom && inst.mods.space != ptx::Space::shared;
  });
  return bound;
}

// Up to 8 bytes: those of 32 bits may be the last ones.
static std::uint64_t held_by(const LoadedModule::Impl& module, const ptx::Constant& constant) {
  const std::uint64_t address = module.addresses.at(constant.symbol & ~machine::held_value) + constant.value;
  std::uint64_t value = 0;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4}})
    if (module.memory->read(address, {reinterpret_cast<std::byte*>(&value), bytes})) break;
  return value;
}

std::uint64_t constant_value(const LoadedModule::Impl& module, const ptx::Constant& constant) {
  switch (constant.kind) {
    case ptx::Constant::Kind::value: return constant.value;
    case ptx::Constant::Kind::global_symbol:
      if ((constant.symbol & machine::held_value) != 0) return held_by(module, constant);
      return (module.addresses.at(constant.symbol & ~machine::upper_half) + constant.value) >>
             ((constant.symbol & machine::upper_half) != 0 ? 32 : 0);
    case ptx::Constant::Kind::function: return ptx::function_handles + 16ull * constant.symbol;
    case ptx::Constant::Kind::launch_state: break;
  }
  return 0;
}

}  // namespace simtlab::exec
