#include "arith_support.h"

#include <fmt/format.h>

#include <cstdio>

namespace arith {

namespace {

const ptx::Inst* keep_alive(ptx::Inst& slot, const Form& form) {
  slot = {};
  slot.op = form.op;
  slot.type = form.type;
  slot.stype = form.stype;
  slot.mods = form.mods;
  auto operand = [](ptx::OperandKind kind, unsigned bytes) {
    ptx::Operand o;
    o.kind = kind;
    o.bytes = static_cast<u8>(bytes);
    return o;
  };
  if (form.result != Type::none)
    slot.dst[slot.dst_count++] =
        operand(ptx::OperandKind::reg, form.result_bytes != 0 ? form.result_bytes : bytes_of(form.result));
  for (unsigned i = 0; i < form.predicate_results; ++i)
    slot.dst[slot.dst_count++] = operand(ptx::OperandKind::pred, 0);
  for (std::size_t i = 0; i < form.sources.size(); ++i)
    slot.src[slot.src_count++] =
        operand(ptx::OperandKind::reg,
                i < form.source_bytes.size() ? form.source_bytes[i] : bytes_of(form.sources[i]));
  for (unsigned i = 0; i < form.predicate_sources; ++i)
    slot.src[slot.src_count++] = operand(ptx::OperandKind::pred, 0);
  return &slot;
}

std::vector<u64> integer_edges(unsigned bytes) {
  const unsigned n = 8 * bytes;
  const u64 all = n == 64 ? ~u64{0} : (u64{1} << n) - 1, top = u64{1} << (n - 1);
  std::vector<u64> v{0,  1,   2,   3,   7,       15,  16,      31,      32,      33,   63,  64,
                     65, 127, 255, all, all - 1, top, top - 1, top + 1, all - 2, 0x55, 0xaa};
  for (unsigned i = 0; i < n; i += 3)
    v.push_back((u64{1} << i) & all), v.push_back(((u64{1} << i) - 1) & all);
  for (u64& x : v) x &= all;
  return v;
}
std::vector<u64> float_edges(unsigned width, unsigned fraction) {
  const u64 sign = u64{1} << (width - 1), inf = (sign - 1) & ~((u64{1} << fraction) - 1),
            one = u64{1} << fraction;
  const u64 bias = inf >> 1 & inf;
  std::vector<u64> v{0,
                     1,
                     2,
                     one - 1,
                     one,
                     one + 1,
                     one * 2,
                     inf - 1,
                     inf,
                     inf + 1,
                     inf | (one >> 1),
                     inf | (one - 1),
                     bias,
                     bias + 1,
                     bias - 1,
                     bias + one,
                     bias + 2 * one,
                     bias - one,
                     bias - 2 * one,
                     bias | (one >> 1),
                     bias + one + (one >> 2),
                     one >> 1,
                     (one >> 1) + 1};
  for (u64 e = 0; e < inf; e += one * (width == 16 ? 3 : width == 32 ? 11 : 97))
    v.push_back(e), v.push_back(e + one - 1), v.push_back(e | one >> 1);
  const std::size_t n = v.size();
  for (std::size_t i = 0; i < n; ++i) v.push_back(v[i] | sign);
  return v;
}

}  // namespace

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> v{{"baseline", exec::baseline::select_arithmetic}};
#ifdef SIMTLAB_X86_HANDLERS
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      v.push_back({"avx2", exec::avx2::select_arithmetic});
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      v.push_back({"avx512", exec::avx512::select_arithmetic});
#endif
    return v;
  }();
  return sets;
}

unsigned bytes_of(Type type) {
  switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8: return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2: return 2;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64: return 8;
    default: return 4;
  }
}

