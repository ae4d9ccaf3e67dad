// What expand() makes of instructions that no hardware has leaves what the executor leaves of them alone.
#include "assembler/expand.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernel_support.h"
#include "machine_comparison.h"

namespace simtlab::exec::expansion {
namespace {

using comparison::draw;
using comparison::format_of;

unsigned expand_for = 75;
std::string refused;
std::set<ptx::Op> left;  // operations in what expand() leaves

bool run_expand(std::span<ptx::VirtualFunction> functions, std::uint32_t which, const ptx::Module&,
                std::string& why) {
  if (!functions[which].fn.is_entry) return false;
  const bool ok = assembler::expand(functions[which], expand_for, why);
  if (!ok) refused = why;
  for (const ptx::Inst& inst : functions[which].fn.code) left.insert(inst.op);
  return ok;
}

// Operands of one type each, in registers %a, %b, %c (their first `sources`), and the result in %d.
struct Case {
  std::string text;    // of the instruction; "D", "A", "B", "C" stand for the operands
  std::string result;  // types of PTX: "f32", "u64"
  std::vector<std::string> sources;
  bool near = false;
  bool guarded = false;
  std::string format = {};  // of the result, if its type does not tell
};

unsigned bytes_of(const std::string& type) {
  return static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789")))) / 8;
}
std::string format_name(const std::string& type) { return type[0] == 'f' ? type : "b" + type.substr(1); }

std::string kernel_of(const Case& c) {
  std::string registers, loads, line = c.text;
  const auto declare = [&](const std::string& name, const std::string& type) {
    registers += "  .reg ." + type + " " + name + ";\n";
  };
  declare("%d", c.result);
  const char letters[] = {'A', 'B', 'C', 'E'};
  for (std::size_t i = 0; i < c.sources.size(); ++i) {
    const std::string name = std::string("%s") + static_cast<char>('a' + i), type = c.sources[i];
    declare(name, type);
    loads += "  ld.param.u64 %p, [in" + std::to_string(i) + "];\n  mul.wide.u32 %o, %i, " +
             std::to_string(bytes_of(type)) + ";\n  add.u64 %p, %p, %o;\n  ld.global." + type + " " + name +
             ", [%p];\n";
    for (std::size_t at = 0; (at = line.find(letters[i], at)) != std::string::npos; at += name.size())
      line.replace(at, 1, name);
  }
  for (std::size_t at = 0; (at = line.find('D', at)) != std::string::npos; at += 2) line.replace(at, 1, "%d");
  const std::string clear = bytes_of(c.result) == 8   ? "  mov.b64 %d, 77;\n"
                            : bytes_of(c.result) == 2 ? "  mov.b16 %d, 77;\n"
                                                      : "  mov.b32 %d, 77;\n";
  std::string guard;
  if (c.guarded) guard = "  and.b32 %k, %i, 1;\n  setp.ne.u32 %g, %k, 0;\n  @%g ";
  return R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in0, .param .u64 in1, .param .u64 in2, .param .u64 in3)
{
  .reg .b32 %i, %j, %k, %t<8>;
  .reg .b64 %p, %o, %q, %w<8>;
  .reg .pred %g, %h;
)" + registers +
         R"(
  mov.u32 %i, %ctaid.x;
  mov.u32 %j, %ntid.x;
  mov.u32 %k, %tid.x;
  mad.lo.u32 %i, %i, %j, %k;
)" + loads +
         clear + "  ld.param.u64 %p, [out];\n  mul.wide.u32 %o, %i, " + std::to_string(bytes_of(c.result)) +
         ";\n  add.u64 %p, %p, %o;\n" + guard + line + ";\n  st.global." + c.result +
         " [%p], %d;\n  ret;\n}\n";
}

using Memory = std::vector<std::byte>;

