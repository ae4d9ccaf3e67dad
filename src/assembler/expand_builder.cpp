#include "assembler/expand_builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/opcodes.h"

namespace simtlab::assembler {

using ptx::Inst;
using ptx::Mods;
using ptx::Op;
using ptx::OpClass;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Type;

namespace {

OpClass class_of_operation(Op op, Type type, Type stype, const Mods& mods) {
  using R = ptx::ClassRule;
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::fma:
    case Op::neg:
    case Op::abs:
    case Op::min:
    case Op::max:
    case Op::testp:
    case Op::setp: return ptx::class_of(R::by_type, type, stype, mods);
    case Op::mul:
      return ptx::is_float(type) ? ptx::class_of(R::by_type, type, stype, mods) : OpClass::int_mul;
    case Op::mad: return OpClass::int_mul;
    case Op::rcp: return ptx::class_of(R::float_div, type, stype, mods);
    case Op::sqrt:
    case Op::rsqrt: return ptx::class_of(R::float_sqrt, type, stype, mods);
    case Op::sin:
    case Op::cos:
    case Op::ex2:
    case Op::lg2:
    case Op::tanh: return OpClass::sfu;
    case Op::popc:
    case Op::clz:
    case Op::bfind:
    case Op::brev:
    case Op::szext:
    case Op::bmsk:
    case Op::prmt: return OpClass::bit;
    case Op::cvt: return ptx::class_of(R::convert, type, stype, mods);
    case Op::ld: return ptx::class_of(R::load, type, stype, mods);
    case Op::atom:
    case Op::red: return ptx::class_of(R::atomic, type, stype, mods);
    case Op::bra: return OpClass::control;
    default: return OpClass::int_alu;
  }
}

Type bits_of(unsigned bytes) { return bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64; }

Type result_type(Op op, Type type, const Mods& mods) {
  switch (op) {
    case Op::setp:
    case Op::testp: return Type::pred;
    case Op::popc:
    case Op::clz:
    case Op::bfind: return Type::b32;
    case Op::mul:
    case Op::mad:
      if (mods.mul == ptx::MulMode::wide) return bits_of(2 * ptx::size_of(type));
      return type;
    default: return type;
  }
}

}  // namespace

Expansion::Expansion(ptx::VirtualFunction& function, unsigned generation)
    : function_(function), generation_(generation) {
  const auto& constants = function.fn.constants;
  for (std::size_t i = 0; i < constants.size(); ++i)
    if (constants[i].kind == ptx::Constant::Kind::value)
      numbers_.emplace(constants[i].value, static_cast<std::uint32_t>(i));
  main_.reserve(function.fn.code.size());
}

void Expansion::start(const Inst& inst, bool carry) {
  at_ = &inst;
  first_ = main_.size();
  first_register_ = static_cast<std::uint32_t>(function_.registers.size());
  carry_in_use_ = carry;
}

namespace {
std::uint64_t key_of_registers(const Operand& a, const Operand& b) {
  return std::uint64_t{std::min(a.index, b.index)} << 32 | std::max(a.index, b.index);
}
}  // namespace

void Expansion::find_joined(const std::vector<Inst>& code) {
  for (const Inst& inst : code)
    if (inst.op == Op::or_ && inst.type != Type::pred && ptx::size_of(inst.type) == 8 &&
        inst.src[0].kind == OperandKind::reg && inst.src[1].kind == OperandKind::reg)
      joined_.insert(key_of_registers(inst.src[0], inst.src[1]));
}
bool Expansion::are_joined(const Operand& a, const Operand& b) const {
  return a.kind == OperandKind::reg && b.kind == OperandKind::reg && joined_.contains(key_of_registers(a, b));
}

void Expansion::refuse(std::string why) {
  if (why_.empty()) why_ = std::move(why);
}

Operand Expansion::number(std::uint64_t value, unsigned bytes) {
  if (bytes < 8) value &= (std::uint64_t{1} << bytes * 8) - 1;
  auto& constants = function_.fn.constants;
  const auto [it, fresh] = numbers_.try_emplace(value, static_cast<std::uint32_t>(constants.size()));
  if (fresh) {
    ptx::Constant c;
    c.value = value;
    constants.push_back(c);
  }
  return {.kind = OperandKind::imm, .bytes = static_cast<std::uint8_t>(bytes), .index = it->second};
}

Operand Expansion::single(float value) { return number(std::bit_cast<std::uint32_t>(value)); }
Operand Expansion::real(double value) { return number(std::bit_cast<std::uint64_t>(value), 8); }

