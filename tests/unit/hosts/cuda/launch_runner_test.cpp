// Launch files against the simulated GPU: contents, arguments, checks of the outputs.
#include "hosts/cuda/launch_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "device/catalogue.h"

namespace simtlab::hosts::cuda {
namespace {

// out[i] = a * in[i] + in2[i]; tile(in, scratch): reverses a block through local memory.
constexpr const char* ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .b64 %d<6>;
  ld.param.f32 %f1, [a]; ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;
  mul.wide.u32 %d3, %r5, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
  ld.global.f32 %f2, [%d4]; ld.global.f32 %f3, [%d5]; fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%d5], %f4;
done:
  ret;
}
.visible .entry reverse(.param .u64 x, .param .u64 .ptr .shared .align 4 scratch)
{
  .reg .b32 %r<8>; .reg .b64 %d<10>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [scratch];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;
  mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
  ld.global.u32 %r3, [%d4]; st.shared.u32 [%d5], %r3; bar.sync 0;
  sub.u32 %r4, %r2, %r1; sub.u32 %r5, %r4, 1; mul.wide.u32 %d6, %r5, 4; add.s64 %d7, %d2, %d6;
  ld.shared.u32 %r6, [%d7]; st.global.u32 [%d4], %r6;
  ret;
}
)";

class Runner : public testing::Test {
 protected:
  Runner() {
    setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
    gpu::Options options;
    options.mode = gpu::Mode::functional;
    gpu_ = std::make_unique<gpu::Gpu>(device::load_device("v100").device, options);
    module_ = gpu_->load_module("test.ptx", ptx);
    folder_ = testing::TempDir() + "/simtlab_runner_" + std::to_string(getpid());
  }

  void run(const std::string& toml, std::uint64_t seed = 1) {
    run_launch(compile::parse_launch_file(toml, folder_ + "_launch.toml"), module_, *gpu_, seed);
  }
  std::string error_of(const std::string& toml, ExitCode code) {
    try {
      run(toml);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.format();
      return e.format();
    }
    return "no error";
  }

  std::unique_ptr<gpu::Gpu> gpu_;
  gpu::ModuleId module_ = 0;
  std::string folder_;
};

std::string saxpy(const std::string& expect, const std::string& a = "2.0") {
  return R"(
kernel = "saxpy"
global = 64
block = 32
[[arg]]
type = "f32"
value = )" +
         a + R"(
[[arg]]
name = "x"
type = "f32"
shape = [8, 8]
init = "iota"
[[arg]]
name = "y"
type = "f32"
shape = [8, 8]
values = [100, 200]
[[arg]]
type = "u32"
value = 64
)" + expect;
}

TEST_F(Runner, ALaunchWhoseOutputsAreAsExpectedPasses) {
  EXPECT_NO_THROW(run(saxpy("[[expect]]\narg = \"y\"\nvalues = [100, 202, 4, 6]\n")));
  EXPECT_EQ(gpu_->memory().used(), 0u) << "buffers are given back";
}

TEST_F(Runner, AWrongElementIsShownWithItsPlace) {
  const std::string text = error_of(saxpy("[[expect]]\narg = \"y\"\nvalue = 4\n"), ExitCode::program_failed);
  EXPECT_THAT(text, testing::HasSubstr("63 of 64 elements differ"));
  EXPECT_THAT(text, testing::HasSubstr("[0, 1] is 202, expected 4"));
  EXPECT_THAT(text, testing::HasSubstr("_launch.toml:21"));
}

TEST_F(Runner, TheToleranceIsRelativeAboveOne) {
  const std::string wanted = "[[expect]]\narg = \"y\"\nvalues = [100.00001, 202.1]\ntolerance = ";
  EXPECT_NO_THROW(run(saxpy(wanted + "1e-3\n")));
  EXPECT_THAT(error_of(saxpy(wanted + "1e-6\n"), ExitCode::program_failed),
              testing::HasSubstr("1 of 2 elements"));
}