// `count` results; expanded: by way of expand().
Memory results(const Case& c, const std::vector<Memory>& inputs, std::uint32_t count, bool expanded) {
  ptx::LoadOptions options;
  if (expanded) options.optimise = run_expand;
  GlobalMemory memory(256ull << 20, 0);
  const LoadedModule loaded(ptx::load_module("test.ptx", kernel_of(c), options), memory);
  std::uint64_t addresses[5] = {};
  const auto place = [&](const Memory& values) {
    const std::uint64_t address = memory.allocate(values.size(), "buffer").value();
    memory.write(address, values);
    return address;
  };
  Memory out(std::size_t{count} * bytes_of(c.result));
  addresses[0] = place(out);
  for (std::size_t i = 0; i < inputs.size(); ++i) addresses[i + 1] = place(inputs[i]);
  LaunchParams p;
  p.module = &loaded;
  p.function = 0;
  p.grid = {count / 256};
  p.block = {256};
  const std::vector<std::byte> packed =
      pack_arguments(addresses[0], addresses[1], addresses[2], addresses[3], addresses[4]);
  p.params = packed;
  Launch launch(p, memory);
  run_functional(launch, FunctionalOptions{});
  memory.read(addresses[0], out);
  return out;
}

// SIMTLAB_EXPAND_COUNT: how many pairs of operands a case has, for long runs by hand.
std::uint32_t count_of_pairs() {
  const char* text = std::getenv("SIMTLAB_EXPAND_COUNT");
  return text == nullptr ? 4096 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) / 256 * 256;
}

std::vector<Memory> inputs_of(const Case& c, std::uint32_t count) {
  std::vector<Memory> out;
  std::uint64_t seed = 11;
  for (const std::string& type : c.sources) out.push_back(draw(format_of(format_name(type)), count, seed++));
  return out;
}

// Floating values whose reciprocals, quotients and roots lie close to the middle between two others:
// mantissas near their ends, and with few bits.
std::vector<Memory> hard_inputs_of(const Case& c, std::uint32_t count) {
  std::vector<Memory> out;
  std::mt19937_64 random(17);
  for (const std::string& type : c.sources) {
    const comparison::Format& f = format_of(format_name(type));
    const std::uint64_t mantissas = std::uint64_t{1} << f.fraction,
                        one = (mantissas << (f.bits - f.fraction - 2)) - mantissas;
    Memory values(std::size_t{count} * f.bytes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t few = random() % 64, kind = random() % 5;
      const std::uint64_t mantissa = kind == 0   ? few
                                     : kind == 1 ? mantissas - 1 - few
                                     : kind == 2 ? few << (random() % f.fraction)
                                     : kind == 3 ? mantissas - 1 - (few << (random() % f.fraction))
                                                 : random();
      const std::uint64_t value = one + (random() % 5 - 2) * mantissas + mantissa % mantissas;
      std::memcpy(values.data() + i * f.bytes, &value, f.bytes);
    }
    out.push_back(std::move(values));
  }
  return out;
}

std::uint64_t value_at(const Memory& m, std::size_t index, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, m.data() + index * bytes, bytes);
  return value;
}

bool has_no_hardware(ptx::Op op) {
  using enum ptx::Op;
  switch (op) {
    case div:
    case rem:
    case mul24:
    case mad24:
    case clz:
    case fns:
    case bfe:
    case bfi:
    case cnot:
    case copysign:
    case slct: return true;
    default: return op >= vadd && op <= vset4 && op != vabsdiff4;
  }
}

bool is_near(const Case& c, const std::byte* a, const std::byte* b) {
  const std::string name = c.format.empty() ? format_name(c.result) : c.format;
  return comparison::compare(format_of(name), a, b) != comparison::Likeness::different;
}

void check(const Case& c, const std::vector<Memory>& inputs, std::uint32_t count) {
  refused.clear();
  left.clear();
  const unsigned bytes = bytes_of(c.result);
  const Memory wanted = results(c, inputs, count, false), got = results(c, inputs, count, true);
  EXPECT_EQ(refused, "") << c.text;
  for (const ptx::Op op : left) EXPECT_FALSE(has_no_hardware(op)) << c.text << " leaves " << ptx::name_of(op);
  unsigned wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t want = value_at(wanted, i, bytes), have = value_at(got, i, bytes);
    if (want == have) continue;
    if (c.near && is_near(c, wanted.data() + i * bytes, got.data() + i * bytes)) continue;
    if (++wrong > 3) continue;
    std::string operands;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      operands += fmt::format(" {:x}", value_at(inputs[k], i, bytes_of(c.sources[k])));
    ADD_FAILURE() << c.text << " of" << operands << " gives " << fmt::format("{:x}", have) << ", not "
                  << fmt::format("{:x}", want);
  }
  EXPECT_EQ(wrong, 0u) << c.text << " of " << count;
}

