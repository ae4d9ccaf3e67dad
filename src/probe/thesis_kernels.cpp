#include "probe/thesis_kernels.h"

#include <fmt/format.h>

#include <bit>

namespace simtlab::probe {
namespace {

constexpr unsigned timed_loads_of_a_word = 3;

std::string replaced(std::string text, char letter, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(letter, at)) != std::string::npos; at += by.size())
    text.replace(at, 1, by);
  return text;
}

// Unoptimised code copies each reading at once, so that nothing goes on before it is there. An assembler that
// optimises makes one register of both, so a copy is an exclusive or with a zero that it does not know.
std::string copy(const std::string& to, const std::string& from) {
  return fmt::format("xor.b32 {}, {}, %zero;\n", to, from);
}

std::string copied_reading(const std::string& to) { return "mov.u32 %k, %clock;\n" + copy(to, "%k"); }

// One interval, from a barrier on.
std::string between_readings(unsigned k, const std::string& timed) {
  return "bar.sync 0;\n" + copied_reading(fmt::format("%b{}", k)) + timed +
         copied_reading(fmt::format("%e{}", k));
}

// Everything is done twice and the second time counts: the first fetches the instructions.
ThesisKernel timed_kernel(unsigned intervals, const std::string& once, const std::string& timed) {
  std::string text =
      ".visible .entry interval(.param .u64 out, .param .u64 data, .param .u32 pa, .param .u32 pb, "
      ".param .u32 unknown)\n{\n"
      ".local .align 8 .b8 kept[64];\n.reg .pred %q; .reg .b32 %k, %zero, %pass, %t, %n, %w, %b<8>, %e<8>;\n"
      ".reg .f32 %a, %b, %s, %a<8>, %x<8>, %y<8>; .reg .b64 %o, %p, %i, %v, %step, %none;\n"
      "ld.param.u64 %o, [out]; ld.param.u64 %p, [data]; ld.param.f32 %a, [pa]; ld.param.f32 %b, [pb]; "
      "ld.param.u32 %zero, [unknown]; cvt.u64.u32 %none, %zero;\n"
      "mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %w, %ctaid.x; mad.lo.u32 %t, %w, %n, %t;\n"
      "mul.wide.u32 %v, %t, 8; add.u64 %o, %o, %v; mov.u32 %w, %nctaid.x; mul.lo.u32 %n, %n, %w;\n"
      "mul.wide.u32 %step, %n, 8; mov.f32 %s, 0f00000000;\n" +
      once + "mov.u32 %pass, 2;\nPASS:\n" + timed +
      "sub.u32 %pass, %pass, 1;\nsetp.ne.u32 %q, %pass, 0;\n@%q bra PASS;\n";
  for (unsigned k = 0; k < intervals; ++k)
    text += fmt::format(
        "sub.u32 %k, %e{0}, %b{0}; cvt.u64.u32 %v, %k; st.global.u64 [%o], %v; add.u64 %o, %o, "
        "%step;\n",
        k);
  return {text + "mov.b32 %k, %s; cvt.u64.u32 %v, %k; st.global.u64 [%o], %v;\nret;\n}\n", intervals};
}

// Three loads, an interval each: the address is copied first, and what came is copied, which waits for it.
std::string loads_of(const char* load) {
  std::string text = "mov.f32 %s, 0f00000000;\n";
  for (unsigned k = 0; k < timed_loads_of_a_word; ++k)
    text += between_readings(k, fmt::format("xor.b64 %v, %i, %none;\n{} %x0, [%v];\n", load) +
                                    copy(fmt::format("%y{}", k), "%x0"));
  text += "bar.sync 0;\n";
  for (unsigned k = 0; k < timed_loads_of_a_word; ++k) text += fmt::format("add.f32 %s, %s, %y{};\n", k);
  return text;
}

}  // namespace

ThesisKernel clock_kernel(unsigned intervals) {
  std::string timed;
  for (unsigned k = 0; k < intervals; ++k) timed += between_readings(k, "");
  return timed_kernel(intervals, "", timed + "bar.sync 0;\n");
}

ThesisKernel operations_kernel(const ThesisOperation& operation, unsigned n) {
  std::string once, timed, sum = "bar.sync 0;\nmov.f32 %s, 0f00000000;\n";
  for (unsigned i = 0; i < n; ++i) {
    once +=
        fmt::format("add.f32 %a{}, %a, 0f{:08x};\n", i, std::bit_cast<std::uint32_t>(static_cast<float>(i)));
    timed += replaced(replaced(replaced(std::string(operation.step), 'X', fmt::format("%x{}", i)), 'A',
                               fmt::format("%a{}", i)),
                      'B', "%b") +
             "\n";
    // A sub-routine's result is copied, and kept, before the next one is called.
    if (operation.subroutine)
      timed += copy(fmt::format("%y{}", i), fmt::format("%x{}", i)) +
               fmt::format("st.local.f32 [kept+{}], %y{};\n", 4 * i, i);
  }
  for (unsigned i = 0; i < n; ++i) {
    if (!operation.subroutine) timed += copy(fmt::format("%y{}", i), fmt::format("%x{}", i));
    sum += fmt::format("add.f32 %s, %s, %y{};\n", i);
  }
  return timed_kernel(1, once, between_readings(0, timed) + sum);
}

ThesisKernel local_kernel() {
  return timed_kernel(timed_loads_of_a_word, ".local .align 8 .b8 words[1024];\nmov.u64 %i, words;\n",
                      "st.local.cs.f32 [%i], %a;\n" + loads_of("ld.local.ca.f32"));
}

ThesisKernel global_kernel() {
  return timed_kernel(timed_loads_of_a_word, "mov.u64 %i, %p;\n",
                      "st.global.wt.f32 [%i], %a;\n" + loads_of("ld.global.cg.f32"));
}

ThesisKernel lines_kernel() {
  return timed_kernel(timed_loads_of_a_word, "mul.wide.u32 %i, %t, 128; add.u64 %i, %p, %i;\n",
                      "st.global.wt.f32 [%i], %a;\n" + loads_of("ld.global.cg.f32"));
}

}  // namespace simtlab::probe
