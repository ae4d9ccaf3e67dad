// Operands of instructions, stored in pre-order.
#include <fmt/format.h>

#include "ptx/parser.h"
#include "ptx/special.h"

namespace simtlab::ptx {

std::size_t Parser::open_operand(AstOperand::Kind kind, Place at) {
  AstOperand o;
  o.kind = kind;
  o.at = at;
  function_->operands.push_back(o);
  if (function_->operands.size() > Limits::operands)
    fail(at, "module has too many operands", {}, "ptx-limit");
  return function_->operands.size() - 1;
}

void Parser::close_operand(std::size_t index, std::size_t children) {
  AstOperand& o = function_->operands[index];
  if (children > 64) fail(o.at, "operand has more than 64 parts", {}, "ptx-limit");
  o.children = static_cast<std::uint8_t>(children);
  o.span = static_cast<std::uint32_t>(function_->operands.size() - index);
}

// + or - and a constant after a symbol or an address register; 0 if there is none.
std::int64_t Parser::symbol_offset() {
  if (!lexer_.peek().is('+') && !lexer_.peek().is('-')) return 0;
  const Place at = lexer_.peek().at;
  // "+-4" is what several compilers write; a term, not an expression with '+' in front.
  const ConstValue v = binary(8, 0);
  if (v.is_float) fail(at, "offset must be an integer");
  return static_cast<std::int64_t>(v.bits);
}

void Parser::operand(bool call, unsigned depth) {
  if (depth > 8) fail(lexer_.peek().at, "operand is nested deeper than 8 levels", {}, "ptx-limit");
  const std::size_t start = function_->operands.size();
  const Token& t = lexer_.peek();
  if (t.is('{')) {
    vector_operand(call, depth);
  } else if (t.is('[')) {
    address_operand(depth);
  } else if (t.is('(') && call) {
    list_operand(depth);
  } else if (t.is('!') || (t.is('-') && lexer_.peek2().kind == Token::Kind::identifier &&
                           lexer_.peek2().text != "WARP_SZ")) {
    lexer_.next();
    name_operand();
    function_->operands[start].negated = true;
  } else if (t.kind == Token::Kind::identifier && t.text != "WARP_SZ") {
    name_operand();
  } else if (t.kind == Token::Kind::integer || t.kind == Token::Kind::float32 ||
             t.kind == Token::Kind::float64 || t.is('(') || t.is('-') || t.is('+') || t.is('~') ||
             t.is("WARP_SZ")) {
    constant_operand();
  } else {
    fail(t.at, fmt::format("expected an operand, found {}", shown(t)));
  }
  if (lexer_.peek().is('|') && depth == 0) {
    lexer_.next();
    AstOperand pair;
    pair.kind = AstOperand::Kind::pair;
    pair.at = function_->operands[start].at;
    function_->operands.insert(function_->operands.begin() + static_cast<std::ptrdiff_t>(start), pair);
    const Token& second = lexer_.peek();
    if (second.kind != Token::Kind::identifier)
      fail(second.at, fmt::format("expected a register after '|', found {}", shown(second)));
    name_operand();
    close_operand(start, 2);
  }
}

void Parser::vector_operand(bool call, unsigned depth) {
  const std::size_t index = open_operand(AstOperand::Kind::vector, lexer_.next().at);
  std::size_t n = 0;
  if (!lexer_.peek().is('}')) {
    do {
      operand(call, depth + 1);
      ++n;
    } while (accept(',') && n <= 64);
  }
  expect('}', "to close a vector");
  close_operand(index, n);
}

void Parser::list_operand(unsigned depth) {
  const std::size_t index = open_operand(AstOperand::Kind::list, lexer_.next().at);
  std::size_t n = 0;
  if (!lexer_.peek().is(')')) {
    do {
      operand(false, depth + 1);
      ++n;
    } while (accept(',') && n <= 64);
  }
  expect(')', "to close a list of arguments");
  close_operand(index, n);
}

void Parser::address_operand(unsigned depth) {
  const std::size_t index = open_operand(AstOperand::Kind::address, lexer_.next().at);
  std::size_t n = 0;
  do {
    operand(false, depth + 1);
    ++n;
  } while (accept(',') && n <= 64);
  if (n == 1) function_->operands[index].value = symbol_offset();
  if (!lexer_.peek().is(']'))
    fail(lexer_.peek().at, fmt::format("expected ']' to close an address, found {}", shown(lexer_.peek())),
         "an address is [register], [register+constant], [symbol+constant] or [constant]");
  lexer_.next();
  close_operand(index, n);
}

void Parser::constant_operand() {
  const Place at = lexer_.peek().at;
  const ConstValue v = expression();
  const std::size_t index = open_operand(!v.is_float    ? AstOperand::Kind::integer
                                         : v.is_float32 ? AstOperand::Kind::float32
                                                        : AstOperand::Kind::float64,
                                         at);
  AstOperand& o = function_->operands[index];
  o.value = static_cast<std::int64_t>(v.bits);
  o.is_unsigned = v.is_unsigned;
}

void Parser::register_operand(const Name& name, const Token& token) {
  if (name.kind == Name::Kind::reg) {
    const std::size_t index = open_operand(AstOperand::Kind::reg, token.at);
    function_->operands[index].index = name.index;
    if (lexer_.peek().kind == Token::Kind::dotted)
      function_->operands[index].selector = lexer_.next().text.substr(1);
    return;
  }
  // A vector register: one component, or all of them.
  if (lexer_.peek().kind == Token::Kind::dotted) {
    const Token part = lexer_.next();
    static constexpr std::string_view parts = "xyzwrgba";
    const std::size_t at = part.text.size() == 2 ? parts.find(part.text[1]) : std::string_view::npos;
    if (at == std::string_view::npos || at % 4 >= name.lanes)
      fail(part.at, fmt::format("register {} has no component {}", shown(token), shown(part)), {},
           "ptx-operand");
    const std::size_t index = open_operand(AstOperand::Kind::reg, token.at);
    function_->operands[index].index = name.index + static_cast<std::uint32_t>(at % 4);
    return;
  }
  const std::size_t index = open_operand(AstOperand::Kind::vector, token.at);
  for (std::uint8_t i = 0; i < name.lanes; ++i) {
    const std::size_t lane = open_operand(AstOperand::Kind::reg, token.at);
    function_->operands[lane].index = name.index + i;
  }
  close_operand(index, name.lanes);
}

void Parser::name_operand() {
  const Token t = expect_identifier("a name");
  if (t.text == "_") {
    open_operand(AstOperand::Kind::sink, t.at);
    return;
  }
  if (const Name* name = lookup(t.text)) {
    if (name->kind != Name::Kind::variable) return register_operand(*name, t);
    const std::uint32_t variable = name->index;
    const std::size_t index = open_operand(AstOperand::Kind::local_var, t.at);
    function_->operands[index].index = variable;
    function_->operands[index].text = t.text;
    function_->operands[index].value = symbol_offset();
    return;
  }
  if (t.text[0] == '%') {
    std::string_view name = t.text.substr(1);
    std::optional<Special> special = find_special(name);
    if (const auto vector = find_special_vector(name)) {
      if (lexer_.peek().kind != Token::Kind::dotted) {
        const std::size_t index = open_operand(AstOperand::Kind::vector, t.at);
        for (unsigned i = 0; i < 4; ++i) {
          const std::size_t lane = open_operand(AstOperand::Kind::special, t.at);
          function_->operands[lane].index =
              i < 3 ? static_cast<std::uint32_t>(*vector) + i : static_cast<std::uint32_t>(Special::zero);
        }
        return close_operand(index, 4);
      }
      const Token part = lexer_.next();
      static constexpr std::string_view parts = "xyzw";
      const std::size_t at = part.text.size() == 2 ? parts.find(part.text[1]) : std::string_view::npos;
      if (at == std::string_view::npos)
        fail(part.at, fmt::format("register {} has no component {}", shown(t), shown(part)), {},
             "ptx-operand");
      special = at < 3 ? static_cast<Special>(static_cast<std::uint32_t>(*vector) + at) : Special::zero;
    }
    if (!special)
      fail(t.at, fmt::format("register {} is not declared", shown(t)),
           "declare it with .reg in this scope or an outer one", "ptx-undeclared");
    const std::size_t index = open_operand(AstOperand::Kind::special, t.at);
    function_->operands[index].index = static_cast<std::uint32_t>(*special);
    return;
  }
  const std::size_t index = open_operand(AstOperand::Kind::symbol, t.at);
  function_->operands[index].text = t.text;
  function_->operands[index].value = symbol_offset();
}

}  // namespace simtlab::ptx
