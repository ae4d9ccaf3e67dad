// OpenCL C to PTX: options, messages, and what the prelude adds, where clang 19 and libclc are installed.
#include "compile/opencl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compile/opencl_metadata.h"
#include "compile/process.h"
#include "ptx/module.h"

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(OpenClOptions, AreThoseOfClBuildProgram) {
  const OpenClOptions o = parse_opencl_options(
      {"-D", "N=4", "-DM", "-I", "include", "-cl-fast-relaxed-math", "-cl-nv-maxrregcount=32"});
  EXPECT_THAT(o.clang,
              ElementsAre("-cl-std=CL1.2", "-D", "N=4", "-D", "M", "-I", "include", "-cl-fast-relaxed-math"));
  EXPECT_EQ(o.max_registers, 32);
  EXPECT_THAT(parse_opencl_options({"-cl-std=CL1.1"}).clang, Contains("-D__OPENCL_C_VERSION__=110"));
  EXPECT_EQ(parse_opencl_options({"-cl-opt-disable"}).level, 0);
  EXPECT_EQ(o.level, 3);
  EXPECT_EQ(parse_opencl_options({"-cl-nv-opt-level=0"}).level, 0);
  EXPECT_EQ(parse_opencl_options({"-cl-nv-opt-level", "2"}).level, 2);
  EXPECT_THAT(parse_opencl_options({"-unroll=1"}).clang, Contains("-fno-unroll-loops"));
  EXPECT_THAT(parse_opencl_options({"-unroll=4"}).clang, Contains("-unroll-count=4"));
  EXPECT_THAT(parse_opencl_options({"-cl-nv-verbose"}).notes, ElementsAre(HasSubstr("no effect")));
}

TEST(OpenClOptions, RefuseWhatIsUnknownOrNewer) {
  const auto id_of = [](const std::vector<std::string>& options) -> std::string {
    try {
      parse_opencl_options(options);
    } catch (const Error& e) { return e.id(); }
    return {};
  };
  EXPECT_EQ(id_of({"-cl-std=CL2.0"}), "opencl-version");
  for (const char* word : {"-cl-nonsense", "-o", "x", "-D", "-unroll=0", "-unroll=x",
                           "-cl-nv-maxrregcount=", "-cl-nv-opt-level=4", "-includex", "--output", ""})
    EXPECT_EQ(id_of({word}), "opencl-option") << word;
}

TEST(OpenClOptions, SplitAsAShellWould) {
  EXPECT_THAT(split_opencl_options("  -D A=1\t-DB='x y' -DC=\\\"q\\\" \"\" "),
              ElementsAre("-D", "A=1", "-DB=x y", "-DC=\"q\"", ""));
  EXPECT_THAT(split_opencl_options(" "), IsEmpty());
  EXPECT_THROW(split_opencl_options("-D 'A"), Error);
}

TEST(OpenClFacts, ComeFromTheMetadataOfKernels) {
  const auto facts = kernel_facts(
      "define dso_local spir_kernel void @k(ptr addrspace(1) %0) #0 !kernel_arg_access_qual !1 "
      "!kernel_arg_type !2 !kernel_arg_type_qual !3 !kernel_arg_name !4 "
      "!reqd_work_group_size !5 {\ndefine void @helper() {\n!1 = !{!\"none\"}\n!2 = !{!\"float4*\"}\n!3 = "
      "!{!\"const restrict\"}\n!4 = !{!\"a\"}\n!5 = !{i32 8, i32 4, i32 1}\n");
  ASSERT_EQ(facts.size(), 1u);
  std::string ptx = ".entry k(\n\t.param .u64 k_param_0\n)\n{\n\tret;\n}\n";
  add_facts(ptx, facts, true);
  EXPECT_THAT(ptx, HasSubstr("\n.reqntid 8, 4, 1\n{"));
  const auto arguments = argument_facts(ptx, "k");
  ASSERT_EQ(arguments.size(), 1u);
  EXPECT_EQ(arguments[0].type, "float4*");
  EXPECT_EQ(arguments[0].name, "a");
  EXPECT_EQ(arguments[0].qualifiers, "const restrict");
  EXPECT_THAT(argument_facts(ptx, "other"), IsEmpty());
  EXPECT_THAT(kernel_facts("define spir_kernel void @broken !kernel_arg_type !99"), testing::SizeIs(1));
}