TEST_F(Runner, FilesFillBuffersAndAreCompared) {
  const std::string name = folder_ + "_x.bin";
  float values[4] = {1, 2, 3, 4};
  std::ofstream(name, std::ios::binary).write(reinterpret_cast<char*>(values), sizeof values);
  const std::string launch =
      "kernel = \"saxpy\"\ngrid = 1\nblock = 4\n[[arg]]\ntype = \"f32\"\nvalue = 1\n[[arg]]\ntype = "
      "\"f32\"\nshape = 4\nfile = \"" +
      name +
      "\"\n[[arg]]\ntype = \"f32\"\nshape = 4\n[[arg]]\ntype = \"u32\"\nvalue = 4\n[[expect]]\narg = 2\nfile "
      "= \"" +
      name + "\"\n";
  EXPECT_NO_THROW(run(launch));
  std::ofstream(name, std::ios::binary).write("abc", 3);
  EXPECT_THAT(error_of(launch, ExitCode::bad_input), testing::HasSubstr("has 3 bytes, the buffer 16"));
  unlink(name.c_str());
  EXPECT_THAT(error_of(launch, ExitCode::bad_input), testing::HasSubstr(name));
}

TEST_F(Runner, ErrorsPointAtTheLineThatIsToBlame) {
  using testing::HasSubstr;
  const auto changed = [](const std::string& from, const std::string& to, std::string text = saxpy("")) {
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const auto says = [&](const std::string& toml) { return error_of(toml, ExitCode::bad_input); };
  EXPECT_THAT(says(changed("init = \"iota\"", "file = \"none.bin\"")),
              testing::AllOf(HasSubstr("_launch.toml:12:8: error: "), HasSubstr("[file-missing]")));
  EXPECT_THAT(says(saxpy("[[expect]]\narg = \"y\"\nfile = \"none.bin\"\n")),
              HasSubstr("_launch.toml:23:8: error: "));
  EXPECT_THAT(says(changed("global = 64", "global = 65")),
              HasSubstr("_launch.toml:3:10: error: global (65, 1, 1) is not"));
  EXPECT_THAT(says(changed("\"saxpy\"", "\"saxpi\"")), HasSubstr("_launch.toml:2:10: error: "));
  EXPECT_THAT(says(saxpy("[[arg]]\ntype = \"u32\"\nvalue = 1\n")),
              HasSubstr("_launch.toml:21:1: error: kernel 'saxpy' has 4 parameters, 5"));
  EXPECT_THAT(says(changed("[[arg]]\ntype = \"u32\"\nvalue = 64\n", "")),
              HasSubstr("_launch.toml:13:1: error: kernel 'saxpy' has 4 parameters, 3"));
  const std::string large = changed("block = 32", "block = 4096");
  EXPECT_THAT(says(changed("global = 64", "grid = 1", large)),
              testing::AllOf(HasSubstr("_launch.toml:4:9: error: "), HasSubstr("[launch-shape]")));
  EXPECT_THAT(says(changed("global = 64", "grid = [1, 100000]")),
              testing::AllOf(HasSubstr("_launch.toml:3:8: error: "), HasSubstr("[launch-shape]")));
  EXPECT_THAT(says(changed("block = 32", "block = 32\nshared = 1000000")),
              testing::AllOf(HasSubstr("_launch.toml:5:10: error: "), HasSubstr("shared memory")));
}

TEST_F(Runner, AnExpectedFileOfTheWrongSizeIsReportedAtTheExpectation) {
  const std::string name = folder_ + "_small.bin";
  std::ofstream(name, std::ios::binary).write("abc", 3);
  EXPECT_THAT(error_of(saxpy("[[expect]]\narg = \"y\"\nfile = \"" + name + "\"\n"), ExitCode::bad_input),
              testing::AllOf(testing::HasSubstr("_launch.toml:23:8: error: "),
                             testing::HasSubstr("has 3 bytes, the buffer 256")));
  unlink(name.c_str());
}

TEST_F(Runner, NaNIsNoSmallError) {
  EXPECT_THAT(error_of(saxpy("[[expect]]\narg = \"y\"\nvalue = nan\n"), ExitCode::program_failed),
              testing::HasSubstr("largest error NaN"));
  // An infinite expectation is met by infinity alone, whatever the tolerance.
  EXPECT_THAT(
      error_of(saxpy("[[expect]]\narg = \"y\"\nvalue = inf\ntolerance = 1e-3\n"), ExitCode::program_failed),
      testing::HasSubstr("64 of 64 elements differ"));
}

TEST_F(Runner, AnInterruptEndsTheFillingOfBuffers) {
  const volatile bool interrupt = true;
  try {
    run_launch(compile::parse_launch_file(saxpy(""), "l.toml"), module_, *gpu_, 1, &interrupt);
    FAIL() << "ran";
  } catch (const Error& e) { EXPECT_EQ(e.code(), ExitCode::interrupted); }
  EXPECT_EQ(gpu_->memory().used(), 0u);
}

TEST_F(Runner, LargeContentsAreMadeInPiecesWithoutASeam) {
  // 600001 elements of 4 bytes are more than two pieces; the kernel reverses only the first 64.
  const std::string name = folder_ + "_large.bin";
  std::vector<std::uint32_t> wanted(600001);
  for (std::uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i < 64 ? 63 - i : i;
  std::ofstream(name, std::ios::binary)
      .write(reinterpret_cast<const char*>(wanted.data()), static_cast<std::streamsize>(wanted.size() * 4));
  EXPECT_NO_THROW(run(
      "kernel = \"reverse\"\ngrid = 1\nblock = 64\n[[arg]]\nname = \"x\"\ntype = \"u32\"\nshape = 600001\n"
      "init = \"iota\"\n[[arg]]\nlocal = 256\n[[expect]]\narg = \"x\"\nfile = \"" +
      name + "\"\n"));
  unlink(name.c_str());
}

TEST_F(Runner, LocalMemoryLiesInSharedMemory) {
  EXPECT_NO_THROW(
      run("kernel = \"reverse\"\ngrid = 1\nblock = 64\n[[arg]]\nname = \"x\"\ntype = \"s32\"\nshape = "
          "64\ninit = \"iota\"\n"
          "[[arg]]\nlocal = 256\n[[expect]]\narg = \"x\"\nvalues = [63, 62, 61]\n"));
}

TEST_F(Runner, RandomContentsFollowTheSeed) {
  const std::string launch =
      "kernel = \"reverse\"\ngrid = 1\nblock = 1\n[[arg]]\ntype = \"u32\"\nshape = 64\ninit = "
      "\"random\"\n[[arg]]\nlocal = 4\n"
      "[[expect]]\narg = 0\nvalue = 0\n";
  const auto with = [&](std::uint64_t seed) {
    try {
      run(launch, seed);
    } catch (const Error& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_EQ(with(5), with(5));
  EXPECT_NE(with(5), with(6));
}

TEST_F(Runner, ArgumentsAreCheckedAgainstTheKernel) {
  EXPECT_THAT(error_of("kernel = \"saxpi\"\ngrid = 1\nblock = 1\n", ExitCode::bad_input),
              testing::HasSubstr("did you mean 'saxpy'?"));
  EXPECT_THAT(error_of("grid = 1\nblock = 1\n", ExitCode::bad_input),
              testing::HasSubstr("2 kernels: saxpy, reverse"));
  EXPECT_THAT(error_of("kernel = \"saxpy\"\ngrid = 1\nblock = 1\n", ExitCode::bad_input),
              testing::HasSubstr("has 4 parameters, 0 arguments"));
  std::string text = saxpy("");
  text.replace(text.find("\"f32\""), 5, "\"f64\"");
  EXPECT_THAT(error_of(text, ExitCode::bad_input),
              testing::AllOf(testing::HasSubstr("f64 of 8 bytes"), testing::HasSubstr("_launch.toml:5")));
  text = saxpy("");
  text.replace(text.find("\"f32\""), 5, "\"s32\"");
  text.replace(text.find("2.0"), 3, "2");
  EXPECT_THAT(error_of(text, ExitCode::bad_input), testing::HasSubstr("parameter 'a' is .f32"));
  text = saxpy("");
  text.replace(text.find("global = 64"), 11, "global = 65");
  EXPECT_THAT(error_of(text, ExitCode::bad_input), testing::HasSubstr("not a multiple of the block"));
  text = saxpy("");
  text.replace(text.find("block = 32\n"), 11, "");
  EXPECT_THAT(error_of(text, ExitCode::bad_input), testing::HasSubstr("size of a block is missing"));
}

TEST_F(Runner, BuffersBeyondTheDeviceAreRefused) {
  EXPECT_THAT(error_of("kernel = \"reverse\"\ngrid = 1\nblock = 1\n[[arg]]\ntype = \"f64\"\nshape = "
                       "100000000000\n[[arg]]\nlocal = 4\n",
                       ExitCode::bad_input),
              testing::HasSubstr("does not fit the device's memory"));
}

}  // namespace
}  // namespace simtlab::hosts::cuda
