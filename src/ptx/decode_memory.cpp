// Memory instructions, addresses of variables, moves.
#include <fmt/format.h>

#include "ptx/decode.h"
#include "ptx/special.h"

namespace simtlab::ptx {

// The base of an address in brackets; its constant part goes to `offset`. May change the space of the
// instruction.
Operand FunctionDecoder::address(Inst& inst, const AstOperand& o, std::int64_t& offset) {
  if (o.kind != Kind::address) fail(o, "an address in brackets is needed here");
  if (o.children != 1) fail(o, "this address has too many parts");
  const AstOperand& base = child(o, 0);
  offset = o.value;
  switch (base.kind) {
    case Kind::reg: {
      const Type type = out_.registers[base.index];
      if (base.negated || !base.selector.empty() || type == Type::pred || size_of(type) < 4)
        fail(base, "an address register must have 32 or 64 bits");
      if (is_float(type))
        fail(base, fmt::format("an address register must be an integer, not .{}", name_of(type)));
      if (size_of(type) == 4 && (inst.mods.space == Space::generic || inst.mods.space == Space::global))
        fail(base, "an address of global or generic memory must be a 64-bit register");
      if (inst.mods.space == Space::param && !ast_.is_entry) inst.mods.space = Space::local;
      return reg_operand(base, type, false);
    }
    case Kind::integer: return constant(static_cast<std::uint64_t>(base.value), 8);
    case Kind::local_var:
    case Kind::symbol: {
      offset += base.value;
      return variable_address(inst, base);
    }
    default: fail(base, "an address is [register], [register+constant], [symbol+constant] or [constant]");
  }
}

// The address of a variable as a constant; the space of a generic instruction becomes the variable's.
Operand FunctionDecoder::variable_address(Inst& inst, const AstOperand& o) {
  const bool access = inst.op != Op::mov && inst.op != Op::cvta;
  auto require = [&](Space space) {
    if (!access) return;
    if (inst.mods.space == Space::generic) inst.mods.space = space;
    if (inst.mods.space != space)
      fail(o, fmt::format("'{}' is in .{} memory, the instruction accesses .{}", o.text.substr(0, 64),
                          name_of(space), name_of(inst.mods.space)));
  };
  std::uint32_t variable = no_index;
  if (o.kind == Kind::local_var) {
    const AstVariable& v = ast_.variables[o.index];
    const std::uint64_t offset = offset_[o.index];
    if (v.space == Space::param && ast_.is_entry && o.index < ast_.signature.params.size()) {
      require(Space::param);
      return constant(offset, 8);
    }
    if (v.space == Space::param || v.space == Space::local) {
      require(v.space);
      if (access) inst.mods.space = Space::local;
      inst.frame_relative = true;
      return constant(offset, 8);
    }
    variable = scope_.promoted.at({ast_index_, o.index});
  } else {
    const auto it = scope_.variables.find(o.text);
    if (it == scope_.variables.end())
      scope_.source->fail(o.at, "ptx-undeclared", fmt::format("'{}' is not declared", o.text.substr(0, 64)),
                          "declare it before use; registers are declared with .reg");
    variable = it->second;
  }
  const Variable& v = scope_.module->variables[variable];
  require(v.space == Space::tex ? Space::global : v.space);
  if (v.space == Space::shared) return shared_address(variable, 0, 8);
  Constant c;
  c.kind = Constant::Kind::global_symbol;
  c.symbol = variable;
  return constant_of(c, 8);
}

// base + offset as one operand, for the second address of cp.async.
Operand FunctionDecoder::fold_offset(const Inst& inst, Operand base, std::int64_t offset) {
  if (offset == 0) return base;
  if (base.kind == OperandKind::imm) {
    Constant c = out_.fn.constants[base.index];
    if (c.kind != Constant::Kind::value) {
      c.value += static_cast<std::uint64_t>(offset);
      return constant_of(c, base.bytes);
    }
    if (const auto* use = shared_use(base))
      return shared_address(use->variable, c.value + static_cast<std::uint64_t>(offset), base.bytes);
    return constant(c.value + static_cast<std::uint64_t>(offset), base.bytes);
  }
  const Type type = base.bytes == 8 ? Type::s64 : Type::s32;
  Inst add = plain(inst, Op::add, OpClass::int_alu, type);
  const Operand sum = new_reg(type);
  add_dst(add, sum);
  add_src(add, base);
  add_src(add, constant(static_cast<std::uint64_t>(offset), base.bytes));
  emit(add);
  return sum;
}

void FunctionDecoder::load(Inst& inst, const Match& match) {
  drop_cache_policy(match);
  expect_count(2, 2);
  const AstOperand& d = arg(0);
  const unsigned lanes = inst.mods.vector;
  if (lanes > 1) {
    if (d.kind != Kind::vector || d.children != lanes)
      fail(d, fmt::format("a vector of {} registers is needed here", lanes));
    if (lanes * size_of(inst.type) > 32) fail_here("vector is wider than 256 bits");
    for (unsigned i = 0; i < lanes; ++i) add_dst(inst, result(child(d, i), inst.type, true));
  } else {
    add_dst(inst, result(d, inst.type, true));
  }
  add_src(inst, address(inst, arg(1), inst.imm_offset));
}

void FunctionDecoder::store(Inst& inst, const Match& match) {
  drop_cache_policy(match);
  expect_count(2, 2);
  if (inst.mods.space == Space::constant) fail_here("constant memory can't be written");
  add_src(inst, address(inst, arg(0), inst.imm_offset));
  if (inst.mods.space == Space::param) fail_here("kernel parameters can't be written");
  const AstOperand& v = arg(1);
  const unsigned lanes = inst.mods.vector;
  if (lanes > 1) {
    if (v.kind != Kind::vector || v.children != lanes)
      fail(v, fmt::format("a vector of {} values is needed here", lanes));
    if (lanes * size_of(inst.type) > 32) fail_here("vector is wider than 256 bits");
    for (unsigned i = 0; i < lanes; ++i) add_src(inst, source(child(v, i), inst.type, true));
  } else {
    add_src(inst, source(v, inst.type, true));
  }
}

void FunctionDecoder::atomic(Inst& inst, const Match& match, bool has_result) {
  drop_cache_policy(match);
  const std::size_t values = inst.mods.atom == AtomOp::cas ? 2 : 1;
  expect_count(values + 1 + has_result, values + 1 + has_result);
  std::size_t i = 0;
  if (has_result) add_dst(inst, result(arg(i++), inst.type));
  add_src(inst, address(inst, arg(i++), inst.imm_offset));
  for (std::size_t v = 0; v < values; ++v) add_src(inst, source(arg(i++), inst.type));
  if (inst.mods.space != Space::generic && inst.mods.space != Space::global &&
      inst.mods.space != Space::shared)
    fail_here("atomic operations work on global and shared memory only");
}

// cp.async DST, SRC, SIZE [, SOURCE SIZE or predicate that ignores the source] [, POLICY]
void FunctionDecoder::copy_async(Inst& inst, const Match& match) {
  drop_cache_policy(match);
  expect_count(3, 4);
  Inst to = inst, from = inst;
  to.mods.space = Space::shared;
  from.mods.space = Space::global;
  std::int64_t to_offset = 0, from_offset = 0;
  const Operand dst = address(to, arg(0), to_offset);
  const Operand base = address(from, arg(1), from_offset);
  const Operand src = fold_offset(inst, base, from_offset);
  const std::uint64_t bytes = integer_constant(arg(2), "the size of a copy", 16);
  const bool all_caches = inst.mods.cache == CacheOp::ca;
  if (bytes != 16 && !(all_caches && (bytes == 4 || bytes == 8)))
    fail(arg(2), fmt::format("size {} of cp.async.{} is not {}", bytes, all_caches ? "ca" : "cg",
                             all_caches ? "4, 8 or 16" : "16"));
  inst.mods.space = Space::shared;
  inst.mods.copy_bytes = static_cast<std::uint8_t>(bytes);
  inst.imm_offset = to_offset;
  inst.type = Type::b8;
  add_src(inst, dst);
  add_src(inst, src);
  if (args_.top.size() < 4) return;
  const AstOperand& extra = arg(3);
  if (extra.kind == Kind::reg && out_.registers[extra.index] == Type::pred) {
    Inst select = plain(inst, Op::selp, OpClass::int_alu, Type::b32);
    const Operand size = new_reg(Type::b32);
    add_dst(select, size);
    add_src(select, constant(0, 4));
    add_src(select, constant(bytes, 4));
    add_src(select, predicate(extra));
    emit(select);
    return add_src(inst, size);
  }
  add_src(inst, source(extra, Type::u32));
}

// tex D, [TEXTURE, {coordinates}] or [TEXTURE, SAMPLER, {coordinates}]
void FunctionDecoder::texture(Inst& inst) {
  if (args_.top.size() > 2) {
    scope_.report(current_->at, fmt::format("'{}' with offsets or depth comparison is not supported",
                                            current_->opcode.substr(0, 64)));
    return;
  }
  expect_count(2, 2);
  const AstOperand& d = arg(0);
  if (d.kind == Kind::pair)
    return scope_.report(current_->at, fmt::format("'{}' with a residency predicate is not supported",
                                                   current_->opcode.substr(0, 64)));
  if (d.kind != Kind::vector || d.children != 4) fail(d, "a vector of 4 registers is needed here");
  for (unsigned i = 0; i < 4; ++i) add_dst(inst, result(child(d, i), inst.type));
  const AstOperand& a = arg(1);
  if (a.kind != Kind::address || a.children < 2 || a.children > 3)
    fail(a, "a texture address is [texture, {coordinates}] or [texture, sampler, {coordinates}]");
  auto handle = [&](const AstOperand& o) {
    if (o.kind == Kind::reg) return reg_operand(o, Type::b64, false);
    if (o.kind != Kind::symbol && o.kind != Kind::local_var) fail(o, "a texture or sampler is needed here");
    Inst scratch = inst;
    scratch.op = Op::mov;
    return variable_address(scratch, o);
  };
  add_src(inst, handle(child(a, 0)));
  add_src(inst, a.children == 3 ? handle(child(a, 1)) : Operand{});
  const AstOperand& c = child(a, a.children - 1u);
  unsigned wanted = 1;
  if (inst.mods.geometry == Geometry::d2 || inst.mods.geometry == Geometry::a1d) wanted = 2;
  if (inst.mods.geometry == Geometry::d3 || inst.mods.geometry == Geometry::a2d) wanted = 3;
  const bool array = inst.mods.geometry == Geometry::a1d || inst.mods.geometry == Geometry::a2d;
  if (c.kind != Kind::vector) {
    if (wanted != 1) fail(c, fmt::format("a vector of {} coordinates is needed here", wanted));
    return add_src(inst, source(c, inst.stype));
  }
  if (c.children < wanted) fail(c, fmt::format("a vector of {} coordinates is needed here", wanted));
  for (unsigned i = 0; i < wanted; ++i)
    add_src(inst, source(child(c, i), array && i == 0 ? Type::u32 : inst.stype));
}

void FunctionDecoder::convert_address(Inst& inst) {
  expect_count(2, 2);
  add_dst(inst, result(arg(0), inst.type));
  const AstOperand& a = arg(1);
  if (a.kind != Kind::symbol && a.kind != Kind::local_var) return add_src(inst, source(a, inst.type));
  // Parameters of functions live in the frame: their generic address is one of local memory.
  const Operand base = variable_address(inst, a);
  if (inst.frame_relative && inst.mods.space == Space::param) inst.mods.space = Space::local;
  const Operand at = fold_offset(inst, base, a.value);
  add_src(inst, shared_use(base) != nullptr ? in_cluster(inst, at) : at);
}

void FunctionDecoder::move(Inst& inst) {
  expect_count(2, 2);
  if (inst.type == Type::pred) {
    const AstOperand& a = arg(1);
    if (a.kind == Kind::integer || a.kind == Kind::special) {
      inst.op = Op::setp;
      inst.type = Type::u32;
      inst.mods.compare = a.kind == Kind::integer && a.value != 0 ? Compare::eq : Compare::ne;
      add_dst(inst, predicate_result(arg(0)));
      // The one predicate among special registers, %is_explicit_cluster, is a word here.
      Operand value = constant(0, 4);
      if (a.kind == Kind::special) {
        value = {};
        value.kind = OperandKind::special;
        value.bytes = 4;
        value.index = a.index;
      }
      add_src(inst, value);
      return add_src(inst, constant(0, 4));
    }
    add_dst(inst, predicate_result(arg(0)));
    return add_src(inst, predicate(a));
  }
  if (arg(0).kind == Kind::vector || arg(1).kind == Kind::vector) return move_vector(inst);
  move_scalar(inst);
}

// mov.b64 {a, b}, c unpacks, mov.b64 c, {a, b} packs.
void FunctionDecoder::move_vector(Inst& inst) {
  const bool unpack = arg(0).kind == Kind::vector;
  if (unpack && arg(1).kind == Kind::vector) fail(arg(1), "only one side of mov can be a vector");
  const AstOperand& v = unpack ? arg(0) : arg(1);
  const unsigned lanes = v.children;
  if (lanes != 2 && lanes != 4) fail(v, "a vector of mov has 2 or 4 parts");
  const unsigned bytes = size_of(inst.type) / lanes;
  const Type part = bytes == 4 ? Type::b32 : bytes == 2 ? Type::b16 : Type::b8;
  if (bytes == 0) fail(v, fmt::format("a value of type .{} has no {} parts", name_of(inst.type), lanes));
  if (unpack) {
    for (unsigned i = 0; i < lanes; ++i) add_dst(inst, result(child(v, i), part, part == Type::b8));
    return add_src(inst, source(arg(1), inst.type));
  }
  add_dst(inst, result(arg(0), inst.type));
  for (unsigned i = 0; i < lanes; ++i) add_src(inst, source(child(v, i), part, part == Type::b8));
}

void FunctionDecoder::move_scalar(Inst& inst) {
  const AstOperand& a = arg(1);
  add_dst(inst, result(arg(0), inst.type));
  if (a.kind == Kind::special) {
    const auto special = static_cast<Special>(a.index);
    const unsigned have = size_of(special), want = size_of(inst.type);
    if (have == 0) fail(a, "this special register is a predicate");
    if (is_float(inst.type))
      fail(a,
           fmt::format("special register %{} where a value of type .{} is needed", name_of(special),
                       name_of(inst.type)),
           "special registers are integers");
    if (have != want) {
      inst.op = Op::cvt;
      inst.op_class = OpClass::int_alu;
      inst.type = want == 8 ? Type::u64 : want == 4 ? Type::u32 : Type::u16;
      inst.stype = have == 8 ? Type::u64 : Type::u32;
    }
    return add_src(inst, source(a, have == 8 ? Type::u64 : Type::u32));
  }
  if (a.kind != Kind::symbol && a.kind != Kind::local_var) return add_src(inst, source(a, inst.type));
  add_src(inst, symbol_address(a, inst.type, inst));
}

// The value of a symbol in mov: an address in the symbol's own space, or a function handle.
Operand FunctionDecoder::symbol_address(const AstOperand& o, Type type, Inst& inst) {
  const unsigned bytes = size_of(type);
  if (bytes < 4) fail(o, fmt::format("an address does not fit in type .{}", name_of(type)));
  if (is_float(type)) fail(o, fmt::format("an address is an integer, not .{}", name_of(type)));
  if (o.kind == Kind::symbol) {
    const std::string_view name = o.text;
    if (const auto f = scope_.functions.find(name); f != scope_.functions.end()) {
      if (bytes != 8) fail(o, "a function address needs a 64-bit register");
      out_.addresses_taken.push_back(f->second);
      Constant c;
      c.kind = Constant::Kind::function;
      c.symbol = f->second;
      return constant_of(c, 8);
    }
    if (const auto f = scope_.ast->function_index.find(name); f != scope_.ast->function_index.end()) {
      scope_.report(o.at, fmt::format("function '{}' is declared but not defined", name.substr(0, 256)),
                    std::string(hint_for_undefined(name)));
      return constant(0, bytes);
    }
  }
  Operand base = variable_address(inst, o);
  if (bytes == 4) {
    const Constant& c = out_.fn.constants[base.index];
    if (c.kind == Constant::Kind::global_symbol)
      fail(o, "an address of global memory needs a 64-bit register");
    if (const auto* use = shared_use(base))
      return in_cluster(inst, shared_address(use->variable, static_cast<std::uint64_t>(o.value), 4));
    return constant(c.value + static_cast<std::uint64_t>(o.value), 4);
  }
  const bool shared = shared_use(base) != nullptr;
  base = fold_offset(inst, base, o.value);
  return shared ? in_cluster(inst, base) : base;
}

}  // namespace simtlab::ptx