class OpenClTest : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("clang-19").empty() || !fs::exists("/usr/lib/clc/nvptx64--nvidiacl.bc"))
      GTEST_SKIP() << "clang-19 or libclc-19 is not installed";
    folder_ = fs::temp_directory_path() / ("simtlab-opencl-" + std::to_string(getpid()) + "-" +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  OpenClBuild build(const std::string& text, std::vector<std::string> options = {},
                    bool offset = false) const {
    OpenClRequest request;
    request.source = "program.cl";
    request.text = text;
    request.options = std::move(options);
    request.cache = folder_ / "cache";
    request.global_offset = offset;
    return compile_opencl(request);
  }
  fs::path folder_;
};

TEST_F(OpenClTest, CompilesOnceAndMarksAddressSpaces) {
  const std::string text =
      "__kernel void k(__global float4 *a, float4 v, __local int *l, __constant int *c) { "
      "a[get_global_id(0)] = v * c[l[0]]; }";
  const OpenClBuild first = build(text);
  ASSERT_EQ(first.failure, nullptr) << first.log;
  EXPECT_FALSE(first.from_cache);
  const OpenClBuild second = build(text);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(first.ptx, second.ptx);
  EXPECT_FALSE(build(text, {"-DX"}).from_cache);
  const auto module = ptx::load_module("k", first.ptx);
  const ptx::Function& k = *module->find_function("k");
  ASSERT_EQ(k.params.size(), 4u);
  EXPECT_EQ(k.params[0].pointee, ptx::Space::global);
  EXPECT_EQ(k.params[1].bytes, 16u);
  EXPECT_EQ(k.params[2].pointee, ptx::Space::shared);
  EXPECT_EQ(k.params[3].pointee, ptx::Space::constant);
}

