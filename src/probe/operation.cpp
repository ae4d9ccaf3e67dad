#include "probe/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "probe/window.h"

namespace simtlab::probe {
namespace {

using enum Register;
using device::OpClass;

constexpr OpClass none = OpClass::count_;

// Steps alternate where an assembler would make one instruction of two: sums of sums (three operands), logic
// of logic, a shift and a sum, a product and a sum.
constexpr Operation table[] = {
    {"add.s32", OpClass::int_alu, b32, "add.s32 X, X, Y; min.s32 X, X, Z;", 2, 0, 1 << 30},
    {"sub.s32", none, b32, "sub.s32 X, X, Y; max.s32 X, X, Z;", 2, 0, -(1 << 30)},
    {"min.s32", none, b32, "min.s32 X, X, Y; max.s32 X, X, Z;", 2, 1 << 30, -(1 << 30)},
    {"xor.b32", none, b32, "xor.b32 X, X, Y; max.s32 X, X, Z;", 2, 0, -(1 << 30)},
    {"shl.b32", none, b32, "shl.b32 X, X, Y; max.s32 X, X, Z;", 2, 0, -(1 << 30)},
    {"shr.s32", none, b32, "shr.s32 X, X, Y; max.s32 X, X, Z;", 2, 0, -(1 << 30)},
    {"setp.selp", none, b32, "setp.lt.s32 P, X, Y; selp.b32 X, X, Z, P;", 2, 1 << 30, 0},
    {"abs.s32", none, b32, "abs.s32 X, X; min.s32 X, X, Z;", 2, 0, 1 << 30},
    {"prmt.b32", none, b32, "prmt.b32 X, X, Y, Z;", 1, 0, 0x3210},
    {"add.s64", none, b64, "add.s64 X, X, Y; min.s64 X, X, Z;", 2, 0, 1 << 30},
    {"mul.lo.s32", OpClass::int_mul, b32, "mul.lo.s32 X, X, Y;", 1, 1},
    {"mad.lo.s32", none, b32, "mad.lo.s32 X, X, Y, Z;", 1, 1, 0},
    {"mul.hi.u32", none, b32, "mul.hi.u32 X, X, Y; max.u32 X, X, Z;", 1, 1, 7, false},
    {"mul.wide.s32", none, b32, "mul.wide.s32 B, X, Y; cvt.u32.u64 X, B;", 1, 1},
    {"mul.lo.s64", none, b64, "mul.lo.s64 X, X, Y;", 1, 1},
    {"mad.lo.s64", none, b64, "mad.lo.s64 X, X, Y, Z;", 1, 1, 0},
    {"div.s32", OpClass::int_div, b32, "div.s32 X, X, Y;", 1, 1},
    {"div.u32", none, b32, "div.u32 X, X, Y;", 1, 1},
    {"rem.s32", none, b32, "rem.s32 X, X, Y;", 1, 1 << 20},
    {"div.s64", none, b64, "div.s64 X, X, Y;", 1, 1},
    {"popc.b32", OpClass::bit, b32, "popc.b32 X, X;", 1, 0, 0, false},
    {"clz.b32", none, b32, "clz.b32 X, X;", 1, 0, 0, false},
    {"brev.b32", none, b32, "brev.b32 X, X;", 1},
    {"bfe.u32", none, b32, "bfe.u32 X, X, Y, Z;", 1, 0, 24},
    {"add.f32", none, f32, "add.f32 X, X, Y;", 1, 0},
    {"mul.f32", none, f32, "mul.f32 X, X, Y;", 1, 1},
    {"fma.rn.f32", OpClass::fp32, f32, "fma.rn.f32 X, X, Y, Z;", 1, 1, 0},
    {"min.f32", none, f32, "min.f32 X, X, Y; max.f32 X, X, Z;", 2, 1e30, 0},
    {"div.rn.f32", OpClass::fp32_div, f32, "div.rn.f32 X, X, Y;", 1, 1},
    {"div.approx.ftz.f32", none, f32, "div.approx.ftz.f32 X, X, Y;", 1, 1},
    {"rcp.rn.f32", none, f32, "rcp.rn.f32 X, X;", 1},
    {"rcp.approx.ftz.f32", none, f32, "rcp.approx.ftz.f32 X, X;", 1},
    {"sqrt.rn.f32", OpClass::fp32_sqrt, f32, "sqrt.rn.f32 X, X;", 1, 0, 0, false},
    {"sqrt.approx.ftz.f32", none, f32, "sqrt.approx.ftz.f32 X, X;", 1, 0, 0, false},
    {"rsqrt.approx.ftz.f32", OpClass::sfu, f32, "rsqrt.approx.ftz.f32 X, X;", 1, 0, 0, false},
    {"sin.approx.ftz.f32", none, f32, "sin.approx.ftz.f32 X, X;", 1, 0, 0, false},
    {"cos.approx.ftz.f32", none, f32, "cos.approx.ftz.f32 X, X;", 1, 0, 0, false},
    {"ex2.lg2.f32", none, f32, "ex2.approx.ftz.f32 X, X; lg2.approx.ftz.f32 X, X;", 2},
    {"add.f64", none, f64, "add.f64 X, X, Y;", 1, 0},
    {"mul.f64", none, f64, "mul.f64 X, X, Y;", 1, 1},
    {"fma.rn.f64", OpClass::fp64, f64, "fma.rn.f64 X, X, Y, Z;", 1, 1, 0},
    {"div.rn.f64", OpClass::fp64_div, f64, "div.rn.f64 X, X, Y;", 1, 1},
    {"rcp.rn.f64", none, f64, "rcp.rn.f64 X, X;", 1},
    {"sqrt.rn.f64", OpClass::fp64_sqrt, f64, "sqrt.rn.f64 X, X;", 1, 0, 0, false},
    {"fma.rn.f16x2", OpClass::fp16, f16x2, "fma.rn.f16x2 X, X, Y, Z;", 1, 1, 0, true, 53},
    {"cvt.rn.f32.s32", OpClass::convert, b32, "cvt.rn.f32.s32 X, X;", 1, 0, 0, false},
    {"cvt.rn.f64.s64", OpClass::convert64, b64, "cvt.rn.f64.s64 X, X;", 1, 0, 0, false},
    {"cvt.f64.f32", none, f32, "cvt.f64.f32 D, X; cvt.rn.f32.f64 X, D;", 2},
    {"shfl.idx.b32", OpClass::shuffle, b32, "SHFL X, X, Y, 31MASK;", 1, 0, 0, true, 30},
    {"vote.all.pred", OpClass::vote, predicate, "VOTE X, XMASK;", 1, 0, 0, false},
};

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// A name of one capital letter, where it stands alone.
std::string with_register(const std::string& text, char letter, const std::string& by) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto word = [&](std::size_t k) {
      return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '%');
    };
    const bool alone = (i == 0 || !word(i - 1)) && !word(i + 1);
    if (text[i] == letter && alone)
      out += by;
    else
      out += text[i];
  }
  return out;
}