void check(Case c) {
  const std::uint32_t count = count_of_pairs();
  const std::vector<Memory> inputs = inputs_of(c, count);
  check(c, inputs, count);
  if (c.sources[0][0] == 'f') check(c, hard_inputs_of(c, count), count);
  if (c.text.find("%t") != std::string::npos) return;  // of which others would be without values
  c.guarded = true;
  check(c, inputs, std::min<std::uint32_t>(count, 1024));
}

const char* const roundings[] = {"rn", "rz", "rm", "rp"};

TEST(Expand, f32_quotients_are_those_of_the_executor) {
  for (const std::string r : roundings)
    for (const std::string ftz : {"", ".ftz"}) {
      check({"div." + r + ftz + ".f32 D, A, B", "f32", {"f32", "f32"}});
      check({"div." + r + ftz + ".f32 A, A, B; mov.f32 D, A", "f32", {"f32", "f32"}});
      check({"div." + r + ftz + ".f32 D, A, 0f40400000", "f32", {"f32"}});
      check({"div." + r + ftz + ".f32 D, 0f3F800000, A", "f32", {"f32"}});
    }
  for (const std::string kind : {"full", "approx", "full.ftz", "approx.ftz"})
    check({"div." + kind + ".f32 D, A, B", "f32", {"f32", "f32"}});
  EXPECT_FALSE(left.contains(ptx::Op::div));
}

TEST(Expand, f32_reciprocals_and_roots_are_those_of_the_executor) {
  for (const std::string op : {"rcp", "sqrt"})
    for (const std::string ftz : {"", ".ftz"}) {
      for (const std::string r : roundings) check({op + "." + r + ftz + ".f32 D, A", "f32", {"f32"}});
      check({op + ".approx" + ftz + ".f32 D, A", "f32", {"f32"}});
    }
}

TEST(Expand, f32_functions_are_those_of_the_executor) {
  for (const std::string op : {"rsqrt", "sin", "cos", "lg2", "ex2"})
    for (const std::string ftz : {"", ".ftz"}) check({op + ".approx" + ftz + ".f32 D, A", "f32", {"f32"}});
}

TEST(Expand, f64_quotients_and_roots_are_those_of_the_executor) {
  for (const std::string r : roundings) {
    check({"div." + r + ".f64 D, A, B", "f64", {"f64", "f64"}});
    check({"div." + r + ".f64 B, A, B; mov.f64 D, B", "f64", {"f64", "f64"}});
    check({"div." + r + ".f64 D, A, 0d4008000000000000", "f64", {"f64"}});
    check({"rcp." + r + ".f64 D, A", "f64", {"f64"}});
    check({"sqrt." + r + ".f64 D, A", "f64", {"f64"}});
  }
  check({"div.rp.f64 D, 0d3FF0000000000000, A", "f64", {"f64"}});
  check({"rsqrt.approx.f64 D, A", "f64", {"f64"}});
  check({"rsqrt.approx.ftz.f64 D, A", "f64", {"f64"}});
  check({"rcp.approx.ftz.f64 D, A", "f64", {"f64"}});
}

TEST(Expand, quotients_of_integers_are_those_of_the_executor) {
  for (const std::string op : {"div", "rem"})
    for (const std::string type : {"u32", "s32", "u16", "s16", "u64", "s64"}) {
      check({op + "." + type + " D, A, B", type, {type, type}});
      check({op + "." + type + " D, 77, B", type, {type, type}});
    }
  // Where the program tests for small numbers itself
  for (const std::string op : {"div", "rem"})
    for (const std::string type : {"u64", "s64"})
      check({"or.b64 %w1, A, B; " + op + "." + type + " D, A, B", type, {type, type}});
  EXPECT_FALSE(left.contains(ptx::Op::rem));
}