Operand Expansion::make(Type type) {
  Operand o;
  o.kind = type == Type::pred ? OperandKind::pred : OperandKind::reg;
  o.bytes = static_cast<std::uint8_t>(ptx::size_of(type));
  o.index = static_cast<std::uint32_t>(function_.registers.size());
  function_.registers.push_back(type);
  return o;
}

bool Expansion::known(const Operand& o) const {
  return is_number(o) && function_.fn.constants[o.index].kind == ptx::Constant::Kind::value;
}

std::uint64_t Expansion::value(const Operand& o) const {
  const std::uint64_t v = function_.fn.constants[o.index].value;
  return o.bytes >= 8 || o.bytes == 0 ? v : v & ((std::uint64_t{1} << o.bytes * 8) - 1);
}

Operand Expansion::in_register(const Operand& o) {
  return o.kind == OperandKind::reg ? o : op(Op::mov, bits_of(o.bytes), {o});
}

Operand Expansion::op(Op operation, Type type, Sources sources, const Mods& mods, Type stype) {
  const Operand out = make(result_type(operation, type, mods));
  to(out, operation, type, sources, mods, stype);
  return out;
}

Inst& Expansion::to(const Operand& result, Op operation, Type type, Sources sources, const Mods& mods,
                    Type stype) {
  Inst inst;
  inst.op = operation;
  inst.type = type;
  inst.stype = stype;
  inst.mods = mods;
  inst.op_class = class_of_operation(operation, type, stype, mods);
  inst.line = at_->line, inst.column = at_->column, inst.file = at_->file,
  inst.source_line = at_->source_line;
  if (result.kind != OperandKind::none) inst.dst[inst.dst_count++] = result;
  for (const Operand& o : sources) inst.src[inst.src_count++] = o;
  stream_->push_back(inst);
  return stream_->back();
}

void Expansion::to_if(const Operand& guard, const Operand& result, Op operation, Type type, Sources sources,
                      const Mods& mods, Type stype) {
  to(result, operation, type, sources, mods, stype).guard = guard;
}

void Expansion::give(Op operation, Type type, Sources sources, const Mods& mods, Type stype) {
  if (operation == Op::mov && sources.size() == 1 && redirect(*sources.begin())) return;
  to(at_->dst[0], operation, type, sources, mods, stype).guard = at_->guard;
}

// In place of a move: the instruction before, if it is what made the value, writes the result.
bool Expansion::redirect(const Operand& value) {
  if (stream_->size() <= first_ || stream_ == &rare_ || at_->dst[0].bytes != value.bytes) return false;
  Inst& last = stream_->back();
  const bool is_new = value.kind == OperandKind::reg && value.index >= first_register_;
  if (!is_new || last.dst_count != 1 || last.dst[0] != value || last.guard.kind != OperandKind::none)
    return false;
  last.dst[0] = at_->dst[0];
  last.guard = at_->guard;
  return true;
}

Operand Expansion::result() {
  const Operand& d = at_->dst[0];
  bool direct = d.kind == OperandKind::reg && at_->guard.kind == OperandKind::none;
  for (std::size_t i = 0; direct && i < at_->src_count; ++i)
    direct = at_->src[i].kind != OperandKind::reg || at_->src[i].index != d.index;
  if (direct) return d;
  return make(d.kind == OperandKind::reg ? function_.registers[d.index]
                                         : bits_of(d.bytes == 0 ? 4 : d.bytes));
}

void Expansion::finish(const Operand& result) {
  const Operand& d = at_->dst[0];
  if (d.kind != OperandKind::reg || d.index == result.index) return;
  give(Op::mov, bits_of(result.bytes), {result});
}

Operand Expansion::low_product(Type type, const Operand& a, const Operand& b) {
  Mods m;
  m.mul = ptx::MulMode::lo;
  return op(Op::mul, type, {a, b}, m);
}
Operand Expansion::high_product(Type type, const Operand& a, const Operand& b) {
  Mods m;
  m.mul = ptx::MulMode::hi;
  return op(Op::mul, type, {a, b}, m);
}
Operand Expansion::wide_product(Type type, const Operand& a, const Operand& b) {
  Mods m;
  m.mul = ptx::MulMode::wide;
  return op(Op::mul, type, {a, b}, m);
}
Operand Expansion::logic(Op operation, const Operand& a, const Operand& b, unsigned bytes) {
  return op(operation, bits_of(bytes), {a, b});
}
Operand Expansion::shift_left(const Operand& a, const Operand& by, unsigned bytes) {
  return op(Op::shl, bits_of(bytes), {a, by});
}
Operand Expansion::shift_right(Type type, const Operand& a, const Operand& by) {
  return op(Op::shr, type, {a, by});
}