const char* register_type(Register kind) {
  switch (kind) {
    case b64: return ".b64";
    case f32: return ".f32";
    case f64: return ".f64";
    case predicate: return ".pred";
    default: return ".b32";
  }
}
unsigned value_bytes(Register kind) { return kind == b64 || kind == f64 ? 8 : 4; }

// Instructions of a step, each for all chains before the next one: a chain waits for itself only.
std::vector<std::string> instructions_of(std::string_view step) {
  std::vector<std::string> out;
  while (!step.empty()) {
    const std::size_t end = std::min(step.find(';'), step.size() - 1);
    out.emplace_back(step.substr(0, end + 1));
    step.remove_prefix(end + 1);
  }
  return out;
}

std::string for_chain(std::string text, unsigned chain, bool synchronised) {
  text = replaced(text, "SHFL", synchronised ? "shfl.sync.idx.b32" : "shfl.idx.b32");
  text = replaced(text, "VOTE", synchronised ? "vote.sync.all.pred" : "vote.all.pred");
  text = replaced(text, "MASK", synchronised ? ", 0xffffffff" : "");
  text = with_register(text, 'X', fmt::format("%x{}", chain));
  text = with_register(text, 'Y', "%y");
  text = with_register(text, 'Z', "%z");
  for (const char letter : {'A', 'B', 'F', 'D', 'P'})
    text = with_register(text, letter, fmt::format("%{}{}", static_cast<char>(letter - 'A' + 'a'), chain));
  return text + "\n";
}