TEST(Expand, quotients_by_numbers_are_those_of_the_executor) {
  for (const std::string op : {"div", "rem"})
    for (const std::string type : {"u16", "s16", "u32", "s32", "u64", "s64"}) {
      std::vector<std::string> divisors = {"0",   "1",   "2",   "3",    "5",    "6",     "7",
                                           "8",   "9",   "10",  "12",   "14",   "25",    "28",
                                           "100", "125", "641", "1000", "1024", "10000", "32767"};
      if (type[0] == 's') {
        for (std::size_t i = divisors.size(); i-- > 0;) divisors.push_back("-" + divisors[i]);
        divisors.push_back(type == "s16" ? "-32768" : type == "s32" ? "-2147483648" : "-9223372036854775808");
      }
      if (type.substr(1) != "16")
        for (const char* d : {"65535", "65536", "16777217", "715827883", "2147483647", "1000000007"})
          divisors.push_back(d);
      if (type == "u32")
        for (const char* d : {"2147483648", "2147483649", "4294967295", "4294967294", "4294967290"})
          divisors.push_back(d);
      if (type == "u64" || type == "s64")
        for (const char* d : {"4294967296", "4294967297", "6700417", "9223372036854775807", "1000000000000",
                              "274177", "6148914691236517205"})
          divisors.push_back(d);
      if (type == "u64")
        for (const char* d : {"9223372036854775808", "18446744073709551615", "18446744073709551614",
                              "9223372036854775809", "12297829382473034412"})
          divisors.push_back(d);
      for (const std::string& d : divisors) check({op + "." + type + " D, A, " + d, type, {type}});
    }
}

TEST(Expand, integers_are_those_of_the_executor) {
  for (const std::string type : {"u64", "s64"}) {
    check({"mul.hi." + type + " D, A, B", type, {type, type}});
    check({"mad.hi." + type + " D, A, B, C", type, {type, type, type}});
    check({"sad." + type + " D, A, B, C", type, {type, type, type}});
    check({"mul.hi." + type + " A, A, 1234567890123; mov.b64 D, A", type, {type}});
  }
  for (const std::string type : {"u32", "s32"})
    for (const std::string mode : {"lo", "hi"}) {
      check({"mul24." + mode + "." + type + " D, A, B", type, {type, type}});
      check({"mad24." + mode + "." + type + " D, A, B, C", type, {type, type, type}});
    }
  check({"mad24.hi.sat.s32 D, A, B, C", "s32", {"s32", "s32", "s32"}});
  check({"mad.hi.sat.s32 D, A, B, C", "s32", {"s32", "s32", "s32"}});
  check({"add.sat.s32 D, A, B", "s32", {"s32", "s32"}});
  check({"sub.sat.s32 D, A, B", "s32", {"s32", "s32"}});
  for (const std::string op : {"min", "max"}) {
    for (const std::string type : {"u16", "s16", "u64", "s64"})
      check({op + "." + type + " D, A, B", type, {type, type}});
    check({op + ".relu.s32 D, A, B", "s32", {"s32", "s32"}});
    for (const std::string kind : {"u16x2", "s16x2", "relu.s16x2"})
      check({op + "." + kind + " D, A, B", "b32", {"b32", "b32"}});
  }
  check({"add.u16x2 D, A, B", "b32", {"b32", "b32"}});
  for (const std::string type : {"u16", "s16"}) {
    for (const std::string mode : {"lo", "hi"}) {
      check({"mul." + mode + "." + type + " D, A, B", type, {type, type}});
      check({"mad." + mode + "." + type + " D, A, B, C", type, {type, type, type}});
    }
    const std::string wide = type.substr(0, 1) + "32";
    check({"mul.wide." + type + " D, A, B", wide, {type, type}});
    check({"mad.wide." + type + " D, A, B, C", wide, {type, type, wide}});
    check({"sad." + type + " D, A, B, C", type, {type, type, type}});
  }
  check({"abs.s16 D, A", "s16", {"s16"}});
  check({"abs.s64 D, A", "s64", {"s64"}});
}