Operand Expansion::compare(ptx::Compare compare, Type type, const Operand& a, const Operand& b) {
  Mods m;
  m.compare = compare;
  return op(Op::setp, type, {a, b}, m);
}
Operand Expansion::compare(ptx::Compare compare, Type type, const Operand& a, const Operand& b,
                           ptx::BoolOp with, const Operand& predicate) {
  Mods m;
  m.compare = compare;
  m.bool_op = with;
  return op(Op::setp, type, {a, b, predicate}, m);
}

Operand Expansion::select(Type type, const Operand& yes, const Operand& no, const Operand& predicate) {
  return op(Op::selp, type, {yes, no, predicate});
}

Operand Expansion::convert(Type to, Type from, const Operand& a, ptx::Rounding rounding, bool ftz) {
  Mods m;
  m.rounding = rounding;
  m.ftz = ftz;
  return op(Op::cvt, to, {a}, m, from);
}

Operand Expansion::low(const Operand& wide) {
  if (known(wide)) return number(value(wide) & 0xffffffffu);
  const Operand out = make(Type::b32);
  Inst& inst = to(out, Op::mov, Type::b64, {in_register(wide)});
  inst.dst[1] = {.kind = OperandKind::sink, .bytes = 4};
  inst.dst_count = 2;
  return out;
}

Operand Expansion::high(const Operand& wide) {
  if (known(wide)) return number(value(wide) >> 32);
  const Operand out = make(Type::b32);
  Inst& inst = to({.kind = OperandKind::sink, .bytes = 4}, Op::mov, Type::b64, {in_register(wide)});
  inst.dst[inst.dst_count++] = out;
  return out;
}

Operand Expansion::pair(const Operand& low, const Operand& high) {
  if (known(low) && known(high)) return number(value(low) | value(high) << 32, 8);
  return op(Op::mov, Type::b64, {low, high});
}

Operand Expansion::fma(Type type, const Operand& a, const Operand& b, const Operand& c,
                       ptx::Rounding rounding) {
  Mods m;
  m.rounding = rounding;
  return op(Op::fma, type, {a, b, c}, m);
}

Operand Expansion::approximate(Op operation, Type type, const Operand& a) {
  Mods m;
  m.approx = true;
  m.ftz = true;
  return op(operation, type, {a}, m);
}

void Expansion::keep_carry() {
  if (!carry_in_use_) return;
  Mods m;
  m.cc_in = true;
  carry_ = op(Op::addc, Type::u32, {number(0), number(0)}, m);
}

void Expansion::give_carry() {
  if (!carry_in_use_) return;
  Mods m;
  m.cc_out = true;
  op(Op::add, Type::u32, {carry_, number(0xffffffffu)}, m);
}

Expansion::Label Expansion::label() {
  labels_.push_back({});
  return static_cast<Label>(labels_.size() - 1);
}
void Expansion::bind(Label label) {
  labels_[label] = here();
  if (stream_ == &main_) first_ = main_.size();
}

void Expansion::jump(const Operand& guard, Label label) {
  jumps_.push_back({here(), label});
  to({}, Op::bra, Type::none, {}).guard = guard;
}
void Expansion::branch(Label label) { jump({}, label); }
void Expansion::branch_if(const Operand& predicate, Label label) { jump(predicate, label); }

void Expansion::branch_where(const Operand& predicate, Label label) {
  if (at_->guard.kind == OperandKind::none) return jump(predicate, label);
  jump(op(Op::and_, Type::pred, {predicate, at_->guard}), label);
}

std::vector<Inst> Expansion::finished(const std::vector<std::uint32_t>& new_place) {
  const auto first_rare = static_cast<std::uint32_t>(main_.size());
  const auto flat = [&](const Place& p) { return p.rare ? first_rare + p.index : p.index; };
  std::vector<Inst> code = std::move(main_);
  code.insert(code.end(), rare_.begin(), rare_.end());
  std::vector<bool> is_new(code.size(), false);
  for (const Jump& jump : jumps_) {
    code[flat(jump.from)].target = flat(labels_[jump.label]);
    is_new[flat(jump.from)] = true;
  }
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    Inst& inst = code[pc];
    inst.reconverge = ptx::no_pc;
    if (inst.op == Op::bra && !is_new[pc]) inst.target = new_place[inst.target];
  }
  for (auto& table : function_.fn.branch_tables)
    for (std::uint32_t& target : table) target = new_place[target];
  return code;
}

}  // namespace simtlab::assembler