const char* of_letter(char letter) {
  switch (letter) {
    case 'f': return "fma.rn.f32 X, X, Y, Z;";
    case 'i': return "max.s32 X, X, Z;";
    case 'p': return "popc.b32 X, X;";
    case 'l': return "ld.volatile.shared.u32 A, [cell];";
    default: return "rsqrt.approx.ftz.f32 X, X;";
  }
}

std::string step_of(const Operation& op, unsigned chains, bool synchronised) {
  std::string out;
  if (!op.pattern.empty()) {
    for (unsigned i = 0; i < chains; ++i) {
      out += for_chain(of_letter(op.pattern[i % op.pattern.size()]), i, synchronised);
    }
    return out;
  }
  for (const std::string& instruction : instructions_of(op.step))
    for (unsigned i = 0; i < chains; ++i) out += for_chain(instruction, i, synchronised);
  return out;
}

// Chain `i` begins at x + i * x_step, computed from the parameter.
std::string begin_of(const Operation& op, unsigned i) {
  const double offset = i * op.x_step;
  switch (op.kind) {
    case b64: return fmt::format("add.s64 %x{}, %x, {};\n", i, static_cast<long long>(offset));
    case f32:
      return fmt::format("add.f32 %x{}, %x, 0f{:08x};\n", i,
                         std::bit_cast<std::uint32_t>(static_cast<float>(offset)));
    case f64: return fmt::format("add.f64 %x{}, %x, 0d{:016x};\n", i, std::bit_cast<std::uint64_t>(offset));
    case f16x2: return fmt::format("mov.b32 %x{}, %x;\n", i);
    case predicate: return fmt::format("setp.ne.s32 %x{}, %x, {};\n", i, 100 + i);
    default: return fmt::format("add.s32 %x{}, %x, {};\n", i, static_cast<int>(offset));
  }
}

std::string sum_of_chain(const Operation& op, unsigned i) {
  std::string convert;
  switch (op.kind) {
    case b64: convert = fmt::format("cvt.rn.f64.s64 %s1, %x{};", i); break;
    case f32: convert = fmt::format("cvt.f64.f32 %s1, %x{};", i); break;
    case f64: convert = fmt::format("mov.f64 %s1, %x{};", i); break;
    case f16x2: convert = fmt::format("and.b32 %pass, %x{}, 65535; cvt.rn.f64.u32 %s1, %pass;", i); break;
    case predicate:
      convert = fmt::format("selp.f64 %s1, 0d3ff0000000000000, 0d0000000000000000, %x{};", i);
      break;
    default: convert = fmt::format("cvt.rn.f64.s32 %s1, %x{};", i); break;
  }
  return convert + " add.f64 %s, %s, %s1;\n";
}

}  // namespace

std::span<const Operation> operations() { return table; }

const Operation* find_operation(std::string_view name) {
  const auto at = std::ranges::find(table, name, &Operation::name);
  return at == std::end(table) ? nullptr : at;
}

