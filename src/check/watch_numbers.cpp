// Watch: where the first NaN and the first infinity are born, and where they go to memory.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "check/watch.h"

namespace simtlab::check {

using exec::Warp;
using exec::XInst;

namespace {

bool computes(ptx::Op op) {
  switch (op) {
    case ptx::Op::add:
    case ptx::Op::sub:
    case ptx::Op::mul:
    case ptx::Op::mad:
    case ptx::Op::fma:
    case ptx::Op::div:
    case ptx::Op::rcp:
    case ptx::Op::sqrt:
    case ptx::Op::rsqrt:
    case ptx::Op::sin:
    case ptx::Op::cos:
    case ptx::Op::lg2:
    case ptx::Op::ex2:
    case ptx::Op::tanh: return true;
    default: return false;
  }
}

bool has_numbers(ptx::Type type) { return type == ptx::Type::f32 || type == ptx::Type::f64; }

double lane_of(const std::byte* row, ptx::Type type, unsigned lane) {
  if (type == ptx::Type::f64) {
    double value = 0;
    std::memcpy(&value, row + lane * 8, 8);
    return value;
  }
  float value = 0;
  std::memcpy(&value, row + lane * 4, 4);
  return static_cast<double>(value);
}

}  // namespace

bool Watch::makes_numbers(const ptx::Inst& inst) {
  return has_numbers(inst.type) && (computes(inst.op) || inst.op == ptx::Op::st);
}

void Watch::before_number(Warp& w, const XInst& x, std::uint32_t lanes) {
  const ptx::Inst& inst = *x.inst;
  operands_ = 0;
  if (!computes(inst.op)) return;
  for (unsigned i = 0; i < inst.src_count && operands_ < 3; ++i, ++operands_)
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      operand_[operands_][lane] = lane_of(w.ctx.row(x.src[i]), inst.type, lane);
    }
}

void Watch::number(WatchedBlock& b, Warp& w, const XInst& x, CheckedFunction& f, std::uint32_t pc,
                   std::uint32_t lanes) {
  const ptx::Inst& inst = *x.inst;
  Findings& findings = checker_.findings();
  const bool store = inst.op == ptx::Op::st;
  if (store && inst.mods.vector > 1) return;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const double value = lane_of(w.ctx.row(store ? x.src[1] : x.dst), inst.type, lane);
    if (std::isfinite(value)) continue;
    const bool nan = std::isnan(value);
    const unsigned thread = w.ctx.warp * exec::warp_size + lane;
    if (store) {
      // The first store behind the birth is the way that it took.
      result::Finding* const born = findings.first_number(nan ? "number.nan" : "number.infinity");
      if (born != nullptr && born->accesses.size() == 1) {
        born->accesses.push_back(
            checker_.access_of(f, pc, id_, b.races.block, thread, "it is stored to memory"));
        born->accesses.back().value = fmt::format("{}", value);
      }
      continue;
    }
    bool inherited = false;
    std::string operands;
    for (unsigned i = 0; i < operands_; ++i) {
      inherited = inherited || std::isnan(operand_[i][lane]) || (!nan && std::isinf(operand_[i][lane]));
      operands += fmt::format("{}{:g}", i == 0 ? "" : ", ", operand_[i][lane]);
    }
    if (inherited) continue;
    result::Finding* const found = findings.add(nan ? "number.nan" : "number.infinity", {&f, pc});
    if (found == nullptr) continue;
    found->message = fmt::format("{} is born: the operands are {}", nan ? "a NaN" : "an infinity", operands);
    found->accesses.push_back(checker_.access_of(f, pc, id_, b.races.block, thread, "computation"));
    found->accesses.back().value = fmt::format("{}", value);
    found->hint = nan ? "0/0, inf - inf, 0 * inf, or the root or logarithm of a negative number"
                      : "a division by zero, or a result beyond the largest number of the type";
  }
}

}  // namespace simtlab::check