// Between a sum and the one that takes its carry.
TEST(Expand, carries_of_others_are_kept) {
  check(
      {"add.cc.u32 %t0, A, B; mul.hi.u64 %w0, E, C; addc.u32 %t1, A, A; cvt.u32.u64 %t2, %w0; add.u32 D, "
       "%t1, %t2",
       "u32",
       {"u32", "u32", "u64", "u64"}});
}

TEST(Expand, bits_are_those_of_the_executor) {
  for (const std::string type : {"u32", "s32", "u64", "s64"}) {
    check({"bfe." + type + " D, A, B, C", type, {type, "u32", "u32"}});
    for (const std::string place : {"0, 8", "5, 7", "3, 31", "31, 1", "32, 4", "40, 12", "20, 30", "0, 64",
                                    "63, 1", "70, 3", "4, 0", "260, 8", "8, 300"})
      check({"bfe." + type + " D, A, " + place, type, {type}});
    check({"bfind." + type + " D, A", "u32", {type}});
    check({"bfind.shiftamt." + type + " D, A", "u32", {type}});
  }
  for (const std::string type : {"b32", "b64"}) {
    check({"bfi." + type + " D, A, B, C, E", type, {type, type, "u32", "u32"}});
    for (const std::string place :
         {"0, 8", "5, 7", "3, 31", "31, 1", "32, 4", "40, 12", "20, 30", "0, 64", "63, 1", "70, 3", "4, 0"})
      check({"bfi." + type + " D, A, B, " + place, type, {type, type}});
    check({"clz." + type + " D, A", "u32", {type}});
    check({"popc." + type + " D, A", "u32", {type}});
    check({"brev." + type + " D, A", type, {type}});
  }
  check({"fns.b32 D, A, B, C", "b32", {"b32", "b32", "s32"}});
  check({"and.b32 %t0, B, 31; rem.s32 %t1, C, 9; fns.b32 D, A, %t0, %t1", "b32", {"b32", "b32", "s32"}});
}

TEST(Expand, comparisons_are_those_of_the_executor) {
  for (const std::string type : {"f32", "f64", "u32", "s64"}) {
    check({"set.gt.u32." + type + " D, A, B", "u32", {type, type}});
    check({"set.ne.f32." + type + " D, A, B", "f32", {type, type}});
  }
  check({"setp.gt.u32 %h, A, 77; set.lt.and.ftz.u32.f32 D, B, C, %h", "u32", {"u32", "f32", "f32"}});
  for (const std::string type : {"b16", "b32", "b64"}) {
    check({"slct." + type + ".s32 D, A, B, C", type, {type, type, "s32"}});
    check({"slct.ftz." + type + ".f32 D, A, B, C", type, {type, type, "f32"}});
    check({"cnot." + type + " D, A", type, {type}});
  }
  for (const std::string type : {"f32", "f64"}) {
    check({"copysign." + type + " D, A, B", type, {type, type}});
    for (const std::string kind : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})
      check({"testp." + kind + "." + type + " %h, A; selp.u32 D, 5, 6, %h", "u32", {type}});
  }
}

TEST(Expand, functions_of_halves_are_those_of_the_executor) {
  for (const std::string op :
       {"ex2.approx.f16x2", "tanh.approx.f16x2", "ex2.approx.ftz.bf16x2", "tanh.approx.bf16x2"})
    check({op + " D, A", "b32", {"b32"}});
}

TEST(Expand, brain_floats_are_those_of_the_executor) {
  expand_for = 80;
  for (const std::string op : {"add", "sub", "mul"})
    for (const std::string type : {"bf16", "bf16x2"}) {
      const std::string bits = type == "bf16" ? "b16" : "b32";
      check({op + ".rn." + type + " D, A, B", bits, {bits, bits}});
    }
  expand_for = 75;
}

