// Names of a kernel's parameters from its source.
#include "ptx/source_names.h"

#include <gtest/gtest.h>

namespace simtlab::ptx {
namespace {

using Names = std::vector<std::string>;

TEST(SourceNames, AreThoseOfTheDefinition) {
  constexpr const char* source = R"(
// scale(float* wrong)
/* scale(float* wrong) { */
__kernel void scale(__global const float* restrict in, __global float *out, // out (again)
                    int n, float4 by) { out[get_global_id(0)] = in[0]; }
extern "C" __global__ void __launch_bounds__(256, 2)
sum(const float* __restrict__ a, std::array<float, 4> weights, float (&tile)[4], int n = 3)
{
  printf("scale(x, y) {");
}
template <class T> __global__ void fill(T *data, T value) { data[0] = value; }
)";
  EXPECT_EQ(parameter_names(source, "scale", 4), (Names{"in", "out", "n", "by"}));
  EXPECT_EQ(parameter_names(source, "sum", 4), (Names{"a", "weights", "tile", "n"}));
  EXPECT_EQ(parameter_names(source, "fill", 2), (Names{"data", "value"}));
}

TEST(SourceNames, AreNoneWhereTheSourceDoesNotSay) {
  EXPECT_EQ(parameter_names("", "k", 1), Names{});
  EXPECT_EQ(parameter_names("void k(float* a) {}", "", 1), Names{});
  EXPECT_EQ(parameter_names("void k(float* a) {}", "k", 2), Names{});   // another number
  EXPECT_EQ(parameter_names("void k(float* a) {}", "kk", 1), Names{});  // another kernel
  EXPECT_EQ(parameter_names("void k(float* a);", "k", 1), Names{});     // no definition
  EXPECT_EQ(parameter_names("void k(float*) {}", "k", 1), Names{});     // no name
  EXPECT_EQ(parameter_names("void k(float*, int b) {}", "k", 2), Names{});
  EXPECT_EQ(parameter_names("int main() { k(a); }", "k", 1), Names{});  // a call
  // Overloads that differ
  EXPECT_EQ(parameter_names("void k(float* a) {} void k(int* b) {}", "k", 1), Names{});
  EXPECT_EQ(parameter_names("void k(float* a) {} void k(int* a) {}", "k", 1), Names{"a"});
}

// A file may end anywhere.
TEST(SourceNames, OfATextThatIsCutAreNone) {
  constexpr std::string_view source = "void k(const float* a, int n) { /* \"x\" */ } \"y\\\"z";
  for (std::size_t length = 0; length <= source.size(); ++length) {
    const Names names = parameter_names(source.substr(0, length), "k", 2);
    EXPECT_TRUE(names.empty() || names == (Names{"a", "n"})) << length;
    parameter_names(source.substr(length), "k", 2);
  }
  EXPECT_EQ(parameter_names(std::string(100000, '('), "(", 1), Names{});
  EXPECT_EQ(parameter_names("k(k(k(k(", "k", 1), Names{});
}

}  // namespace
}  // namespace simtlab::ptx