namespace {

struct Text {
  std::string parameters, registers, begin, step, sum;
};

Text text_of(const Operation& op, unsigned chains, const gpu::BoardFacts& facts) {
  const char* type = register_type(op.kind);
  const char* held = op.kind == predicate ? ".b32" : type;  // of the parameter
  const std::string parameter = fmt::format(".param .b{}", value_bytes(op.kind) * 8);
  Text t;
  t.parameters = fmt::format("{0} px, {0} py, {0} pz, .param .u32 pzero", parameter);
  t.registers = fmt::format(".reg {} %x<{}>;\n.reg {} %x, %y, %z;\n", type, chains, held);
  t.registers += fmt::format(
      ".reg .b32 %a<{0}>, %u, %t, %w, %pass, %sm, %zero; .reg .b64 %b<{0}>, %t0, %t1, %o, %v, %n, %zero64; "
      ".reg .f32 %f<{0}>; .reg .f64 %d<{0}>, %s, %s1; .reg .pred %p<{0}>, %q;\n",
      chains);
  t.step = step_of(op, chains, facts.cc_major >= 7);
  if (op.pattern.find('l') != std::string_view::npos) t.registers += ".shared .align 4 .b32 cell;\n";
  t.begin = "ld.param.u32 %zero, [pzero];\ncvt.u64.u32 %zero64, %zero;\n";
  if (op.pattern.find('l') != std::string_view::npos) t.begin += "st.shared.u32 [cell], %zero;\n";
  for (const char* name : {"x", "y", "z"})
    t.begin += fmt::format("ld.param{} %{}, [p{}];\n", held, name, name);
  for (unsigned i = 0; i < chains; ++i) {
    t.begin += begin_of(op, i);
    t.sum += sum_of_chain(op, i);
  }
  return t;
}

// What each warp leaves: its two readings, %s, the multiprocessor.
constexpr const char* leave =
    "mov.u32 %t, %tid.x;\nand.b32 %u, %t, 31;\nsetp.ne.u32 %q, %u, 0;\n@%q bra DONE;\nmul.wide.u32 %v, %t, "
    "1;\nld.param.u64 %o, [out];\nadd.u64 %o, %o, %v;\n"
    "st.global.u64 [%o], %t0;\nst.global.u64 [%o+8], %t1;\nst.global.f64 [%o+16], %s;\nmov.u32 %sm, "
    "%smid;\ncvt.u64.u32 %v, %sm;\nst.global.u64 [%o+24], %v;\nDONE:\nret;\n}\n";

}  // namespace

std::string chain_kernels(const Operation& op, unsigned chains, unsigned steps,
                          const gpu::BoardFacts& facts) {
  const Text t = text_of(op, chains, facts);
  std::string out;
  for (const unsigned factor : {1u, 2u, 4u}) {
    out += fmt::format(".visible .entry chain_{}(.param .u64 out, {})\n{{\n", factor, t.parameters) +
           t.registers + t.begin + "mov.u32 %pass, 2;\nPASS:\nbar.sync 0;\nmov.u64 %t0, %clock64;\n";
    for (unsigned n = 0; n < steps * factor; ++n) out += t.step;
    out +=
        "mov.u64 %t1, %clock64;\nsub.u32 %pass, %pass, 1;\nsetp.ne.u32 %q, %pass, 0;\n@%q bra PASS;\nmov.f64 "
        "%s, 0d0000000000000000;\n" +
        t.sum + leave;
  }
  return out;
}

std::string window_kernel(const Operation& op, unsigned chains, unsigned steps,
                          const gpu::BoardFacts& facts) {
  const Text t = text_of(op, chains, facts);
  std::string body;
  for (unsigned n = 0; n < steps; ++n) body += t.step;
  return fmt::format(".visible .entry window(.param .u64 out, {}, .param .u64 cycles)\n{{\n", t.parameters) +
         t.registers + t.begin + window_text(body, "mov.f64 %s, 0d0000000000000000;\n" + t.sum, "%s");
}

const char* const rest_text =
    "sub.u64 %n, %t1, %t0;\nmul.lo.u64 %n, %n, 3;\nadd.u64 %n, %n, %t1;\nREST:\nmov.u64 %v, "
    "%clock64;\nsetp.lt.u64 %q, %v, %n;\n@%q bra REST;\n";