// Lanes of a warp meet at five words; other warps have others.
std::string in_shared_memory(const std::string& atomic, bool memory, const std::string& load) {
  std::string text =
      ".shared .align 8 .b8 sm[512]; mov.u32 %t0, %tid.x; shr.u32 %t1, %t0, 5; and.b32 %t2, %t0, 31; "
      "rem.u32 %t3, %t2, 5; mov.u32 %t5, sm; mad.lo.u32 %t4, %t1, 64, %t5; mad.lo.u32 %t4, %t3, 8, %t4; "
      "mov.b64 %w0, 0x3f80400040003c00; st.shared.b64 [%t4], %w0; bar.sync 0; setp.ne.u32 %h, %t2, 9; " +
      atomic;
  if (memory) text += "; bar.sync 0; " + load;
  return text;
}

TEST(Expand, atomics_on_shared_memory_are_those_of_the_executor) {
  struct Row {
    std::string operation, type, bits, format;
  };
  std::vector<Row> rows = {{"add", "f32", "b32", "f32"},
                           {"add", "f64", "b64", "f64"},
                           {"add", "u64", "b64", ""},
                           {"add.noftz", "f16x2", "b32", "f16x2"},
                           {"add.noftz", "bf16x2", "b32", "bf16x2"},
                           {"add.noftz", "f16", "b16", "f16"},
                           {"add.noftz", "bf16", "b16", "bf16"},
                           {"add", "u32", "b32", ""},
                           {"exch", "b64", "b64", ""}};
  for (const char* op : {"min", "max"})
    for (const char* type : {"u64", "s64"}) rows.push_back({op, type, "b64", ""});
  for (const char* op : {"and", "or", "xor"}) rows.push_back({op, "b64", "b64", ""});
  for (const Row& row : rows)
    for (const unsigned generation : {70u, 80u, 90u}) {
      expand_for = generation;
      const std::string op = row.operation + "." + row.type, load = "ld.shared." + row.bits + " D, [%t4]";
      const bool near = !row.format.empty();
      const auto run = [&](const std::string& atomic, bool memory) {
        check({in_shared_memory(atomic, memory, load), row.bits, {row.bits}, near, false, row.format});
      };
      run("atom.shared." + op + " D, [%t4], A", false);
      run("@%h atom.shared." + op + " D, [%t4], A", false);
      run("atom.shared." + op + " A, [%t4], A; mov." + row.bits + " D, A", false);
      run("atom.shared." + op + " A, [%t4], A", true);
      EXPECT_EQ(left.contains(ptx::Op::bra), row.type != "u32" && row.operation != "exch") << op;
      if (row.operation != "exch") run("red.shared." + op + " [%t4], A", true);
    }
  for (const std::string at : {"%t4", "%t4+2"})
    check({in_shared_memory("atom.shared.cas.b16 D, [" + at + "], 0x4000, A", false, ""), "b16", {"b16"}});
  check({in_shared_memory("atom.shared.cas.b16 D, [%t4+2], 0x4000, A", true, "ld.shared.b16 D, [%t4+2]"),
         "b16",
         {"b16"}});
  expand_for = 75;
}

TEST(Expand, atomics_on_halves_of_words_are_those_of_the_executor) {
  const std::string place =
      "ld.param.u64 %q, [in0]; and.b32 %t0, %i, 31; rem.u32 %t1, %t0, 5; and.b32 %t2, %i, -32; "
      "add.u32 %t1, %t1, %t2; mul.wide.u32 %w1, %t1, 2; add.u64 %q, %q, %w1; ";
  for (const std::string space : {"", ".global"}) {
    check({place + "atom" + space + ".add.noftz.f16 D, [%q], B", "b16", {"b16", "b16"}, true, false, "f16"});
    check({place + "atom" + space + ".cas.b16 D, [%q], 0x3c00, B", "b16", {"b16", "b16"}});
  }
}

