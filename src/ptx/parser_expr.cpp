// Constant expressions: C operators on 64-bit integers, signed unless an operand is unsigned.
#include <fmt/format.h>

#include <array>
#include <bit>

#include "ptx/parser.h"

namespace simtlab::ptx {
namespace {

struct Level {
  std::array<std::string_view, 4> ops;
};
// From loosest to tightest.
constexpr std::array<Level, 10> levels{{
    {{"||"}},
    {{"&&"}},
    {{"|"}},
    {{"^"}},
    {{"&"}},
    {{"==", "!="}},
    {{"<", "<=", ">", ">="}},
    {{"<<", ">>"}},
    {{"+", "-"}},
    {{"*", "/", "%"}},
}};

ConstValue integer(std::uint64_t bits, bool is_unsigned = false) { return {false, false, is_unsigned, bits}; }

}  // namespace

ConstValue Parser::integer_value(std::string_view what) {
  const Token& t = lexer_.peek();
  if (t.kind != Token::Kind::integer && t.kind != Token::Kind::identifier && !t.is('(') && !t.is('-') &&
      !t.is('+') && !t.is('~') && !t.is('!'))
    fail(t.at, fmt::format("expected {}, found {}", what, shown(t)));
  const Place at = t.at;
  // Only a parenthesised or simple number here: '.loc 1 2 3' must not read '2 -3'.
  const ConstValue v = unary(0);
  if (v.is_float) fail(at, fmt::format("expected {}, found a floating-point number", what));
  return v;
}

std::string Parser::as_written(const ConstValue& v) {
  return v.is_unsigned ? fmt::format("{}", v.bits) : fmt::format("{}", static_cast<std::int64_t>(v.bits));
}

std::uint64_t Parser::number_in(std::string_view what, std::uint64_t low, std::uint64_t high) {
  const Place at = lexer_.peek().at;
  const ConstValue v = integer_value(what);
  if (v.bits < low || v.bits > high)
    fail(at, fmt::format("{} is out of range; {} is from {} to {}", as_written(v), what, low, high));
  return v.bits;
}

ConstValue Parser::conditional(unsigned depth) {
  if (depth > Limits::nesting)
    fail(lexer_.peek().at, fmt::format("expression is nested deeper than {} levels", Limits::nesting), {},
         "ptx-limit");
  const Place at = lexer_.peek().at;
  const ConstValue condition = binary(0, depth);
  if (!accept('?')) return condition;
  const ConstValue yes = conditional(depth + 1);
  expect(':', "in a conditional expression");
  const ConstValue no = conditional(depth + 1);
  if (condition.is_float) fail(at, "condition of '?' must be an integer");
  return condition.bits != 0 ? yes : no;
}

ConstValue Parser::binary(unsigned level, unsigned depth) {
  if (level == levels.size()) return unary(depth);
  ConstValue left = binary(level + 1, depth);
  while (true) {
    const Token& t = lexer_.peek();
    if (t.kind != Token::Kind::punct) return left;
    bool found = false;
    for (const std::string_view op : levels[level].ops) found = found || (!op.empty() && t.text == op);
    if (!found) return left;
    const Token op = lexer_.next();
    const ConstValue right = binary(level + 1, depth);
    left = apply(op.text, left, right, op.at);
  }
}

ConstValue Parser::apply(std::string_view op, ConstValue a, ConstValue b, Place at) {
  if (a.is_float || b.is_float) fail(at, fmt::format("operator '{}' needs integers", op));
  const bool u = a.is_unsigned || b.is_unsigned;
  const auto sa = static_cast<std::int64_t>(a.bits), sb = static_cast<std::int64_t>(b.bits);
  if (op == "||") return integer((a.bits != 0 || b.bits != 0) ? 1 : 0);
  if (op == "&&") return integer((a.bits != 0 && b.bits != 0) ? 1 : 0);
  if (op == "|") return integer(a.bits | b.bits, u);
  if (op == "^") return integer(a.bits ^ b.bits, u);
  if (op == "&") return integer(a.bits & b.bits, u);
  if (op == "==") return integer(a.bits == b.bits);
  if (op == "!=") return integer(a.bits != b.bits);
  if (op == "<") return integer(u ? a.bits < b.bits : sa < sb);
  if (op == "<=") return integer(u ? a.bits <= b.bits : sa <= sb);
  if (op == ">") return integer(u ? a.bits > b.bits : sa > sb);
  if (op == ">=") return integer(u ? a.bits >= b.bits : sa >= sb);
  if (op == "<<") return integer(b.bits < 64 ? a.bits << b.bits : 0, a.is_unsigned);
  if (op == ">>") {
    const std::uint64_t n = b.bits < 63 ? b.bits : 63;
    if (a.is_unsigned) return integer(b.bits < 64 ? a.bits >> n : 0, true);
    return integer(static_cast<std::uint64_t>(sa >> n));
  }
  if (op == "+") return integer(a.bits + b.bits, u);
  if (op == "-") return integer(a.bits - b.bits, u);
  if (op == "*") return integer(a.bits * b.bits, u);
  if (b.bits == 0) fail(at, "division by zero in a constant expression");
  if (u) return integer(op == "/" ? a.bits / b.bits : a.bits % b.bits, true);
  if (sb == -1) return integer(op == "/" ? 0 - a.bits : 0);
  return integer(static_cast<std::uint64_t>(op == "/" ? sa / sb : sa % sb));
}

ConstValue Parser::unary(unsigned depth) {
  if (depth > Limits::nesting)
    fail(lexer_.peek().at, fmt::format("expression is nested deeper than {} levels", Limits::nesting), {},
         "ptx-limit");
  const Token t = lexer_.next();
  if (t.kind == Token::Kind::integer) return integer(t.value, t.is_unsigned);
  if (t.kind == Token::Kind::float32) return {true, true, false, t.value};
  if (t.kind == Token::Kind::float64) return {true, false, false, t.value};
  if (t.kind == Token::Kind::identifier && t.text == "WARP_SZ") return integer(32);
  if (t.is('(')) {
    // A cast (.s64) or a parenthesised expression.
    if (lexer_.peek().is(".s64") || lexer_.peek().is(".u64")) {
      const bool u = lexer_.next().text == ".u64";
      expect(')', "after the type of a cast");
      ConstValue v = unary(depth + 1);
      v.is_unsigned = u;
      return v;
    }
    const ConstValue v = conditional(depth + 1);
    expect(')', "to close an expression");
    return v;
  }
  if (t.is('+')) return unary(depth + 1);
  if (t.is('-')) {
    ConstValue v = unary(depth + 1);
    if (v.is_float)
      v.bits ^= std::uint64_t{1} << (v.is_float32 ? 31 : 63);
    else
      v.bits = 0 - v.bits, v.is_unsigned = false;
    return v;
  }
  if (t.is('~') || t.is('!')) {
    ConstValue v = unary(depth + 1);
    if (v.is_float) fail(t.at, fmt::format("operator '{}' needs an integer", t.text));
    return t.is('~') ? integer(~v.bits, v.is_unsigned) : integer(v.bits == 0 ? 1 : 0);
  }
  fail(t.at, fmt::format("expected a number, found {}", shown(t)));
}

}  // namespace simtlab::ptx