namespace {

// Makes the chain wait for %v, which is 0; and the warp for the chain, by a value that it never has.
std::pair<const char*, const char*> tied(Register kind) {
  switch (kind) {
    case b64: return {"xor.b64 %x0, %x0, %v;", "setp.eq.u64 %q, %x0, 0x5555555555555555;"};
    case f32:
      return {"cvt.u32.u64 %t, %v; mov.b32 %u, %x0; xor.b32 %u, %u, %t; mov.b32 %x0, %u;",
              "mov.b32 %u, %x0; setp.eq.u32 %q, %u, 0x55555555;"};
    case f64:
      return {"mov.b64 %n, %x0; xor.b64 %n, %n, %v; mov.b64 %x0, %n;",
              "mov.b64 %n, %x0; setp.eq.u64 %q, %n, 0x5555555555555555;"};
    case predicate:
      return {"setp.ne.u64 %q, %v, 0; or.pred %x0, %x0, %q;",
              "selp.b32 %u, 1, 0, %x0; setp.eq.u32 %q, %u, 7;"};
    default: return {"cvt.u32.u64 %t, %v; xor.b32 %x0, %x0, %t;", "setp.eq.u32 %q, %x0, 0x55555555;"};
  }
}

}  // namespace

std::string single_kernels(const Operation& op, const gpu::BoardFacts& facts) {
  const Text t = text_of(op, 1, facts);
  const auto [tie, wait] = tied(op.kind);
  std::string out = fmt::format(".shared .align 4 .b32 kept[{}];\n", single_steps);
  for (const unsigned n : {0u, 1u})
    out += fmt::format(".visible .entry singles_{}(.param .u64 out, {})\n{{\n", n, t.parameters) +
           t.registers + t.begin +
           fmt::format(
               "mov.u32 %sm, kept;\nmov.u32 %pass, {};\nmov.u64 %t0, %clock64;\nmov.u64 %t1, %t0;\nPASS:\n",
               single_steps) +
           rest_text +
           "mov.u64 %t0, %clock64;\nsetp.eq.u64 %q, %t0, 1;\n@%q bra DONE;\nand.b64 %v, %t0, %zero64;\n" +
           tie + "\n" + (n == 0 ? "" : t.step) + wait +
           "\n@%q bra DONE;\nmov.u64 %t1, %clock64;\nsub.u64 %n, %t1, %t0;\ncvt.u32.u64 %u, "
           "%n;\nst.volatile.shared.u32 [%sm], %u;\nadd.u32 %sm, %sm, 4;\nsub.u32 %pass, %pass, 1;\n"
           "setp.ne.u32 %q, %pass, 0;\n@%q bra PASS;\nmov.f64 %s, 0d0000000000000000;\n" +
           t.sum +
           fmt::format(
               "mov.u32 %t, %tid.x;\nsetp.ne.u32 %q, %t, 0;\n@%q bra DONE;\nld.param.u64 %o, "
               "[out];\nst.global.f64 [%o], %s;\nmov.u32 %sm, kept;\nmov.u32 %pass, {};\nOUT:\n",
               single_steps) +
           "ld.volatile.shared.u32 %u, [%sm];\ncvt.u64.u32 %v, %u;\nadd.u64 %o, %o, 8;\nst.global.u64 [%o], "
           "%v;\nadd.u32 %sm, %sm, 4;\nsub.u32 %pass, %pass, 1;\nsetp.ne.u32 %q, %pass, 0;\n@%q bra "
           "OUT;\nDONE:\nret;\n}\n";
  return out;
}

gpu::Arguments chain_arguments(const Operation& op, std::uint64_t out) {
  gpu::Arguments a(out);
  for (const double v : {op.x, op.y, op.z}) switch (op.kind) {
      case b64: a.add(static_cast<std::int64_t>(v)); break;
      case f32: a.add(static_cast<float>(v)); break;
      case f64: a.add(v); break;
      case f16x2: a.add(v == 1 ? 0x3c003c00u : 0u); break;  // 1 or 0, twice
      default: a.add(static_cast<std::int32_t>(v)); break;
    }
  a.add(0u);
  return a;
}

bool plausible(const Operation& op, unsigned chains, double sum) {
  if (!std::isfinite(sum)) return false;
  if (!op.identity) return true;
  const double n = chains;
  const double expected = op.kind == f16x2 ? n * 0x3c00 : n * op.x + op.x_step * n * (n - 1) / 2;
  return std::abs(sum - expected) <= 1e-3 * std::abs(expected);
}

}  // namespace simtlab::probe