TEST(Expand, video_instructions_are_those_of_the_executor) {
  const std::vector<std::string> words = {"b32", "b32", "b32"};
  for (const std::string op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (const std::string types : {".u32.u32.u32", ".s32.s32.u32", ".u32.s32.s32", ".s32.u32.s32"})
      for (const std::string sat : {"", ".sat"}) {
        check({op + types + sat + " D, A, B", "b32", words});
        check({op + types + sat + " D.b1, A.h1, B.b3, C", "b32", words});
        check({op + types + sat + ".add D, A.b0, B, C", "b32", words});
        check({op + types + sat + ".min D, A, B.h0, C", "b32", words});
      }
  for (const std::string types : {".u32.u32", ".s32.u32", ".s32.s32"}) {
    check({"vset" + types + ".lt D, A, B", "b32", words});
    check({"vset" + types + ".ge D.h1, A.b2, B.b0, C", "b32", words});
  }
  for (const std::string mode : {"clamp", "wrap"}) {
    check({"vshr.s32.s32.u32." + mode + " D, A, B", "b32", words});
    check({"vshr.u32.u32.u32.sat." + mode + " D.b0, A, B.b0, C", "b32", words});
    check({"vshl.u32.u32.u32." + mode + " D, A.h0, B.b1", "b32", words});
    for (const std::string types : {".u32.u32.u32", ".s32.u32.u32", ".s32.s32.u32"}) {
      check({"vshl" + types + ".sat." + mode + " D, A, B", "b32", words});
      check({"vshl" + types + ".sat." + mode + " D.h1, A, B.b0, C", "b32", words});
    }
  }
  for (const std::string rest : {"", ".shr7", ".shr15", ".sat", ".sat.shr7"}) {
    check({"vmad.u32.u32.u32" + rest + " D, A, B, C", "b32", words});
    check({"vmad.s32.u32.s32" + rest + " D, A, B, C", "b32", words});
    check({"vmad.s32.s32.s32" + rest + " D, -A.h0, B.b1, C", "b32", words});
    check({"vmad.s32.s32.s32" + rest + " D, A, B, -C", "b32", words});
  }
  for (const std::string parts : {"2", "4"})
    for (const std::string op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
      for (const std::string types : {".u32.u32.u32", ".s32.s32.u32", ".s32.u32.s32"})
        for (const std::string rest : {"", ".sat", ".add"})
          check({op + parts + types + rest + " D, A, B, C", "b32", words});
  check({"vset4.u32.s32.le.add D, A, B, C", "b32", words});
  check({"vadd2.s32.s32.s32 D.h1, A.h10, B.h32, C", "b32", words});
  check({"vadd4.s32.s32.s32.sat D.b20, A.b7654, B.b3012, C", "b32", words});
}

// Code that stands behind an expanded instruction moves, and what jumps to it.
TEST(Expand, branches_lead_where_they_led) {
  check(
      {"mov.u32 %t0, 0; again: rem.u32 %t1, A, 7; add.u32 %t1, %t1, 2; div.u32 A, A, %t1; add.u32 %t0, %t0, "
       "1; "
       "setp.gt.u32 %h, A, 100; @%h bra again; setp.eq.u32 %h, %t0, 3; @!%h bra over; rem.u32 %t0, B, %t0; "
       "over: add.u32 D, A, %t0",
       "u32",
       {"u32", "u32"}});
  check(
      {"div.rn.f32 A, A, B; setp.gt.f32 %h, A, 0f3F800000; @%h bra more; div.rn.f32 A, B, A; bra both; more: "
       "sqrt.rn.f32 A, A; both: rcp.rn.f32 D, A",
       "f32",
       {"f32", "f32"}});
  check(
      {"rem.u32 %t0, A, 3; div.rn.f32 B, B, C; ts: .branchtargets l0, l1, l2; brx.idx %t0, ts; l0: "
       "div.rn.f32 B, C, B; bra l2; "
       "l1: sqrt.rn.f32 B, B; l2: mov.f32 D, B",
       "f32",
       {"u32", "f32", "f32"}});
}

TEST(Expand, what_is_not_done_is_named) {
  const Case c{"vmad.u32.u32.u32.sat D, A, B, -C", "b32", {"b32", "b32", "b32"}};
  refused.clear();
  results(c, inputs_of(c, 256), 256, true);
  EXPECT_EQ(refused, "vmad of unsigned words with a sign");
}

}  // namespace
}  // namespace simtlab::exec::expansion