TEST_F(OpenClTest, LoopsAreNotCopiedWithoutEnd) {
  const std::string loop = "for (int i = 0; i < n; ++i) a[i] = a[i] * 2.0f + i;\n";
  for (const char* wish : {"#pragma unroll 90000\n", "#pragma unroll MANY\n",
                           "__attribute__((opencl_unroll_hint(90000)))\n", "#pragma unroll -1\n"}) {
    const std::string text =
        "__kernel void k(__global float *a, int n) {\n" + std::string(wish) + loop + "}\n";
    const OpenClBuild b = build(text, {"-D", "MANY=90000"});
    ASSERT_EQ(b.failure, nullptr) << b.log;
    EXPECT_LT(b.ptx.size(), 10'000u) << wish;
    EXPECT_THAT(b.log, HasSubstr("program.cl:2: warning: #pragma unroll is ignored")) << wish;
    EXPECT_EQ(build(text, {"-DMANY=90000", "-w"}).log, "") << wish;
  }
}

TEST_F(OpenClTest, NativeFunctionsAreTheApproximateInstructions) {
  std::string body;
  for (const char* f :
       {"sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10", "sqrt", "rsqrt", "recip"})
    body += std::string("a[i] += native_") + f + "(a[i]); b[i] += native_" + f + "(b[i]); ";
  const OpenClBuild b = build(
      "__kernel void k(__global float *a, __global float8 *b) { int i = get_global_id(0); " + body +
      "a[i] += native_divide(a[i], 3.0f) + native_powr(a[i], 0.3f); b[i] = native_powr(b[i], b[i + 1]); }");
  ASSERT_EQ(b.failure, nullptr) << b.log;
  for (const char* instruction :
       {"sin.approx", "cos.approx", "ex2.approx", "lg2.approx", "sqrt.approx", "rsqrt.approx", "div.approx"})
    EXPECT_THAT(b.ptx, HasSubstr(instruction));
  EXPECT_NO_THROW(ptx::load_module("k", b.ptx));
}

TEST_F(OpenClTest, OlderVersionsAreToldTheirVersion) {
  for (const auto& [option, version] :
       {std::pair{"-cl-std=CL1.0", "100"}, {"-cl-std=CL1.1", "110"}, {"-cl-std=CL1.2", "120"}}) {
    const OpenClBuild b = build(std::string("#if __OPENCL_C_VERSION__ != ") + version +
                                    "\n#error\n#endif\nstatic float f(float x) { return native_sin(x); "
                                    "}\n__kernel void k(__global float *a) { *a = f(*a); }",
                                {option});
    EXPECT_EQ(b.failure, nullptr) << b.log;
    EXPECT_EQ(b.log, "");
  }
}

TEST_F(OpenClTest, MessagesHaveTheLinesOfTheUser) {
  const OpenClBuild b = build("__kernel void k(__global float *a) {\n  a[0] = undeclared;\n}\n");
  ASSERT_NE(b.failure, nullptr);
  EXPECT_EQ(b.failure->id(), "compile-failed");
  EXPECT_THAT(b.log, HasSubstr("program.cl:2:10: error"));
  EXPECT_THAT(b.log, Not(HasSubstr(folder_.string())));
}

TEST_F(OpenClTest, ImagesAreRefusedByName) {
  const OpenClBuild b = build(
      "__constant sampler_t s = 0;\n__kernel void k(__read_only image2d_t i, __global float4 *o) { *o = "
      "read_imagef(i, s, (int2)(0, 1)); }");
  ASSERT_NE(b.failure, nullptr);
  EXPECT_EQ(b.failure->code(), ExitCode::unsupported);
  EXPECT_EQ(b.failure->id(), "opencl-image");
  EXPECT_THAT(b.log, HasSubstr("program.cl:2:"));
}

TEST_F(OpenClTest, RequiredSizesAndArgumentNamesReachThePtx) {
  const OpenClBuild b =
      build("__kernel __attribute__((reqd_work_group_size(8, 4, 2))) void k(__global float4 *restrict a) {}",
            {"-cl-kernel-arg-info"});
  ASSERT_EQ(b.failure, nullptr) << b.log;
  const auto module = ptx::load_module("k", b.ptx);
  EXPECT_EQ(module->find_function("k")->req_ntid[1], 4u);
  ASSERT_EQ(argument_facts(b.ptx, "k").size(), 1u);
  EXPECT_EQ(argument_facts(b.ptx, "k")[0].type, "float4*");
}

TEST_F(OpenClTest, PrintfAndLaunchValuesLoad) {
  const std::string text =
      "__kernel void k(__global int *a) { a[get_global_id(0)] = get_work_dim() + get_global_offset(1); "
      "printf(\"%d %s\\n\", a[0], \"x\"); }";
  const OpenClBuild plain = build(text);
  ASSERT_EQ(plain.failure, nullptr) << plain.log;
  EXPECT_NO_THROW(ptx::load_module("k", plain.ptx));
  EXPECT_THAT(plain.ptx, HasSubstr("vprintf"));
  EXPECT_THAT(plain.ptx, Not(HasSubstr("simtlab_launch+0]")));
  const OpenClBuild offset = build(text, {}, true);
  ASSERT_EQ(offset.failure, nullptr) << offset.log;
  EXPECT_THAT(offset.ptx, HasSubstr("simtlab_launch+0]"));
  EXPECT_NE(ptx::load_module("k", offset.ptx)->find_variable("simtlab_launch"), nullptr);
}

}  // namespace
}  // namespace simtlab::compile
