// Operands: registers of the right width, constants as raw bits, predicates.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/decode.h"
#include "ptx/special.h"

namespace simtlab::ptx {
namespace {

std::uint64_t mask_of(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (bytes * 8)) - 1;
}

}  // namespace

void FunctionDecoder::fail(const AstOperand& o, std::string message, std::string hint) const {
  scope_.source->fail(o.at, "ptx-operand", std::move(message), std::move(hint));
}

void FunctionDecoder::fail_here(std::string message, std::string hint) const {
  scope_.source->fail(current_->at, "ptx-operand", std::move(message), std::move(hint));
}

const AstOperand& FunctionDecoder::child(const AstOperand& o, std::size_t i) const {
  const AstOperand* c = &o + 1;
  for (; i > 0; --i) c += c->span;
  return *c;
}

void FunctionDecoder::expect_count(std::size_t low, std::size_t high) const {
  const std::size_t n = args_.top.size();
  if (n >= low && n <= high) return;
  const std::string wanted = low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
  fail_here(fmt::format("'{}' takes {} operand{}, found {}", current_->opcode.substr(0, 64), wanted,
                        high == 1 ? "" : "s", n));
}

void FunctionDecoder::add_src(Inst& inst, Operand o) const {
  SIMTLAB_ASSERT(inst.src_count < max_src, "an instruction fits its operands");
  inst.src[inst.src_count++] = o;
}

void FunctionDecoder::add_dst(Inst& inst, Operand o) const {
  SIMTLAB_ASSERT(inst.dst_count < max_dst, "an instruction fits its results");
  inst.dst[inst.dst_count++] = o;
}

Operand FunctionDecoder::new_reg(Type type) {
  out_.registers.push_back(type);
  Operand o;
  o.kind = type == Type::pred ? OperandKind::pred : OperandKind::reg;
  o.bytes = static_cast<std::uint8_t>(size_of(type));
  o.index = static_cast<std::uint32_t>(out_.registers.size() - 1);
  return o;
}

// Equal constants share an entry, but never across widths of 4 and 8 bytes: each entry has one row format.
Operand FunctionDecoder::constant_of(Constant c, unsigned bytes) {
  const std::uint64_t key =
      static_cast<std::uint64_t>(c.kind) << 40 | std::uint64_t{bytes > 4} << 32 | c.symbol;
  const auto [it, fresh] =
      constants_.try_emplace({key, c.value}, static_cast<std::uint32_t>(out_.fn.constants.size()));
  if (fresh) out_.fn.constants.push_back(c);
  Operand o;
  o.kind = OperandKind::imm;
  o.bytes = static_cast<std::uint8_t>(bytes);
  o.index = it->second;
  return o;
}

Operand FunctionDecoder::constant(std::uint64_t value, unsigned bytes) {
  Constant c;
  c.value = value & mask_of(bytes);
  return constant_of(c, bytes);
}

Operand FunctionDecoder::shared_address(std::uint32_t variable, std::uint64_t addend, unsigned bytes) {
  // Kind 7 of the key keeps these apart: their value is patched when the layout of shared memory is known.
  const std::uint64_t key = std::uint64_t{7} << 40 | std::uint64_t{bytes > 4} << 32 | variable;
  const auto [it, fresh] =
      constants_.try_emplace({key, addend}, static_cast<std::uint32_t>(out_.fn.constants.size()));
  if (fresh) {
    Constant c;
    c.value = addend;
    out_.fn.constants.push_back(c);
    out_.shared_uses.push_back({it->second, variable});
  }
  Operand o;
  o.kind = OperandKind::imm;
  o.bytes = static_cast<std::uint8_t>(bytes);
  o.index = it->second;
  return o;
}

const VirtualFunction::SharedUse* FunctionDecoder::shared_use(Operand constant) const {
  const auto& uses = out_.shared_uses;  // in order of their constants
  const auto it = std::lower_bound(uses.begin(), uses.end(), constant.index,
                                   [](const auto& use, std::uint32_t index) { return use.constant < index; });
  return it != uses.end() && it->constant == constant.index ? &*it : nullptr;
}

// Raw bits of a constant as a value of the type.
std::uint64_t FunctionDecoder::bits_of(const AstOperand& o, Type type) const {
  const auto raw = static_cast<std::uint64_t>(o.value);
  if (o.kind == Kind::integer) {
    if (type == Type::f32 || type == Type::f64)
      fail(o, fmt::format("integer constant where a value of type .{} is needed", name_of(type)),
           type == Type::f32 ? "write 0fXXXXXXXX or a number with a point"
                             : "write 0dXXXXXXXXXXXXXXXX or a number with a point");
    return raw;
  }
  const bool single = o.kind == Kind::float32;
  const double value = single ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw)))
                              : std::bit_cast<double>(raw);
  if (type == Type::f32 || type == Type::b32)
    return single ? raw : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == Type::f64 || type == Type::b64) return single ? std::bit_cast<std::uint64_t>(value) : raw;
  fail(o, fmt::format("floating-point constant where a value of type .{} is needed", name_of(type)));
}

Operand FunctionDecoder::constant_operand(const AstOperand& o, Type type) {
  return constant(bits_of(o, type), size_of(type));
}

