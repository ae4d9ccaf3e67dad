// Kernels drawn at random whose result is the same whatever the order of warps and blocks: threads write
// words of their own, words of others are read between barriers, and what several threads change at once they
// change by atomics whose sums are asked for, not their order.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/rng.h"

namespace simtlab::gpu {

class RandomKernel {
 public:
  static constexpr unsigned threads = 96, blocks = 4;
  // Of the buffer, in words: those of the threads, those of the warps, those of everybody.
  static constexpr unsigned own_words = 8, warp_words = 4, cells = 64;
  static constexpr unsigned words = threads * blocks * own_words + threads * blocks / 32 * warp_words + cells;

  explicit RandomKernel(std::uint64_t seed) : rng_(seed) {}

  std::string entry(const std::string& name) {
    text_.clear();
    for (unsigned i = 0; i < 14; ++i) statement(0);
    return head(name) + text_ + tail();
  }
  static std::string module(const std::string& entries) {
    return ".version 8.3\n.target sm_90\n.address_size 64\n"
           ".func (.param .b32 out) helper(.param .b32 a, .param .b32 b)\n{\n  .reg .b32 %h<4>;\n  "
           "ld.param.b32 %h1, [a];\n"
           "  ld.param.b32 %h2, [b];\n  mad.lo.u32 %h3, %h1, %h2, %h1;\n  st.param.b32 [out], %h3;\n  "
           "ret;\n}\n" +
           entries;
  }

