// Whole modules: what compilers write goes through, with the resources one expects.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "ptx/module.h"

namespace simtlab::ptx {
namespace {

std::shared_ptr<const Module> load_file(const std::string& name) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/tests/data/ptx/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return load_module(name, text.str());
}

TEST(Load, TextOfBothCompilersDecodes) {
  for (const char* name : {"basic_clang.ptx", "basic_nvcc.ptx"}) {
    const auto module = load_file(name);
    ASSERT_EQ(module->functions.size(), 3u) << name;
    const Function* saxpy = module->find_function("saxpy");
    ASSERT_NE(saxpy, nullptr) << name;
    EXPECT_TRUE(saxpy->is_entry);
    ASSERT_EQ(saxpy->params.size(), 4u);
    EXPECT_EQ(saxpy->params[1].offset, 4u);
    EXPECT_EQ(saxpy->params[2].offset, 8u);
    EXPECT_EQ(saxpy->param_bytes, 24u);
    EXPECT_EQ(module->find_function("matmul")->shared_bytes, 2048u) << name;
    EXPECT_EQ(module->find_function("reduce")->shared_bytes, 128u) << name;
    EXPECT_EQ(module->find_function("reduce")->barriers, 1u) << name;
  }
}

}  // namespace
}  // namespace simtlab::ptx
