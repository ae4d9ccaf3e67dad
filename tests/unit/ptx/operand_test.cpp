// Operands as the executor gets them: roles, widths, raw constants, addresses, frames.
#include <gtest/gtest.h>

#include <bit>

#include "helpers.h"
#include "ptx/video.h"

namespace simtlab::ptx {
namespace {

using namespace test;

TEST(Operands, WidthOfRegistersAndConstants) {
  const auto k =
      load_kernel("mad.wide.s32 %rd1, %r1, -5, %rd2; shl.b64 %rd3, %rd4, 3; cvt.u32.u8 %r2, %h1; ret;");
  EXPECT_EQ(k[0].dst[0].bytes, 8);
  EXPECT_EQ(k[0].dst[0].index % 2, 0u) << "64-bit values start at an even row";
  EXPECT_EQ(k[0].src[1].kind, OperandKind::imm);
  EXPECT_EQ(k[0].src[1].bytes, 4);
  EXPECT_EQ(k.constant(k[0].src[1]), 0xfffffffbu);
  EXPECT_EQ(k[1].src[1].bytes, 4) << "the shift amount is a 32-bit value";
  EXPECT_EQ(k[2].src[0].bytes, 2) << "the register, not the type";
  EXPECT_EQ(k[2].stype, Type::u8);
}

TEST(Operands, FloatingConstantsAreRawBits) {
  const auto k = load_kernel(
      "add.f32 %f1, %f2, 0f3F800000; add.f32 %f1, %f2, 1.5; add.f64 %d1, %d2, 0d3FF0000000000000; add.f64 "
      "%d1, %d2, 0f40000000; mov.b32 %r1, 0fBF800000; add.f32 %f1, %f2, -0f3F800000; ret;");
  EXPECT_EQ(k.constant(k[0].src[1]), 0x3f800000u);
  EXPECT_EQ(k.constant(k[1].src[1]), std::bit_cast<std::uint32_t>(1.5f));
  EXPECT_EQ(k.constant(k[2].src[1]), 0x3ff0000000000000u);
  EXPECT_EQ(k.constant(k[3].src[1]), std::bit_cast<std::uint64_t>(2.0));
  EXPECT_EQ(k.constant(k[4].src[0]), 0xbf800000u);
  EXPECT_EQ(k.constant(k[5].src[1]), 0xbf800000u);
}

TEST(Operands, AConstantOfBothWidthsHasTwoEntries) {
  const auto k = load_kernel("add.u32 %r1, %r2, 7; add.u64 %rd1, %rd2, 7; add.u32 %r3, %r2, 7; ret;");
  EXPECT_NE(k[0].src[1].index, k[1].src[1].index);
  EXPECT_EQ(k[0].src[1].index, k[2].src[1].index);
}

TEST(Operands, ComparisonWithTwoResultsAndAPredicate) {
  const auto k = load_kernel("setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p3; @!%p1 mov.u32 %r1, 1; ret;");
  const Inst& i = k[0];
  EXPECT_EQ(i.dst_count, 2);
  EXPECT_EQ(i.dst[0].kind, OperandKind::pred);
  EXPECT_EQ(i.src_count, 3);
  EXPECT_TRUE(i.src[2].negated);
  EXPECT_EQ(i.mods.compare, Compare::lt);
  EXPECT_EQ(i.mods.bool_op, BoolOp::and_);
  EXPECT_TRUE(k[1].guard.negated);
  EXPECT_EQ(k[1].guard.index, i.dst[0].index);
}

TEST(Operands, EqualityOfBitTypesIsComparedAsUnsigned) {
  const auto k = load_kernel("setp.ne.b32 %p1, %r1, %r2; set.eq.u32.b16 %r3, %h1, %h2; ret;");
  EXPECT_EQ(k[0].type, Type::u32);
  EXPECT_EQ(k[0].mods.compare, Compare::ne);
  EXPECT_EQ(k[1].stype, Type::u16);
  EXPECT_EQ(k[1].mods.compare, Compare::eq);
}

TEST(Operands, ConstantPredicatesBecomeComparisons) {
  const auto k = load_kernel("mov.pred %p1, -1; and.pred %p2, %p1, 0; ret;");
  EXPECT_EQ(k[0].op, Op::setp);
  EXPECT_EQ(k[0].mods.compare, Compare::eq);
  EXPECT_EQ(k[1].op, Op::setp);
  EXPECT_EQ(k[1].mods.compare, Compare::ne);
  EXPECT_EQ(k[2].op, Op::and_);
  EXPECT_EQ(k[2].src[1].kind, OperandKind::pred);
}

TEST(Operands, VectorsLoadAndStore) {
  const auto k = load_kernel(
      "ld.global.nc.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-16]; st.shared.v2.u64 [%r1+8], {%rd2, 5}; ret;");
  EXPECT_EQ(k[0].dst_count, 4);
  EXPECT_EQ(k[0].dst[2].kind, OperandKind::sink);
  EXPECT_EQ(k[0].imm_offset, -16);
  EXPECT_EQ(k[0].mods.cache, CacheOp::nc);
  EXPECT_EQ(k[0].mods.vector, 4);
  EXPECT_EQ(k[0].op_class, OpClass::load);
  EXPECT_EQ(k[1].src_count, 3);
  EXPECT_EQ(k[1].src[0].bytes, 4);
  EXPECT_EQ(k[1].src[2].bytes, 8);
  EXPECT_EQ(k[1].op_class, OpClass::shared);
}

TEST(Operands, PackAndUnpack) {
  const auto k = load_kernel(
      "mov.b64 {%r1, %r2}, %rd1; mov.b32 %r3, {%h1, %h2}; mov.b64 %rd2, {%h1, %h2, %h3, %h4}; ret;");
  EXPECT_EQ(k[0].dst_count, 2);
  EXPECT_EQ(k[0].src_count, 1);
  EXPECT_EQ(k[1].dst_count, 1);
  EXPECT_EQ(k[1].src_count, 2);
  EXPECT_EQ(k[2].src_count, 4);
}

TEST(Operands, SpecialRegisters) {
  const auto k = load_kernel(
      "mov.u32 %r1, %tid.y; mov.u64 %rd1, %clock64; mov.u32 %r2, %lanemask_lt; mov.u16 %h1, %ntid.x; mov.u64 "
      "%rd2, %globaltimer; mov.u32 %r3, %envreg3; mov.u32 %r4, %gridid; ret;");
  EXPECT_EQ(k[0].src[0].kind, OperandKind::special);
  EXPECT_EQ(k[0].src[0].index, static_cast<std::uint32_t>(Special::tid_y));
  EXPECT_EQ(k[1].src[0].bytes, 8);
  EXPECT_EQ(k[2].src[0].index, static_cast<std::uint32_t>(Special::lanemask_lt));
  EXPECT_EQ(k[3].op, Op::cvt) << "another width than the register's is a conversion";
  EXPECT_EQ(k[3].stype, Type::u32);
  EXPECT_EQ(k[4].src[0].index, static_cast<std::uint32_t>(Special::globaltimer));
  EXPECT_EQ(k[5].src[0].index, static_cast<std::uint32_t>(Special::envreg0));
  EXPECT_EQ(k[6].stype, Type::u64);
}

TEST(Operands, KernelParametersAreOffsetsInTheirBlock) {
  const auto k = load_kernel("ld.param.u64 %rd1, [b]; ld.param.u32 %r1, [c+4]; mov.b64 %rd2, c; ret;",
                             ".param .u32 a, .param .u64 b, .param .align 8 .b8 c[16]");
  EXPECT_EQ(k[0].mods.space, Space::param);
  EXPECT_FALSE(k[0].frame_relative);
  EXPECT_EQ(k.constant(k[0].src[0]), 8u);
  EXPECT_EQ(k.constant(k[1].src[0]) + static_cast<std::uint64_t>(k[1].imm_offset), 20u);
  EXPECT_EQ(k[0].op_class, OpClass::constant);
  EXPECT_EQ(k.constant(k[2].src[0]), 16u);
}

TEST(Operands, LocalVariablesAreRelativeToTheFrame) {
  const auto k = load_kernel(
      ".local .align 8 .b8 depot[24]; .local .u32 x; mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; "
      "ld.local.u32 %r1, [x]; st.u32 [depot+4], %r1; ret;");
  EXPECT_TRUE(k[0].frame_relative);
  EXPECT_TRUE(k[2].frame_relative);
  EXPECT_EQ(k.constant(k[2].src[0]), 24u);
  EXPECT_EQ(k[3].mods.space, Space::local) << "a generic access to a named variable is one to its space";
  EXPECT_EQ(k.fn.frame_bytes, 32u);
  EXPECT_EQ(k.fn.total_frame_bytes, 32u);
}

TEST(Operands, SymbolsOfGlobalMemoryAreRelocated) {
  const auto m = load(head + ".global .u32 g[4];\n.entry k() {\n" + registers +
                      "ld.global.u32 %r1, [g+8]; mov.u64 %rd1, g+4; ret; }");
  const Function& f = m->functions[0];
  const Constant& base = f.constants[f.code[0].src[0].index];
  EXPECT_EQ(base.kind, Constant::Kind::global_symbol);
  EXPECT_EQ(f.code[0].imm_offset, 8);
  const Constant& moved = f.constants[f.code[1].src[0].index];
  EXPECT_EQ(moved.kind, Constant::Kind::global_symbol);
  EXPECT_EQ(moved.value, 4u);
}

TEST(Operands, ModifiersOfAtomicsInAnyOrder) {
  const auto k = load_kernel(
      "atom.add.release.gpu.u32 %r1, [%rd1], %r2; atom.acq_rel.sys.global.cas.b64 %rd2, [%rd1+8], %rd3, 5; "
      "red.shared.max.s32 [%r1], 3; atom.global.add.noftz.f16x2 %r1, [%rd1], %r2; ret;");
  EXPECT_EQ(k[0].mods.order, MemOrder::release);
  EXPECT_EQ(k[0].mods.scope, Scope::gpu);
  EXPECT_EQ(k[0].mods.space, Space::generic);
  EXPECT_EQ(k[1].mods.atom, AtomOp::cas);
  EXPECT_EQ(k[1].src_count, 3);
  EXPECT_EQ(k[1].imm_offset, 8);
  EXPECT_EQ(k[2].op, Op::red);
  EXPECT_EQ(k[2].op_class, OpClass::shared_atomic);
  EXPECT_EQ(k[3].type, Type::f16x2);
}

TEST(Operands, BarriersOfAllKinds) {
  const auto k = load_kernel(
      "bar.sync 3; bar.sync %r1, 64; barrier.sync 2; bar.arrive 1, 64; bar.red.popc.u32 %r2, 0, %p1; "
      "bar.red.and.pred %p2, 1, 32, !%p3; bar.warp.sync -1; barrier.sync.aligned 0; ret;");
  EXPECT_EQ(k[0].mods.bar, BarMode::sync);
  EXPECT_TRUE(k[0].mods.aligned);
  EXPECT_EQ(k[1].src_count, 2);
  EXPECT_FALSE(k[2].mods.aligned);
  EXPECT_EQ(k[3].mods.bar, BarMode::arrive);
  EXPECT_EQ(k[4].src_count, 3);
  EXPECT_EQ(k[4].src[1].kind, OperandKind::none);
  EXPECT_EQ(k[4].src[2].kind, OperandKind::pred);
  EXPECT_EQ(k[5].mods.bar, BarMode::red_and);
  EXPECT_TRUE(k[5].src[2].negated);
  EXPECT_EQ(k[6].op, Op::bar_warp);
  EXPECT_TRUE(k[7].mods.aligned);
  EXPECT_EQ(k.fn.barriers, 16u) << "a barrier in a register may be any";
}

TEST(Operands, AsynchronousCopies) {
  const auto k = load_kernel(
      ".shared .align 16 .b8 s[64]; cp.async.cg.shared.global.L2::128B [s+16], [%rd1+32], 16; "
      "cp.async.ca.shared.global [%r1], [%rd1], 8, %r2; cp.async.ca.shared.global [%r1], [%rd1], 4, %p1; "
      "cp.async.wait_group 2; cp.async.wait_all; ret;");
  EXPECT_EQ(k[0].op, Op::add) << "the second offset is added in front";
  EXPECT_EQ(k[1].op, Op::cp_async);
  EXPECT_EQ(k[1].mods.copy_bytes, 16);
  EXPECT_EQ(k[1].imm_offset, 16);
  EXPECT_EQ(k[1].src[1], k[0].dst[0]);
  EXPECT_EQ(k[2].src_count, 3);
  EXPECT_EQ(k[3].op, Op::selp) << "a predicate that ignores the source is a source size of 0";
  EXPECT_EQ(k[4].src[2], k[3].dst[0]);
  EXPECT_EQ(k.constant(k[5].src[0]), 2u);
  EXPECT_TRUE(k[6].mods.wait_all);
}

TEST(Operands, CachePoliciesAreDropped) {
  const auto k = load_kernel(
      "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0; "
      "ld.global.L1::no_allocate.L2::cache_hint.L2::256B.v4.u32 {%r1,%r2,%r3,%r4}, [%rd2], %rd1; ret;");
  EXPECT_EQ(k[0].op, Op::mov);
  EXPECT_EQ(k[1].dst_count, 4);
  EXPECT_EQ(k[1].src_count, 1);
}

TEST(Operands, TexturesOfBothAddressForms) {
  const auto m =
      load(head + ".global .texref t;\n.entry k() {\n" + registers +
           "tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1,%r2}]; tex.3d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [%rd1, "
           "%rd2, {%f1,%f2,%f3,%f4}]; tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [%rd1, {%r5}]; ret; }");
  const auto& code = m->functions[0].code;
  EXPECT_EQ(m->find_variable("t")->reference, Type::texref);
  EXPECT_EQ(code[0].src[0].kind, OperandKind::imm);
  EXPECT_EQ(code[0].src[1].kind, OperandKind::none);
  EXPECT_EQ(code[0].src_count, 4);
  EXPECT_EQ(code[0].mods.geometry, Geometry::d2);
  EXPECT_EQ(code[1].src[1].kind, OperandKind::reg);
  EXPECT_EQ(code[1].src_count, 5) << "the fourth coordinate is padding";
  EXPECT_EQ(code[2].src_count, 3);
}

TEST(Operands, VideoSelectorsAndMasks) {
  const auto k = load_kernel(
      "vadd.s32.u32.s32.sat %r1, %r2.b3, %r3.h1; vadd4.u32.u32.u32 %r1.b20, %r2.b7610, %r3, %r4; "
      "vmad.s32.s32.s32 %r1, -%r2, %r3, %r4; ret;");
  EXPECT_EQ(video_scalar_selector(k[0].mods.video, video_a_shift), 4u);
  EXPECT_EQ(video_scalar_selector(k[0].mods.video, video_b_shift), 6u);
  EXPECT_EQ(k[0].mods.src_type_hi & video_b_signed, video_b_signed);
  EXPECT_EQ(k[0].stype, Type::u32);
  EXPECT_TRUE(k[0].mods.sat);
  EXPECT_EQ(video_mask(k[1].mods.video), 5u);
  EXPECT_EQ(video_simd_selector(k[1].mods.video, false, 0), 0u);
  EXPECT_EQ(video_simd_selector(k[1].mods.video, false, 3), 7u);
  EXPECT_EQ(video_simd_selector(k[1].mods.video, true, 1), 5u) << "without selector b gives its own parts";
  EXPECT_EQ(k[2].mods.src_type_hi & video_neg_a, video_neg_a);
}

TEST(Operands, LogicTableAndShuffles) {
  const auto k = load_kernel(
      "lop3.b32 %r1, %r2, %r3, %r4, 0xE8; lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 3, %p2; shfl.sync.down.b32 "
      "%r1|%p3, %r2, 1, 31, -1; vote.sync.ballot.b32 %r1, %p1, 0xffffffff; match.all.sync.b64 %r1|%p1, %rd1, "
      "-1; shf.r.wrap.b32 %r1, %r2, %r3, 5; ret;");
  EXPECT_EQ(k[0].mods.lut, 0xe8);
  EXPECT_EQ(k[0].src_count, 3);
  EXPECT_EQ(k[1].dst_count, 2);
  EXPECT_EQ(k[1].src[3].kind, OperandKind::pred);
  EXPECT_EQ(k[1].mods.bool_op, BoolOp::or_);
  EXPECT_EQ(k[2].mods.shfl, ShflMode::down);
  EXPECT_EQ(k[2].src_count, 4);
  EXPECT_EQ(k[3].mods.vote, VoteMode::ballot);
  EXPECT_TRUE(k[4].mods.all);
  EXPECT_TRUE(k[5].mods.wrap);
  EXPECT_FALSE(k[5].mods.left);
}

TEST(Operands, VectorRegistersHaveComponents) {
  const auto k = load_kernel(".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1]; add.f32 %f1, v.x, v.w; ret;");
  EXPECT_EQ(k[0].dst_count, 4);
  EXPECT_EQ(k[1].src[0], k[0].dst[0]);
  EXPECT_EQ(k[1].src[1], k[0].dst[3]);
}

TEST(Operands, IndexedBranchesHaveTables) {
  const auto k = load_kernel("brx.idx %r1, T; A: ret; B: mov.u32 %r1, 1; T: .branchtargets A, B, A; ret;");
  ASSERT_EQ(k.fn.branch_tables.size(), 1u);
  EXPECT_EQ(k.fn.branch_tables[0], (std::vector<std::uint32_t>{1, 2, 1}));
  EXPECT_EQ(k[0].target, 0u);
}

}  // namespace
}  // namespace simtlab::ptx
