// Variables, registers and initialisers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/parser.h"

namespace simtlab::ptx {

Type Parser::fundamental_type(const Token& t) {
  static constexpr std::pair<std::string_view, Type> names[] = {
      {".b8", Type::b8},
      {".b16", Type::b16},
      {".b32", Type::b32},
      {".b64", Type::b64},
      {".b128", Type::b128},
      {".u8", Type::u8},
      {".u16", Type::u16},
      {".u32", Type::u32},
      {".u64", Type::u64},
      {".s8", Type::s8},
      {".s16", Type::s16},
      {".s32", Type::s32},
      {".s64", Type::s64},
      {".f16", Type::f16},
      {".f16x2", Type::f16x2},
      {".bf16", Type::bf16},
      {".bf16x2", Type::bf16x2},
      {".tf32", Type::tf32},
      {".f32", Type::f32},
      {".f64", Type::f64},
      {".pred", Type::pred},
      {".texref", Type::texref},
      {".samplerref", Type::samplerref},
      {".surfref", Type::surfref},
  };
  for (const auto& [name, type] : names)
    if (t.kind == Token::Kind::dotted && t.text == name) return type;
  fail(t.at, fmt::format("expected a type such as .u32, found {}", shown(t)));
}

std::uint32_t Parser::alignment() {
  const Place at = lexer_.peek().at;
  const ConstValue written = integer_value("an alignment");
  const std::uint64_t n = written.bits;
  if (!std::has_single_bit(n))
    fail(at, fmt::format("alignment {} is not a power of two", as_written(written)));
  if (n > Limits::align)
    fail(at, fmt::format("alignment {} is above the limit of {}", n, Limits::align), {}, "ptx-limit");
  return static_cast<std::uint32_t>(n);
}

// .attribute(.managed) .attribute(.unified(1, 2))
void Parser::attributes(AstVariable& v) {
  expect('(', "after .attribute");
  do {
    const Token t = lexer_.next();
    if (t.text == ".managed")
      v.managed = true;
    else if (t.text == ".unified") {
      expect('(', "after .unified");
      do integer_expression("a number");
      while (accept(','));
      expect(')', "after .unified");
    } else
      fail(t.at, fmt::format("unknown attribute {}", shown(t)));
  } while (accept(','));
  expect(')', "after .attribute");
}

void Parser::declarator(AstVariable& v, std::vector<std::uint64_t>& dims) {
  const Token name = expect_identifier("a variable name");
  v.name = name.text;
  v.at = name.at;
  while (accept('[')) {
    if (accept(']')) {
      if (!dims.empty()) fail(name.at, "only the first dimension of an array may be empty");
      v.unsized = true;
      dims.push_back(0);
      continue;
    }
    if (dims.size() >= 16) fail(name.at, "array has more than 16 dimensions", {}, "ptx-limit");
    const Place at = lexer_.peek().at;
    const ConstValue n = expression();
    if (n.is_float || (!n.is_unsigned && static_cast<std::int64_t>(n.bits) < 0))
      fail(at, "array size must be a positive integer");
    dims.push_back(n.bits);
    expect(']', "after an array size");
  }
}

void Parser::finish_size(AstVariable& v, const std::vector<std::uint64_t>& dims) {
  if (v.type == Type::pred && v.space != Space::reg) fail(v.at, "predicates can only be registers");
  const std::uint64_t element = std::uint64_t{size_of(v.type)} * v.vector;
  std::uint64_t count = 1;
  for (const std::uint64_t n : dims) {
    if (n != 0 && count > Limits::variable_bytes / n)
      fail(v.at,
           fmt::format("variable '{}' is larger than {} GiB", v.name.substr(0, 64),
                       Limits::variable_bytes >> 30),
           {}, "ptx-limit");
    count *= n;
  }
  if (element != 0 && count > Limits::variable_bytes / element)
    fail(v.at,
         fmt::format("variable '{}' is larger than {} GiB", v.name.substr(0, 64),
                     Limits::variable_bytes >> 30),
         {}, "ptx-limit");
  v.count = count * v.vector;
  v.bytes = count * element;
  v.align = std::max(v.align, static_cast<std::uint32_t>(std::max<std::uint64_t>(element, 1)));
}

std::vector<AstVariable> Parser::variables(Space space) {
  AstVariable head;
  head.space = space;
  bool have_type = false;
  if (space == Space::constant && accept('[')) {  // .const[2]: bank of old PTX
    integer_expression("a bank number");
    expect(']', "after a bank number");
  }
  while (lexer_.peek().kind == Token::Kind::dotted) {
    if (accept(".align")) {
      head.align = alignment();
      continue;
    }
    if (accept(".attribute")) {
      attributes(head);
      continue;
    }
    if (accept(".v2")) {
      head.vector = 2;
      continue;
    }
    if (accept(".v4")) {
      head.vector = 4;
      continue;
    }
    const Token t = lexer_.next();
    head.type = fundamental_type(t);
    if (head.type == Type::texref || head.type == Type::samplerref || head.type == Type::surfref)
      head.reference = head.type;
    have_type = true;
  }
  if (!have_type)
    fail(lexer_.peek().at, fmt::format("expected a type such as .b32, found {}", shown(lexer_.peek())));
  std::vector<AstVariable> out;
  do {
    AstVariable v = head;
    if (++variable_count_ > Limits::variables)
      fail(lexer_.peek().at, fmt::format("module has more than {} variables", Limits::variables), {},
           "ptx-limit");
    std::vector<std::uint64_t> dims;
    declarator(v, dims);
    if (accept('=')) initialiser(v, dims);
    if (v.unsized && v.has_initial && !dims.empty() && dims[0] == 0) {
      std::uint64_t inner = v.vector;
      for (std::size_t i = 1; i < dims.size(); ++i) inner *= std::max<std::uint64_t>(dims[i], 1);
      const std::uint64_t elements =
          v.initial.empty() ? 0 : v.initial.back().offset / std::max(1u, size_of(v.type)) + 1;
      dims[0] = (elements + inner - 1) / inner;
      v.unsized = false;
    }
    finish_size(v, dims);
    out.push_back(std::move(v));
  } while (accept(','));
  expect(';', "after a variable");
  return out;
}

void Parser::module_variable(Space space, bool external, bool weak, bool common) {
  for (AstVariable& v : variables(space)) {
    v.external = external;
    v.weak = weak;
    v.common = common;
    if (external && v.has_initial)
      fail(v.at, fmt::format(".extern variable '{}' has an initialiser", v.name.substr(0, 64)));
    if (v.has_initial && space == Space::shared) fail(v.at, "shared variables can't have an initialiser");
    if (module_.function_index.contains(v.name))
      fail(v.at, fmt::format("'{}' is already a function", v.name.substr(0, 64)), {}, "ptx-redefined");
    const auto [it, fresh] =
        module_.variable_index.try_emplace(v.name, static_cast<std::uint32_t>(module_.variables.size()));
    if (fresh) {
      module_.variables.push_back(std::move(v));
      continue;
    }
    AstVariable& old = module_.variables[it->second];
    if (!old.external && !v.external)
      fail(v.at,
           fmt::format("'{}' is defined twice; the first definition is on line {}", v.name.substr(0, 64),
                       old.at.line),
           {}, "ptx-redefined");
    if (old.external) old = std::move(v);
  }
}

void Parser::function_variable(Space space) {
  for (AstVariable& v : variables(space)) {
    if (v.has_initial && space != Space::global && space != Space::constant)
      fail(v.at, fmt::format("{} variables can't have an initialiser", name_of(space)));
    if (v.unsized && space != Space::shared)
      fail(v.at, fmt::format("array '{}' needs a size", v.name.substr(0, 64)));
    declare(v.name, Name{Name::Kind::variable, static_cast<std::uint32_t>(function_->variables.size()), 1},
            v.at);
    function_->variables.push_back(std::move(v));
  }
}

void Parser::reg_declaration() {
  std::uint8_t lanes = 1;
  if (accept(".v2"))
    lanes = 2;
  else if (accept(".v4"))
    lanes = 4;
  const Type type = fundamental_type(lexer_.next());
  if (type == Type::texref || type == Type::samplerref || type == Type::surfref)
    fail(lexer_.peek().at, "registers can't be references");
  do {
    const Token name = expect_identifier("a register name");
    if (accept('<')) {
      const Place at = lexer_.peek().at;
      const ConstValue written = integer_value("a number of registers");
      const std::uint64_t count = written.bits;
      if (!written.is_unsigned && static_cast<std::int64_t>(count) < 0)
        fail(at, fmt::format("{} is no number of registers", as_written(written)));
      if (count > 0xffffffffu)
        fail(at, fmt::format("{} registers are too many", as_written(written)), {}, "ptx-limit");
      expect('>', "after a number of registers");
      const bool fresh = scopes_.back().families.try_emplace(name.text, Family{count, type, lanes}).second;
      if (!fresh)
        fail(name.at, fmt::format("registers '{}' are declared twice in this scope", name.text.substr(0, 64)),
             {}, "ptx-redefined");
    } else {
      const std::uint32_t first = new_register(type);
      for (std::uint8_t i = 1; i < lanes; ++i) new_register(type);
      declare(name.text, Name{lanes > 1 ? Name::Kind::vector_reg : Name::Kind::reg, first, lanes}, name.at);
    }
  } while (accept(','));
  expect(';', "after a register declaration");
}

void Parser::initialiser(AstVariable& v, const std::vector<std::uint64_t>& dims) {
  v.has_initial = true;
  std::uint64_t position = 0;
  if (lexer_.peek().is('{')) {
    std::vector<std::uint64_t> levels = dims;
    if (v.vector > 1) levels.push_back(v.vector);
    initial_level(v, levels, 0, position);
  } else {
    initial_element(v, position);
  }
}

// `position` counts elements. A nested brace starts at a multiple of its own size; a flat list just goes on.
void Parser::initial_level(AstVariable& v, const std::vector<std::uint64_t>& dims, std::size_t level,
                           std::uint64_t& position) {
  if (level > 16) fail(lexer_.peek().at, "initialiser is nested deeper than 16 levels", {}, "ptx-limit");
  const Token open = expect('{', "in an initialiser");
  const std::uint64_t start = position;
  std::uint64_t size = 1;  // elements of this level; 0 = open-ended
  for (std::size_t i = level; i < dims.size(); ++i) size *= dims[i];
  std::uint64_t inner = 1;
  for (std::size_t i = level + 1; i < dims.size(); ++i) inner *= dims[i];
  while (!lexer_.peek().is('}')) {
    if (lexer_.peek().is('{')) {
      const std::uint64_t before = position;
      initial_level(v, dims, level + 1, position);
      position = before + std::max<std::uint64_t>(inner, 1);
    } else {
      initial_element(v, position);
    }
    if (size != 0 && position - start > size)
      fail(open.at, fmt::format("initialiser of '{}' has more values than the array has elements",
                                v.name.substr(0, 64)));
    if (!accept(',')) break;
  }
  expect('}', "to close an initialiser");
}

// A number, symbol, symbol+offset, generic(symbol), or mask(symbol) as 0xff00(symbol).
void Parser::initial_element(AstVariable& v, std::uint64_t& position) {
  AstVariable::Value value;
  value.at = lexer_.peek().at;
  value.offset = position * size_of(v.type);
  if (value.offset > Limits::initial_bytes)
    fail(value.at, fmt::format("initialiser is larger than {} MiB", Limits::initial_bytes >> 20), {},
         "ptx-limit");
  ++position;
  auto symbol = [&] {
    value.kind = AstVariable::Value::Kind::symbol;
    Token name = expect_identifier("a symbol");
    if (name.text == "generic" && lexer_.peek().is('(')) {
      lexer_.next();
      value.generic = true;
      name = expect_identifier("a symbol");
      value.bits = static_cast<std::uint64_t>(symbol_offset());
      expect(')', "after generic(");
    }
    value.symbol = name.text;
    value.bits += static_cast<std::uint64_t>(symbol_offset());
  };
  const Token& t = lexer_.peek();
  if (t.kind == Token::Kind::identifier && t.text != "WARP_SZ") {
    symbol();
  } else {
    const ConstValue n = expression();
    if (!n.is_float && lexer_.peek().is('(')) {
      lexer_.next();
      value.mask = n.bits;
      if (n.bits == 0) fail(value.at, "mask of an address is zero");
      symbol();
      expect(')', "after a masked address");
    } else {
      value.kind = !n.is_float    ? AstVariable::Value::Kind::integer
                   : n.is_float32 ? AstVariable::Value::Kind::float32
                                  : AstVariable::Value::Kind::float64;
      value.bits = n.bits;
      value.is_unsigned = n.is_unsigned;
    }
  }
  // Zeroes need no record, except that the last one tells the length of an array without size.
  if (value.kind == AstVariable::Value::Kind::integer && value.bits == 0 && !v.initial.empty() && !v.unsized)
    return;
  if (++value_count_ > Limits::initial_values)
    fail(value.at, fmt::format("module has more than {} initial values", Limits::initial_values), {},
         "ptx-limit");
  v.initial.push_back(value);
}

}  // namespace simtlab::ptx
