#include "base/kernel_name.h"

#include <gtest/gtest.h>

namespace simtlab {
namespace {

struct Named {
  const char *name, *demangled, *qualified, *scoped, *bare;
};

constexpr Named names[] = {
    {"_Z5scalePfi", "scale(float*, int)", "scale", "scale", "scale"},
    {"_ZN2ns5saxpyIfEEvPT_i", "void ns::saxpy<float>(float*, int)", "ns::saxpy<float>", "ns::saxpy", "saxpy"},
    {"_Z6reduceILi256EfEvPT0_", "void reduce<256, float>(float*)", "reduce<256, float>", "reduce", "reduce"},
    {"_ZN1a1b1kEv", "a::b::k()", "a::b::k", "a::b::k", "k"},
    {"_ZN12_GLOBAL__N_11kEPf", "(anonymous namespace)::k(float*)", "(anonymous namespace)::k",
     "(anonymous namespace)::k", "k"},
    {"_ZN12_GLOBAL__N_15applyIiEEvPT_", "void (anonymous namespace)::apply<int>(int*)",
     "(anonymous namespace)::apply<int>", "(anonymous namespace)::apply", "apply"},
    {"_ZN3BoxIiE3runIN2ns3FooIfEEEEvT_", "void Box<int>::run<ns::Foo<float> >(ns::Foo<float>)",
     "Box<int>::run<ns::Foo<float> >", "Box<int>::run", "run"},
    {"_Z5applyIXadL_Z1gfEEEvPf", "void apply<&(g(float))>(float*)", "apply<&(g(float))>", "apply", "apply"},
    {"_Z4callPFviE", "call(void (*)(int))", "call", "call", "call"},
    // extern "C" and OpenCL: names as they are, some of which would be types
    {"matmul", "matmul", "matmul", "matmul", "matmul"},
    {"naive_kernel", "naive_kernel", "naive_kernel", "naive_kernel", "naive_kernel"},
    {"f", "f", "f", "f", "f"},
    {"i", "i", "i", "i", "i"},
    {"Pf", "Pf", "Pf", "Pf", "Pf"},
    // What is no name of C++
    {"_Z!", "_Z!", "_Z!", "_Z!", "_Z!"},
    {"", "", "", "", ""},
    {"(", "(", "(", "(", "("},
    {"k<", "k<", "k<", "k", "k"},
    {"a::", "a::", "a::", "a::", "a::"},
    {">>k))(", ">>k))(", ">>k))", ">>k))", ">>k))"},
};

TEST(KernelName, IsCutInParts) {
  for (const Named& n : names) {
    EXPECT_EQ(demangle(n.name), n.demangled);
    const std::string demangled = n.demangled;
    const KernelName parts = parts_of_name(demangled);
    EXPECT_EQ(parts.qualified, n.qualified) << n.name;
    EXPECT_EQ(parts.scoped, n.scoped) << n.name;
    EXPECT_EQ(parts.bare, n.bare) << n.name;
  }
}

}  // namespace
}  // namespace simtlab