const std::vector<u64>& edges(Type type) {
  static const std::vector<u64> i8 = integer_edges(1), i16 = integer_edges(2), i32 = integer_edges(4),
                                i64 = integer_edges(8), h = float_edges(16, 10), b = float_edges(16, 7),
                                f = float_edges(32, 23), d = float_edges(64, 52);
  switch (type) {
    case Type::f16:
    case Type::f16x2: return h;
    case Type::bf16:
    case Type::bf16x2: return b;
    case Type::f32: return f;
    case Type::f64: return d;
    default: break;
  }
  const unsigned n = bytes_of(type);
  return n == 1 ? i8 : n == 2 ? i16 : n == 4 ? i32 : i64;
}

u64 sample(Random& random, Type type) {
  const std::vector<u64>& e = edges(type);
  const unsigned n = bytes_of(type);
  if (type == Type::f16x2 || type == Type::bf16x2 || type == Type::u16x2 || type == Type::s16x2) {
    const Type part = type == Type::f16x2 ? Type::f16 : type == Type::bf16x2 ? Type::bf16 : Type::u16;
    const u64 high = sample(random, part);
    return high << 16 | sample(random, part);
  }
  const u64 all = n == 8 ? ~u64{0} : (u64{1} << (8 * n)) - 1;
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
    case 3: return e[random.below(e.size())];
    case 4: return random.next() & all & 0x3f;
    case 5:  // floats near 1, where rounding matters
      if (type == Type::f32) return 0x3f000000u + (random.next() & 0x81ffffffu);
      if (type == Type::f64) return 0x3fe0000000000000ull + (random.next() & 0x803fffffffffffffull);
      [[fallthrough]];
    default: return random.next() & all;
  }
}

std::string text_of(u64 value, Type type) {
  char text[80];
  if (type == Type::f32)
    std::snprintf(text, sizeof text, "%#llx (%a)", static_cast<unsigned long long>(value),
                  static_cast<double>(f32(value)));
  else if (type == Type::f64)
    std::snprintf(text, sizeof text, "%#llx (%a)", static_cast<unsigned long long>(value), f64(value));
  else
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(value));
  return text;
}

std::string Form::name() const {
  return fmt::format("op {} type {} stype {} rounding {} compare {} mul {} ftz {} sat {}",
                     static_cast<int>(op), static_cast<int>(type), static_cast<int>(stype),
                     static_cast<int>(mods.rounding), static_cast<int>(mods.compare),
                     static_cast<int>(mods.mul), mods.ftz, mods.sat);
}

namespace {

struct alignas(64) Rows {
  std::byte bytes[64 * 128];
};
unsigned element_bytes(unsigned bytes) { return bytes == 8 ? 8 : 4; }

void put_row(std::byte* row, unsigned element, const std::array<u64, 32>& values) {
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(row + lane * element, &values[lane], element);
}

}  // namespace

Outcome execute(const InstructionSet& isa, const Form& form, const Warp& warp, u32 mask, int alias,
                bool second_half, u32 carry) {
  ptx::Inst inst;
  keep_alive(inst, form);
  XInst x;
  x.inst = &inst;
  x.fn = isa.select(inst);
  if (x.fn == nullptr) {
    ADD_FAILURE() << isa.name << " has no handler: " << form.name();
    return {};
  }
  static Rows rows;
  std::memset(rows.bytes, 0xa5, sizeof rows.bytes);
  u32 preds[8] = {0xa5a5a5a5u, 0xa5a5a5a5u, warp.predicates[0], warp.predicates[1], 0, 0, 0, 0};
  WarpCtx w;
  w.bases[0] = rows.bytes;
  w.preds = preds;
  w.mask = mask;
  w.carry = carry;
  for (unsigned lane = 0; lane < 32; ++lane) w.lanes[lane] = (mask >> lane & 1) != 0 ? ~0u : 0;
  constexpr u32 dst_row = 40;
  x.dst = dst_row * 128;
  x.dst2 = 50 * 128;
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    const u32 at = static_cast<int>(i) == alias ? dst_row + (second_half ? 1 : 0) : static_cast<u32>(4 * i);
    x.src[i] = at * 128;
    put_row(rows.bytes + x.src[i], element_bytes(inst.src[i].bytes), warp.sources[i]);
  }
  if (form.predicate_results > 0) x.pdst = 0;
  if (form.predicate_results > 1) x.pdst2 = 2;
  for (unsigned i = 0; i < form.predicate_sources; ++i) x.psrc[i] = static_cast<exec::PredRef>(4 + 2 * i);
  const Rows before = rows;
  x.fn(w, x);
  Outcome out;
  out.p = preds[0];
  out.q = preds[1];
  out.carry = w.carry;
  const unsigned element = element_bytes(inst.dst_count > 0 ? inst.dst[0].bytes : 4);
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::memcpy(&out.d[lane], rows.bytes + x.dst + lane * element, element);
    if (form.result != Type::none && (mask >> lane & 1) != 0) continue;
    EXPECT_EQ(
        0, std::memcmp(rows.bytes + x.dst + lane * element, before.bytes + x.dst + lane * element, element))
        << isa.name << " wrote inactive lane " << lane << ": " << form.name();
  }
  const u32 keep_p = form.predicate_results > 0 ? ~mask : ~0u,
            keep_q = form.predicate_results > 1 ? ~mask : ~0u;
  EXPECT_EQ(0xa5a5a5a5u & keep_p, out.p & keep_p)
      << isa.name << " wrote predicates of inactive lanes: " << form.name();
  EXPECT_EQ(0xa5a5a5a5u & keep_q, out.q & keep_q)
      << isa.name << " wrote predicates of inactive lanes: " << form.name();
  return out;
}

