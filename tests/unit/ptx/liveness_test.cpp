// Slots against an independent checker: bit-set liveness per instruction, and no two live values in one row.
#include "ptx/liveness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "helpers.h"
#include "ptx/cfg.h"

namespace simtlab::ptx {
namespace {

using namespace test;

struct Sample {
  Function f;
  std::vector<Type> types;
};

// Random code over registers of all widths, with guards and branches.
Sample random_code(std::mt19937& rng, std::uint32_t n, std::uint32_t registers) {
  Sample s;
  auto any = [&](std::uint32_t below) { return static_cast<std::uint32_t>(rng() % below); };
  const Type kinds[] = {Type::b32, Type::b32, Type::b64, Type::b16, Type::pred};
  for (std::uint32_t r = 0; r < registers; ++r) s.types.push_back(kinds[any(5)]);
  auto operand = [&] {
    Operand o;
    o.index = any(registers);
    o.kind = s.types[o.index] == Type::pred ? OperandKind::pred : OperandKind::reg;
    o.bytes = static_cast<std::uint8_t>(size_of(s.types[o.index]));
    return o;
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    Inst inst;
    inst.op = Op::add;
    if (any(6) == 0) inst.op = Op::bra, inst.target = any(n + 1);
    for (std::uint32_t k = any(4); k > 0; --k) inst.src[inst.src_count++] = operand();
    if (inst.op == Op::add)
      for (std::uint32_t k = any(8) == 0 ? 2 : 1; k > 0; --k) inst.dst[inst.dst_count++] = operand();
    if (any(4) == 0) {
      inst.guard.kind = OperandKind::pred;
      inst.guard.index = any(registers);
      if (s.types[inst.guard.index] != Type::pred) inst.guard = {};
    }
    s.f.code.push_back(inst);
  }
  Inst ret;
  ret.op = Op::ret;
  s.f.code.push_back(ret);
  return s;
}

// Registers live before each instruction, by iteration to the fixed point.
std::vector<std::set<std::uint32_t>> live_before(const Function& f) {
  const std::size_t n = f.code.size();
  std::vector<std::set<std::uint32_t>> live(n + 1);
  Accesses a;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t pc = n; pc-- > 0;) {
      const Inst& inst = f.code[pc];
      const bool guarded = inst.guard.kind != OperandKind::none;
      std::set<std::uint32_t> now;
      auto join = [&](std::size_t to) { now.insert(live[to].begin(), live[to].end()); };
      if (inst.op == Op::bra) join(inst.target);
      if ((inst.op != Op::bra && inst.op != Op::ret) || guarded) join(pc + 1);
      accesses_of(f, inst, a);
      if (!guarded)
        for (const std::uint32_t r : a.writes) now.erase(r);
      now.insert(a.reads.begin(), a.reads.end());
      if (now != live[pc]) live[pc] = std::move(now), changed = true;
    }
  }
  return live;
}

std::vector<std::uint32_t> rows_of(const Sample& s, const Allocation& a, std::uint32_t r) {
  if (s.types[r] == Type::pred) return {1'000'000 + a.slot[r]};
  if (size_of(s.types[r]) == 8) return {a.slot[r], a.slot[r] + 1};
  return {a.slot[r]};
}

// Live registers own their rows alone; results don't touch rows of values that live on, nor of other results,
// nor - in instructions with several results or of other widths - of sources.
void check(const Sample& s, const Allocation& a) {
  const auto live = live_before(s.f);
  Accesses acc;
  auto own = [&](const std::set<std::uint32_t>& registers, std::size_t pc) {
    std::set<std::uint32_t> taken;
    for (const std::uint32_t r : registers)
      for (const std::uint32_t row : rows_of(s, a, r))
        ASSERT_TRUE(taken.insert(row).second) << "row " << row << " at pc " << pc;
  };
  for (std::size_t pc = 0; pc < s.f.code.size(); ++pc) {
    const Inst& inst = s.f.code[pc];
    own(live[pc], pc);
    accesses_of(s.f, inst, acc);
    std::set<std::uint32_t> after(acc.writes.begin(), acc.writes.end());
    if (inst.op == Op::bra) after.insert(live[inst.target].begin(), live[inst.target].end());
    if (inst.op == Op::add || inst.guard.kind != OperandKind::none)
      after.insert(live[pc + 1].begin(), live[pc + 1].end());
    own(after, pc);
    for (const std::uint32_t w : acc.writes) {
      for (const std::uint32_t r : acc.reads) {
        if (r == w) continue;
        const auto to = rows_of(s, a, w), from = rows_of(s, a, r);
        bool overlap = false;
        for (const std::uint32_t x : to)
          for (const std::uint32_t y : from) overlap = overlap || x == y;
        if (overlap) { ASSERT_TRUE(acc.writes.size() == 1 && to == from) << "pc " << pc; }
      }
    }
  }
  for (std::uint32_t r = 0; r < s.types.size(); ++r) {
    if (s.types[r] == Type::pred) continue;
    if (size_of(s.types[r]) == 8) { EXPECT_EQ(a.slot[r] % 2, 0u); }
  }
}

