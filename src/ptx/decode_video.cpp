// Operands of video instructions: parts of registers, masks, negation.
#include <fmt/format.h>

#include "ptx/decode.h"
#include "ptx/video.h"

namespace simtlab::ptx {
namespace {

bool is_simd2(Op op) { return op >= Op::vadd2 && op <= Op::vset2; }
bool is_simd4(Op op) { return op >= Op::vadd4 && op <= Op::vset4; }

// b0..b3, h0, h1 -> 1..6; 0 = whole; -1 = wrong.
int scalar_selector(std::string_view s) {
  if (s.empty()) return 0;
  if (s.size() != 2) return -1;
  if (s[0] == 'b' && s[1] >= '0' && s[1] <= '3') return s[1] - '0' + 1;
  if (s[0] == 'h' && (s[1] == '0' || s[1] == '1')) return s[1] - '0' + 5;
  return -1;
}

// .h10 / .b3210 style selectors: the last digit belongs to part 0. Returns -1 if wrong.
int simd_selectors(std::string_view s, char letter, unsigned parts, unsigned limit, unsigned first) {
  std::uint32_t bits = 0;
  if (s.empty()) {
    for (unsigned i = 0; i < parts; ++i) bits |= (first + i) << (3 * i);
    return static_cast<int>(bits);
  }
  if (s.size() != parts + 1 || s[0] != letter) return -1;
  for (unsigned i = 0; i < parts; ++i) {
    const char c = s[parts - i];
    if (c < '0' || static_cast<unsigned>(c - '0') >= limit) return -1;
    bits |= static_cast<std::uint32_t>(c - '0') << (3 * i);
  }
  return static_cast<int>(bits);
}

// .h0, .h1, .h10; .b0 ... .b3210: which parts of the result are written.
int simd_mask(std::string_view s, char letter, unsigned parts) {
  if (s.empty()) return static_cast<int>((1u << parts) - 1);
  if (s.size() < 2 || s[0] != letter) return -1;
  int mask = 0;
  for (const char c : s.substr(1)) {
    if (c < '0' || static_cast<unsigned>(c - '0') >= parts) return -1;
    mask |= 1 << (c - '0');
  }
  return mask;
}

}  // namespace

// D, A, B [, C] with selectors after the registers.
void FunctionDecoder::video(Inst& inst) {
  const bool simd2 = is_simd2(inst.op), simd4 = is_simd4(inst.op), simd = simd2 || simd4;
  const bool needs_c = inst.op == Op::vmad || simd || inst.mods.atom != AtomOp::none;
  expect_count(needs_c ? 4 : 3, 4);
  const char letter = simd2 ? 'h' : 'b';
  const unsigned parts = simd2 ? 2 : 4;
  auto take = [&](std::size_t i, bool may_negate) {
    AstOperand o = arg(i);
    if (o.negated) {
      if (!may_negate) fail(arg(i), "this operand can't be negated");
      inst.mods.src_type_hi |= i == 1 ? video_neg_a : i == 2 ? video_neg_b : video_neg_c;
    }
    o.negated = false;
    o.selector = {};
    if (i == 0)
      add_dst(inst, result(o, Type::b32));
    else
      add_src(inst, source(o, Type::b32));
  };
  auto field = [&](std::size_t i, int value, unsigned shift) {
    if (value < 0)
      fail(arg(i), fmt::format("'.{}' is no selector of '{}'", arg(i).selector.substr(0, 16),
                               current_->opcode.substr(0, 64)));
    inst.mods.video |= static_cast<std::uint32_t>(value) << shift;
  };
  if (simd) {
    field(0, simd_mask(arg(0).selector, letter, parts), 0);
    field(1, simd_selectors(arg(1).selector, letter, parts, parts * 2, 0), 4);
    field(2, simd_selectors(arg(2).selector, letter, parts, parts * 2, parts), 16);
  } else {
    field(0, scalar_selector(arg(0).selector), video_d_shift);
    field(1, scalar_selector(arg(1).selector), video_a_shift);
    field(2, scalar_selector(arg(2).selector), video_b_shift);
    if (!arg(0).selector.empty() && args_.top.size() < 4)
      fail(arg(0), "a part of the result needs a third source that gives the rest");
  }
  take(0, false);
  const bool mad = inst.op == Op::vmad;
  take(1, mad);
  take(2, mad);
  if (args_.top.size() == 4) take(3, mad);
}

}  // namespace simtlab::ptx