std::uint64_t FunctionDecoder::integer_constant(const AstOperand& o, std::string_view what,
                                                std::uint64_t limit) const {
  if (o.kind != Kind::integer) fail(o, fmt::format("{} must be an integer constant", what));
  const auto value = static_cast<std::uint64_t>(o.value);
  if (value > limit) {
    const std::string written = o.is_unsigned ? fmt::format("{}", value) : fmt::format("{}", o.value);
    fail(o, fmt::format("{} is {}; it must be at most {}", what, written, limit));
  }
  return value;
}

Operand FunctionDecoder::reg_operand(const AstOperand& o, Type type, bool relaxed) {
  const Type reg = out_.registers[o.index];
  if (!o.selector.empty())
    fail(o, fmt::format("'.{}' selects a part of a register; only video instructions do that",
                        o.selector.substr(0, 16)));
  if (o.negated) fail(o, "only predicates can be negated");
  if (reg == Type::pred)
    fail(o, fmt::format("predicate register where a value of type .{} is needed", name_of(type)));
  if (reg == Type::b128) scope_.report(o.at, "128-bit registers are not supported");
  const unsigned have = size_of(reg), want = size_of(type);
  if (relaxed ? have < want : have != want)
    fail(o, fmt::format("register of {} bits where a value of type .{} is needed", have * 8, name_of(type)),
         fmt::format("the register is declared as .{}", name_of(reg)));
  if (!agree(reg, type))
    fail(o,
         fmt::format("register of type .{} where a value of type .{} is needed", name_of(reg), name_of(type)),
         "move the bits with mov.b16, mov.b32 or mov.b64, or convert the value with cvt");
  Operand out;
  out.kind = OperandKind::reg;
  out.bytes = static_cast<std::uint8_t>(have);
  out.index = o.index;
  return out;
}

Operand FunctionDecoder::source(const AstOperand& o, Type type, bool relaxed) {
  switch (o.kind) {
    case Kind::reg: return reg_operand(o, type, relaxed);
    case Kind::integer:
    case Kind::float32:
    case Kind::float64: return constant_operand(o, type);
    case Kind::special: {
      const auto special = static_cast<Special>(o.index);
      if (size_of(special) != size_of(type))
        fail(o,
             fmt::format("special register %{} has {} bits; a value of type .{} is needed", name_of(special),
                         size_of(special) * 8, name_of(type)),
             "read it with mov first");
      if (is_float(type))
        fail(o,
             fmt::format("special register %{} where a value of type .{} is needed", name_of(special),
                         name_of(type)),
             "special registers are integers");
      Operand out;
      out.kind = OperandKind::special;
      out.bytes = static_cast<std::uint8_t>(size_of(special));
      out.index = o.index;
      return out;
    }
    case Kind::local_var:
    case Kind::symbol:
      fail(o, fmt::format("'{}' is not a register or constant", o.text.substr(0, 64)),
           "take an address with mov first; registers are declared with .reg");
    case Kind::sink: fail(o, "'_' can't be read");
    case Kind::vector: fail(o, "a vector can't stand here");
    case Kind::address: fail(o, "an address in brackets can't stand here");
    case Kind::list:
    case Kind::pair: break;
  }
  fail(o, "this operand can't stand here");
}

Operand FunctionDecoder::result(const AstOperand& o, Type type, bool relaxed) {
  if (o.kind == Kind::sink) {
    Operand out;
    out.kind = OperandKind::sink;
    out.bytes = static_cast<std::uint8_t>(size_of(type));
    return out;
  }
  if (o.kind != Kind::reg) fail(o, "a register is needed for the result");
  return reg_operand(o, type, relaxed);
}

// A predicate source; a constant becomes a register that a setp in front sets.
Operand FunctionDecoder::predicate(const AstOperand& o) {
  if (o.kind == Kind::integer) {
    Operand p = new_reg(Type::pred);
    Inst set = plain(Inst{}, Op::setp, OpClass::int_alu, Type::u32);
    set.mods.compare = (o.value != 0) != o.negated ? Compare::eq : Compare::ne;
    set.line = current_->at.line;
    set.column = current_->at.column;
    set.file = current_->file;
    set.source_line = current_->source_line;
    add_dst(set, p);
    add_src(set, constant(0, 4));
    add_src(set, constant(0, 4));
    emit(set);
    return p;
  }
  if (o.kind != Kind::reg || out_.registers[o.index] != Type::pred)
    fail(o, "a predicate register is needed here");
  Operand out;
  out.kind = OperandKind::pred;
  out.index = o.index;
  out.negated = o.negated;
  return out;
}

Operand FunctionDecoder::predicate_result(const AstOperand& o) {
  Operand out;
  if (o.kind == Kind::sink) {
    out.kind = OperandKind::sink;
    return out;
  }
  if (o.kind != Kind::reg || out_.registers[o.index] != Type::pred || o.negated)
    fail(o, "a predicate register is needed for the result");
  out.kind = OperandKind::pred;
  out.index = o.index;
  return out;
}

void FunctionDecoder::drop_cache_policy(const Match& match) {
  if (!match.cache_policy) return;
  if (args_.top.size() < 2) fail_here("'.L2::cache_hint' needs a cache policy as last operand");
  const AstOperand& policy = *args_.top.back();
  if (policy.kind != Kind::reg || size_of(out_.registers[policy.index]) != 8)
    fail(policy, "a cache policy is a 64-bit register");
  args_.top.pop_back();
}

}  // namespace simtlab::ptx