void check(const Form& form, const Reference& reference, unsigned rounds) {
  Random random(static_cast<u64>(form.op) * 1000003 + static_cast<u64>(form.type) * 1009 +
                static_cast<u64>(form.stype));
  unsigned failures = 0;
  for (unsigned round = 0; round < rounds && failures < 4; ++round) {
    Warp warp;
    for (std::size_t i = 0; i < form.sources.size(); ++i)
      for (u64& v : warp.sources[i]) v = sample(random, form.sources[i]);
    for (u32& p : warp.predicates) p = static_cast<u32>(random.next());
    const u32 mask = round % 3 == 0   ? ~0u
                     : round % 3 == 1 ? static_cast<u32>(random.next())
                                      : 1u << random.below(32);
    const int alias = static_cast<int>(random.below(form.sources.size() + 1)) - 1;
    const bool wide_result = form.result != Type::none &&
                             (form.result_bytes != 0 ? form.result_bytes : bytes_of(form.result)) == 8;
    const bool second_half = alias >= 0 && wide_result &&
                             bytes_of(form.sources[static_cast<std::size_t>(alias)]) < 8 &&
                             random.below(2) != 0;
    for (const InstructionSet& isa : instruction_sets()) {
      const Outcome out = execute(isa, form, warp, mask, alias, second_half);
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        Sources s;
        s.lane = lane;
        std::string inputs;
        for (std::size_t i = 0; i < form.sources.size(); ++i) {
          s.v[i] = warp.sources[i][lane];
          inputs += ' ';
          inputs += text_of(s.v[i], form.sources[i]);
        }
        for (unsigned i = 0; i < 2; ++i) s.p[i] = (warp.predicates[i] >> lane & 1) != 0;
        const Result want = reference(s);
        const u64 got = out.d[lane];
        const bool same =
            form.result == Type::none || (form.accepts ? form.accepts(got, want.d) : got == want.d);
        const bool p_same = form.predicate_results < 1 || ((out.p >> lane & 1) != 0) == want.p;
        const bool q_same = form.predicate_results < 2 || ((out.q >> lane & 1) != 0) == want.q;
        if (same && p_same && q_same) continue;
        ADD_FAILURE() << isa.name << ": " << form.name() << " of" << inputs << ": got "
                      << text_of(got, form.result) << ", want " << text_of(want.d, form.result) << " p "
                      << (out.p >> lane & 1) << "/" << want.p << " q " << (out.q >> lane & 1) << "/" << want.q
                      << " alias " << alias;
        if (++failures >= 4) return;
      }
    }
  }
}

}  // namespace arith
