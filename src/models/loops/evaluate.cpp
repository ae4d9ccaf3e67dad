#include "models/loops/evaluate.h"

#include <algorithm>

namespace simtlab::models::loops {
namespace {

using Op = Expression::Op;
using Wide = std::uint64_t;

std::int64_t wrapped(Wide value, unsigned bits) {
  if (bits >= 64) return static_cast<std::int64_t>(value);
  const Wide sign = Wide{1} << (bits - 1), low = value & ((sign << 1) - 1);
  return static_cast<std::int64_t>((low ^ sign) - sign);
}
Wide without_sign(std::int64_t value, unsigned bits) {
  return bits >= 64 ? static_cast<Wide>(value) : static_cast<Wide>(value) & ((Wide{1} << bits) - 1);
}

// start + n * step + n(n-1)/2 * ...: the binomials are taken in 128 bits, as their products with small n must
// not wrap early.
std::optional<std::int64_t> polynomial(const Expression& e, const Point& point) {
  __extension__ using Large = unsigned __int128;
  const Large n = static_cast<Wide>(point.iterations[static_cast<std::size_t>(e.value)]);
  Large choose = 1;
  Wide sum = 0;
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    if (i > 0) choose = n + 1 > i ? choose * (n - (i - 1)) / i : 0;
    const auto c = evaluate(e.operands[i], point);
    if (!c) return std::nullopt;
    sum += static_cast<Wide>(choose) * static_cast<Wide>(*c);
  }
  return wrapped(sum, e.bits);
}

std::optional<Wide> combine(Op op, Wide a, Wide b, std::int64_t sa, std::int64_t sb, Wide ua, Wide ub) {
  switch (op) {
    case Op::add: return a + b;
    case Op::multiply: return a * b;
    case Op::divide: return ub == 0 ? std::nullopt : std::optional(ua / ub);
    case Op::remainder: return ub == 0 ? std::nullopt : std::optional(ua % ub);
    case Op::signed_divide:
      return sb == 0 || sb == -1 ? (sb == 0 ? std::nullopt : std::optional(Wide{0} - a))
                                 : std::optional(static_cast<Wide>(sa / sb));
    case Op::signed_remainder:
      return sb == 0 ? std::nullopt : std::optional(sb == -1 ? Wide{0} : static_cast<Wide>(sa % sb));
    case Op::bit_and: return a & b;
    case Op::bit_or: return a | b;
    case Op::bit_xor: return a ^ b;
    case Op::signed_max: return static_cast<Wide>(std::max(sa, sb));
    case Op::signed_min: return static_cast<Wide>(std::min(sa, sb));
    case Op::unsigned_max: return std::max(ua, ub);
    case Op::unsigned_min: return std::min(ua, ub);
    default: return std::nullopt;
  }
}

std::optional<std::int64_t> operation(const Expression& e, const Point& point) {
  std::optional<std::int64_t> out;
  for (const Expression& operand : e.operands) {
    const auto v = evaluate(operand, point);
    if (!v) return std::nullopt;
    if (!out) {
      out = v;
      continue;
    }
    const auto r = combine(e.op, static_cast<Wide>(*out), static_cast<Wide>(*v), *out, *v,
                           without_sign(*out, e.bits), without_sign(*v, e.bits));
    if (!r) return std::nullopt;
    out = wrapped(*r, e.bits);
  }
  return out;
}

}  // namespace

std::optional<std::int64_t> evaluate(const Expression& e, const Point& point) {
  switch (e.op) {
    case Op::constant: return e.value;
    case Op::input: {
      const auto& v = point.inputs[static_cast<std::size_t>(e.value)];
      return v ? std::optional(wrapped(static_cast<Wide>(*v), e.bits)) : std::nullopt;
    }
    case Op::iteration: return polynomial(e, point);
    case Op::sign_extend: return evaluate(e.operands.front(), point);
    case Op::zero_extend: {
      const auto v = evaluate(e.operands.front(), point);
      return v ? std::optional(static_cast<std::int64_t>(without_sign(*v, e.operands.front().bits)))
               : std::nullopt;
    }
    case Op::truncate: {
      const auto v = evaluate(e.operands.front(), point);
      return v ? std::optional(wrapped(static_cast<Wide>(*v), e.bits)) : std::nullopt;
    }
    case Op::load:
    case Op::unknown: return std::nullopt;
    default: return operation(e, point);
  }
}

std::optional<bool> evaluate(const Condition& c, const Point& point) {
  if (c.test.empty()) return std::nullopt;
  if (!c.parts.empty()) {
    const auto a = evaluate(c.parts[0], point), b = evaluate(c.parts[1], point);
    const bool decides = c.test == "or";  // the value that alone decides
    if ((a && *a == decides) || (b && *b == decides)) return decides;
    return a && b ? std::optional(!decides) : std::nullopt;
  }
  const auto a = evaluate(c.a, point), b = evaluate(c.b, point);
  if (!a || !b) return std::nullopt;
  const Wide ua = without_sign(*a, c.a.bits), ub = without_sign(*b, c.b.bits);
  if (c.test == "eq") return *a == *b;
  if (c.test == "ne") return *a != *b;
  if (c.test == "slt") return *a < *b;
  if (c.test == "sle") return *a <= *b;
  if (c.test == "sgt") return *a > *b;
  if (c.test == "sge") return *a >= *b;
  if (c.test == "ult") return ua < ub;
  if (c.test == "ule") return ua <= ub;
  if (c.test == "ugt") return ua > ub;
  if (c.test == "uge") return ua >= ub;
  return std::nullopt;
}

void missing_inputs(const Expression& e, const Point& point, std::vector<int>& out) {
  if (e.op == Op::input && !point.inputs[static_cast<std::size_t>(e.value)] &&
      std::ranges::find(out, static_cast<int>(e.value)) == out.end())
    out.push_back(static_cast<int>(e.value));
  for (const Expression& o : e.operands) missing_inputs(o, point, out);
}

bool depends_on_data(const Expression& e) {
  return e.op == Op::load || e.op == Op::unknown || std::ranges::any_of(e.operands, depends_on_data);
}

}  // namespace simtlab::models::loops
