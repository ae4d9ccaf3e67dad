#include "models/counts/lane_values.h"

#include <algorithm>

namespace simtlab::models::counts {
namespace {

using ptx::Op;
using Known = LaneValue::Known;

template <class F>
LaneValue lanewise(Known known, F value_of) {
  LaneValue out;
  out.known = known;
  for (unsigned i = 0; i < 32; ++i) out.lane[i] = value_of(i);
  return out;
}

std::int64_t wrap(std::int64_t value, unsigned bytes, bool is_signed) {
  if (bytes >= 8 || bytes == 0) return value;
  const std::uint64_t mask = (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto low = static_cast<std::uint64_t>(value) & mask;
  const bool negative = is_signed && (low >> (8 * bytes - 1) & 1) != 0;
  return static_cast<std::int64_t>(negative ? low | ~mask : low);
}
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// Lower of what is known of both: distances stay distances from the sum of both bases.
Known both(const LaneValue& a, const LaneValue& b) { return std::min(a.known, b.known); }

LaneValue sum(const LaneValue& a, const LaneValue& b, int sign) {
  return lanewise(both(a, b), [&](unsigned i) { return plus(a.lane[i], times(sign, b.lane[i])); });
}

LaneValue product(const LaneValue& a, const LaneValue& b) {
  if (a.exact() && b.exact())
    return lanewise(Known::exact, [&](unsigned i) { return times(a.lane[i], b.lane[i]); });
  if (a.uniform_() && b.uniform_()) return LaneValue::uniform();
  // A known factor scales distances; an unknown one makes them unknown.
  const LaneValue &factor = a.exact() ? a : b, &other = a.exact() ? b : a;
  if (!factor.exact() || !factor.uniform_() || other.known == Known::nothing) return {};
  return lanewise(Known::distances, [&](unsigned i) { return times(other.lane[i], factor.lane[0]); });
}

template <class F>
LaneValue of_exact(const LaneValue& a, const LaneValue& b, F f) {
  if (a.exact() && b.exact())
    return lanewise(Known::exact, [&](unsigned i) { return f(a.lane[i], b.lane[i]); });
  return a.uniform_() && b.uniform_() ? LaneValue::uniform() : LaneValue{};
}

std::int64_t shift(std::int64_t a, std::int64_t by, bool left, unsigned bytes, bool is_signed) {
  const auto n = static_cast<unsigned>(std::clamp<std::int64_t>(by, 0, 63));
  if (static_cast<std::int64_t>(n) >= 8 * std::int64_t{bytes}) return !left && is_signed && a < 0 ? -1 : 0;
  if (left) return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << n);
  return is_signed ? a >> n
                   : static_cast<std::int64_t>(
                         (static_cast<std::uint64_t>(a) &
                          (bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1)) >>
                         n);
}

// Equal operands give equal results, whatever the operation.
LaneValue of_unknown(const LaneValue* v, unsigned count) {
  return std::all_of(v, v + count, [](const LaneValue& x) { return x.uniform_(); }) ? LaneValue::uniform()
                                                                                    : LaneValue{};
}

LaneValue integer(const ptx::Inst& inst, const LaneValue* v, unsigned count) {
  const unsigned bytes = ptx::size_of(inst.type);
  const bool is_signed = ptx::is_signed(inst.type);
  switch (inst.op) {
    case Op::mov:
    case Op::cvt:
    case Op::cvta: return count == 1 ? v[0] : LaneValue{};
    case Op::add: return sum(v[0], v[1], 1);
    case Op::sub: return sum(v[0], v[1], -1);
    case Op::mul:
    case Op::mul24: return inst.mods.mul == ptx::MulMode::hi ? of_unknown(v, count) : product(v[0], v[1]);
    case Op::mad:
    case Op::mad24:
      return inst.mods.mul == ptx::MulMode::hi ? of_unknown(v, count) : sum(product(v[0], v[1]), v[2], 1);
    case Op::neg: return product(v[0], LaneValue::constant(-1));
    case Op::not_: return of_exact(v[0], v[0], [](auto a, auto) { return ~a; });
    case Op::abs: return of_exact(v[0], v[0], [](auto a, auto) { return a < 0 ? times(a, -1) : a; });
    case Op::shl:
      if (v[1].exact() && v[1].uniform_())
        return product(v[0], LaneValue::constant(shift(1, v[1].lane[0], true, bytes, false)));
      return of_exact(v[0], v[1], [&](auto a, auto b) { return shift(a, b, true, bytes, false); });
    case Op::shr:
      return of_exact(v[0], v[1], [&](auto a, auto b) { return shift(a, b, false, bytes, is_signed); });
    case Op::and_: return of_exact(v[0], v[1], [](auto a, auto b) { return a & b; });
    case Op::or_: return of_exact(v[0], v[1], [](auto a, auto b) { return a | b; });
    case Op::xor_: return of_exact(v[0], v[1], [](auto a, auto b) { return a ^ b; });
    case Op::min: return of_exact(v[0], v[1], [](auto a, auto b) { return std::min(a, b); });
    case Op::max: return of_exact(v[0], v[1], [](auto a, auto b) { return std::max(a, b); });
    case Op::div:
      return of_exact(v[0], v[1], [](auto a, auto b) { return b == 0 || b == -1 ? times(a, b) : a / b; });
    case Op::rem:
      return of_exact(v[0], v[1], [](auto a, auto b) { return b == 0 || b == -1 ? std::int64_t{0} : a % b; });
    case Op::selp:
      if (v[2].exact() && v[2].uniform_()) return v[2].lane[0] != 0 ? v[0] : v[1];
      if (v[2].exact() && v[0].exact() && v[1].exact())
        return lanewise(Known::exact,
                        [&](unsigned i) { return v[2].lane[i] != 0 ? v[0].lane[i] : v[1].lane[i]; });
      [[fallthrough]];
    default: return of_unknown(v, count);
  }
}

// Registers have no sign; what is read of them has.
LaneValue as_read(LaneValue v, ptx::Type type) {
  if (v.exact())
    for (std::int64_t& lane : v.lane) lane = wrap(lane, ptx::size_of(type), ptx::is_signed(type));
  return v;
}

}  // namespace

LaneValue LaneValue::constant(std::int64_t value) {
  return lanewise(Known::exact, [&](unsigned) { return value; });
}
LaneValue LaneValue::uniform() {
  LaneValue out;
  out.known = Known::distances;
  return out;
}
bool LaneValue::uniform_() const {
  return known != Known::nothing && std::ranges::all_of(lane, [&](std::int64_t v) { return v == lane[0]; });
}

LaneValue evaluate(const ptx::Inst& inst, const LaneValue* operands, unsigned count) {
  if (ptx::is_float(inst.type) || count > 4) return of_unknown(operands, count);
  std::array<LaneValue, 4> read;
  const bool converts = inst.op == Op::cvt && inst.stype != ptx::Type::none;
  // The last operand of selp is a predicate.
  for (unsigned i = 0; i < count; ++i)
    read[i] =
        inst.op == Op::selp && i == 2 ? operands[i] : as_read(operands[i], converts ? inst.stype : inst.type);
  LaneValue out = integer(inst, read.data(), count);
  // The destination of a wide product is twice as wide as its operands.
  const unsigned bytes = inst.dst_count > 0 ? inst.dst[0].bytes : 0u;
  if (out.exact())
    for (std::int64_t& v : out.lane) v = wrap(v, bytes, ptx::is_signed(inst.type));
  return out;
}

LaneValue compare(const ptx::Inst& inst, const LaneValue& a, const LaneValue& b) {
  using enum ptx::Compare;
  if (ptx::is_float(inst.type)) return a.uniform_() && b.uniform_() ? LaneValue::uniform() : LaneValue{};
  const bool is_signed = ptx::is_signed(inst.type);
  return of_exact(
      as_read(a, inst.type), as_read(b, inst.type), [&](std::int64_t x, std::int64_t y) -> std::int64_t {
        const auto less = is_signed ? x < y : static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y);
        switch (inst.mods.compare) {
          case eq: return x == y;
          case ne: return x != y;
          case lt:
          case lo: return less;
          case le:
          case ls: return less || x == y;
          case gt:
          case hi: return !less && x != y;
          default: return !less;
        }
      });
}

}  // namespace simtlab::models::counts