TEST(Slots, NoTwoLiveValuesShareARow) {
  std::mt19937 rng(11);
  for (int round = 0; round < 500; ++round) {
    const Sample s = random_code(rng, 3 + static_cast<std::uint32_t>(rng() % 60),
                                 2 + static_cast<std::uint32_t>(rng() % 25));
    const Cfg cfg = build_cfg(s.f);
    const Allocation a = allocate(s.f, cfg, s.types);
    check(s, a);
    if (HasFatalFailure()) return;
  }
}

TEST(Slots, PressureIsTheMostRowsLiveAtOnce) {
  std::mt19937 rng(13);
  for (int round = 0; round < 200; ++round) {
    const Sample s = random_code(rng, 40, 12);
    const Cfg cfg = build_cfg(s.f);
    const Allocation a = allocate(s.f, cfg, s.types);
    std::uint32_t most = 0;
    const auto live = live_before(s.f);
    Accesses acc;
    auto weight = [&](std::uint32_t r) {
      return s.types[r] == Type::pred ? 0u : size_of(s.types[r]) == 8 ? 2u : 1u;
    };
    for (std::size_t pc = 0; pc < s.f.code.size(); ++pc) {
      std::uint32_t now = 0;
      for (const std::uint32_t r : live[pc]) now += weight(r);
      most = std::max(most, now);
    }
    EXPECT_GE(a.max_live, most);
    EXPECT_LE(a.max_live, most + 4) << "results that nobody reads count while they are written";
    EXPECT_GE(a.rows + 1, most);
  }
}

TEST(Slots, ChainsOfTemporariesReuseRows) {
  std::string body = "mov.u32 %r1, %tid.x;";
  for (int i = 0; i < 100; ++i)
    body += fmt::format("add.u32 %t{}, %r1, {}; xor.b32 %r1, %t{}, %r1;", i, i, i);
  const auto k = load_kernel(".reg .b32 %t<100>;" + body + " st.global.u32 [%rd1], %r1; ret;");
  EXPECT_LE(k.fn.reg_rows, 6u);
  EXPECT_LE(k.fn.registers, 10u);
}

TEST(Slots, AGuardedWriteKeepsTheOldValue) {
  // %r1 must survive the write of %r2 in between although its next mention is a write.
  const auto k = load_kernel(
      "mov.u32 %r1, 1; mov.u32 %r2, 2; @%p1 mov.u32 %r1, 3; add.u32 %r3, %r1, %r2; st.global.u32 [%rd1], "
      "%r3; ret;");
  EXPECT_NE(k[0].dst[0].index, k[1].dst[0].index);
  EXPECT_EQ(k[0].dst[0].index, k[2].dst[0].index);
}

TEST(Slots, HugeFunctionsWithManyLongLivesStayBounded) {
  // Thousands of registers live across thousands of blocks.
  std::string body;
  constexpr int n = 3000;
  for (int i = 0; i < n; ++i) body += fmt::format("mov.u32 %v{}, {};\n", i, i);
  for (int i = 0; i < n; ++i) body += fmt::format("@%p1 bra L{};\nadd.u32 %r1, %r1, 1;\nL{}:\n", i, i);
  for (int i = 0; i < n; ++i) body += fmt::format("add.u32 %r1, %r1, %v{};\n", i);
  const auto k = load_kernel(fmt::format(".reg .b32 %v<{}>;", n) + body + "ret;");
  EXPECT_GE(k.fn.reg_rows, 3000u);
  EXPECT_LE(k.fn.reg_rows, 3020u);
}

}  // namespace
}  // namespace simtlab::ptx