 private:
  // %r0 to %r7 hold values. %d1: own words, %d2: the warp's, %d3: everybody's, %d4 and %d5: words of the
  // thread and of its neighbour in another warp of the block, in shared memory; %d6: of the warp there; %d7:
  // the neighbour's own words.
  static std::string head(const std::string& name) {
    return fmt::format(R"(.visible .entry {}(.param .u64 buffer)
{{
  .reg .pred %p<64>; .reg .b16 %s<4>; .reg .b32 %r<64>; .reg .b64 %d<24>; .reg .f32 %f<8>;
  .shared .align 16 .b8 slots[{}];
  .shared .align 16 .b8 shared_cells[64];
  .local .align 16 .b8 kept[32];
  ld.param.u64 %d10, [buffer];
  mov.u32 %r20, %tid.x; mov.u32 %r21, %ctaid.x; mad.lo.u32 %r22, %r21, {}, %r20;
  mul.wide.u32 %d11, %r22, {}; add.u64 %d1, %d10, %d11;
  add.u32 %r24, %r20, 37; rem.u32 %r24, %r24, {}; mad.lo.u32 %r25, %r21, {}, %r24;
  mul.wide.u32 %d11, %r25, {}; add.u64 %d7, %d10, %d11;
  shr.u32 %r23, %r22, 5; mul.wide.u32 %d11, %r23, {}; add.u64 %d2, %d10, %d11; add.u64 %d2, %d2, {};
  add.u64 %d3, %d10, {};
  mov.u64 %d12, slots; mul.wide.u32 %d11, %r20, 16; add.u64 %d4, %d12, %d11;
  mul.wide.u32 %d11, %r24, 16; add.u64 %d5, %d12, %d11;
  mov.u64 %d13, shared_cells; shr.u32 %r26, %r20, 5; mul.wide.u32 %d11, %r26, 16; add.u64 %d6, %d13, %d11;
  ld.global.u32 %r0, [%d1]; ld.global.v2.u32 {{%r1, %r2}}, [%d1+8]; mov.u32 %r3, %r22;
  mad.lo.u32 %r4, %r22, 2654435761, 12345; shr.u32 %r5, %r4, 7; xor.b32 %r6, %r4, %r0; mov.u32 %r7, %laneid;
  st.local.v4.u32 [kept], {{%r4, %r5, %r6, %r7}}; st.local.v4.u32 [kept+16], {{%r0, %r1, %r2, %r3}};
)",
                       name, threads * 16, threads, own_words * 4, threads, threads, own_words * 4,
                       warp_words * 4, threads * blocks * own_words * 4, (words - cells) * 4);
  }
  static std::string tail() {
    std::string out;
    for (unsigned i = 0; i < own_words; ++i)
      out += fmt::format("  st.global.u32 [%d1+{}], %r{};\n", 4 * i, i);
    return out + "  ret;\n}\n";
  }

  void line(const std::string& text) { text_ += "  " + text + "\n"; }
  unsigned any(unsigned bound) { return static_cast<unsigned>(rng_.below(bound)); }
  unsigned reg() { return any(8); }

  void statement(unsigned depth) {
    switch (any(depth == 0 ? 13 : 9)) {
      case 0:
      case 1:
      case 2: return arithmetic();
      case 3: return own_memory();
      case 4: return own_atomic();
      case 5: return counted_atomic();
      case 6: return reduction();
      case 7: return depth < 2 ? branch(depth) : arithmetic();
      case 8: return depth < 2 ? loop(depth) : call();
      case 9: return warp_atomic();
      case 10: return warp_operation();
      case 11: return exchange("shared", "%d4", "%d5");
      default: return exchange("global", "%d1", "%d7");
    }
  }

  void arithmetic() {
    static constexpr const char* two[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32",   "and.b32",
                                          "or.b32",  "min.u32", "max.s32",    "mul.hi.u32"};
    const unsigned a = reg(), b = reg(), c = reg();
    switch (any(6)) {
      case 0: return line(fmt::format("shl.b32 %r{}, %r{}, {};", a, b, any(31)));
      case 1: return line(fmt::format("mad.lo.u32 %r{}, %r{}, {}, %r{};", a, b, any(1000) + 1, c));
      case 2:
        return line(
            fmt::format("setp.lt.u32 %p0, %r{}, %r{}; selp.b32 %r{}, %r{}, %r{}, %p0;", b, c, a, c, b));
      case 3:
        return line(fmt::format(
            "cvt.rn.f32.u32 %f0, %r{}; mul.f32 %f1, %f0, 0f3F400000; cvt.rzi.u32.f32 %r{}, %f1;", b, a));
      case 4:
        return line(
            fmt::format("setp.gt.u32 %p0, %r{}, %r{}; @%p0 add.u32 %r{}, %r{}, {};", b, c, a, a, any(99)));
      default: return line(fmt::format("{} %r{}, %r{}, %r{};", two[any(9)], a, b, c));
    }
  }

  void own_memory() {
    const unsigned word = any(own_words);
    switch (any(6)) {
      case 0:
        return line(fmt::format("st.global.u32 [%d1+{}], %r{}; ld.global.u32 %r{}, [%d1+{}];", 4 * word,
                                reg(), reg(), 4 * any(own_words)));
      case 1:
        return line(fmt::format(
            "st.global.v2.u32 [%d1+16], {{%r{}, %r{}}}; ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%d1+16];",
            reg(), reg()));
      case 2:
        return line(
            fmt::format("cvt.u16.u32 %s0, %r{}; st.global.u8 [%d1+{}], %s0; ld.global.u16 %s1, [%d1+{}]; "
                        "cvt.u32.u16 %r{}, %s1;",
                        reg(), 4 * word + any(4), 4 * word, reg()));
      case 3:
        return line(fmt::format("st.local.u32 [kept+{}], %r{}; ld.local.u32 %r{}, [kept+{}];", 4 * word,
                                reg(), reg(), 4 * any(8)));
      case 4: return line(fmt::format("st.shared.u32 [%d4], %r{}; ld.shared.u32 %r{}, [%d4];", reg(), reg()));
      default:
        return line(
            fmt::format("ld.volatile.global.u32 %r{}, [%d1+{}]; st.volatile.global.u32 [%d1+{}], %r{};",
                        reg(), 4 * word, 4 * any(own_words), reg()));
    }
  }

  std::string operation() {
    static constexpr const char* kinds[] = {"add.u32", "min.u32", "max.s32", "and.b32", "or.b32",
                                            "xor.b32", "inc.u32", "dec.u32", "exch.b32"};
    return kinds[any(9)];
  }

  // On words of the thread, in any space: every answer is known.
  void own_atomic() {
    const unsigned a = reg(), b = reg();
    switch (any(5)) {
      case 0:
        return line(
            fmt::format("atom.global.cas.b32 %r{}, [%d1+{}], %r{}, %r{};", a, 4 * any(own_words), b, reg()));
      case 1: return line(fmt::format("atom.shared.{} %r{}, [%d4], %r{};", operation(), a, b));
      case 2:
        return line(
            fmt::format("mov.b64 %d14, {{%r{}, %r{}}}; atom.global.add.u64 %d15, [%d1+8], %d14; mov.b64 "
                        "{{%r{}, %r{}}}, %d15;",
                        b, reg(), a, (a + 1) % 8));
      case 3:  // some lanes in shared memory, others in global memory
        line(
            "and.b32 %r30, %laneid, 1; setp.eq.u32 %p1, %r30, 0; cvta.shared.u64 %d16, %d4; cvta.global.u64 "
            "%d17, %d1;");
        return line(
            fmt::format("selp.b64 %d18, %d16, %d17, %p1; atom.{} %r{}, [%d18], %r{};", operation(), a, b));
      default:
        return line(
            fmt::format("atom.global.{} %r{}, [%d1+{}], %r{};", operation(), a, 4 * any(own_words), b));
    }
  }

  // On words of the warp: its lanes come in their order. Lanes must be together, or the order is that of the
  // sides of a branch, which is fixed, too.
  void warp_atomic() {
    const bool shared = any(2) == 0;
    line(fmt::format("atom.{}.{} %r{}, [{}+{}], %r{};", shared ? "shared" : "global", operation(), reg(),
                     shared ? "%d6" : "%d2", 4 * any(4), reg()));
  }

  // On a cell of everybody: the answers are a permutation, whose sum is asked for.
  void counted_atomic() {
    if (next_cell_ + 2 > cells) return arithmetic();
    const unsigned cell = next_cell_;
    next_cell_ += 2;
    line(
        fmt::format("atom.global.add.u32 %r31, [%d3+{}], 3; mad.lo.u32 %r31, %r31, %r31, 7; "
                    "red.global.add.u32 [%d3+{}], %r31;",
                    4 * cell, 4 * cell + 4));
  }

  void reduction() {
    static constexpr const char* kinds[] = {"add.u32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"};
    if (next_cell_ + 1 > cells) return arithmetic();
    line(fmt::format("red.global.{} [%d3+{}], %r{};", kinds[any(6)], 4 * next_cell_++, reg()));
  }

  void call() {
    const unsigned a = reg();
    line(fmt::format(
        "{{ .param .b32 x; .param .b32 y; .param .b32 z; st.param.b32 [x], %r{}; st.param.b32 [y], %r{};",
        reg(), reg()));
    line(fmt::format("call.uni (z), helper, (x, y); ld.param.b32 %r{}, [z]; }}", a));
  }

  void branch(unsigned depth) {
    const unsigned label = labels_++, p = 2 + depth;
    line(fmt::format("and.b32 %r{}, %r{}, {}; setp.eq.u32 %p{}, %r{}, 0; @%p{} bra ELSE{};", 32 + depth,
                     reg(), 1u << any(5), p, 32 + depth, p, label));
    for (unsigned i = any(3) + 1; i > 0; --i) statement(depth + 1);
    line(fmt::format("bra END{}; ELSE{}:", label, label));
    for (unsigned i = any(3); i > 0; --i) statement(depth + 1);
    line(fmt::format("END{}:", label));
  }

  // Up to four times, not as often in all lanes.
  void loop(unsigned depth) {
    const unsigned label = labels_++, count = 40 + depth, p = 6 + depth;
    line(fmt::format("and.b32 %r{}, %r{}, 3; LOOP{}:", count, reg(), label));
    for (unsigned i = any(3) + 1; i > 0; --i) statement(depth + 1);
    line(fmt::format("setp.eq.u32 %p{}, %r{}, 0; sub.u32 %r{}, %r{}, 1; @!%p{} bra LOOP{};", p, count, count,
                     count, p, label));
  }

  void warp_operation() {
    const unsigned a = reg(), b = reg();
    switch (any(4)) {
      case 0:
        return line(fmt::format("setp.lt.u32 %p1, %r{}, %r{}; vote.sync.ballot.b32 %r{}, %p1, 0xffffffff;", b,
                                reg(), a));
      case 1:
        return line(fmt::format("shfl.sync.bfly.b32 %r{}, %r{}, {}, 31, 0xffffffff;", a, b, any(31) + 1));
      case 2: return line(fmt::format("shfl.sync.idx.b32 %r{}, %r{}, %r{}, 31, 0xffffffff;", a, b, reg()));
      default:
        return line(fmt::format("and.b32 %r30, %r{}, 7; match.any.sync.b32 %r{}, %r30, 0xffffffff;", b, a));
    }
  }

  // A word of another warp, between barriers.
  void exchange(const char* space, const char* own, const char* other) {
    line(fmt::format("st.{}.u32 [{}], %r{}; bar.sync 0; ld.{}.u32 %r{}, [{}]; bar.sync 0;", space, own, reg(),
                     space, reg(), other));
  }

  Rng rng_;
  std::string text_;
  unsigned labels_ = 0, next_cell_ = 0;
};

}  // namespace simtlab::gpu
