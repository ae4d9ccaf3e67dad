// Building CUDA programs: cache, PTX images, and real compilations where clang 19 is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "compile/build_cache.h"
#include "compile/device_code.h"
#include "compile/frontend.h"
#include "compile/process.h"
#include "compile/ptx_image.h"

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class BuildTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("simtlab-build-" + std::to_string(getpid()) + "-" + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  BuildResult build_with(std::vector<std::string> arguments, const std::string& output) const {
    BuildRequest request;
    request.arguments = std::move(arguments);
    request.output = folder_ / output;
    request.cache = folder_ / "cache";
    return build(request);
  }
  std::string text_of(const BuildResult& r) const { return read_file(r.executable, 1 << 26); }

  fs::path folder_;
};

// Compilations need clang 19; without it the message must name the package.
class CompileTest : public BuildTest {
 protected:
  void SetUp() override {
    BuildTest::SetUp();
    if (find_program("clang-19").empty()) GTEST_SKIP() << "clang-19 is not installed";
  }
};

// Of a kernel, from its name to the next brace at the start of a line.
std::string body_of(const std::string& ptx, const std::string& kernel) {
  const std::size_t from = ptx.find(".entry " + kernel + "(");
  return from == ptx.npos ? "" : ptx.substr(from, ptx.find("\n}", from) - from);
}
long loads_of(const std::string& ptx, const std::string& kernel) {
  const std::string body = body_of(ptx, kernel), load = "ld.global";
  long n = 0;
  for (std::size_t at = body.find(load); at != body.npos; at = body.find(load, at + 1)) ++n;
  return n;
}

constexpr const char* kKernel =
    "#include \"factor.h\"\n__global__ void scale(float* x) { x[threadIdx.x] *= FACTOR; }\nint main() { "
    "return 0; }\n";

TEST_F(CompileTest, AKernelBecomesPtxWithLineInformation) {
  write("factor.h", "#define FACTOR 3.0f\n");
  const fs::path source = write("k.cu", kKernel);
  const std::string ptx = text_of(build_with({"-ptx", "-arch=sm_80", source.string()}, "k.ptx"));
  EXPECT_THAT(ptx, HasSubstr(".target sm_80"));
  EXPECT_THAT(ptx, HasSubstr(".entry _Z5scalePf"));
  EXPECT_THAT(ptx, HasSubstr(".loc"));
  EXPECT_THAT(ptx, HasSubstr("k.cu"));
}

TEST_F(CompileTest, LineInformationChangesNoInstruction) {
  // -G apart, the instructions are those of a compilation without .loc lines: there is none between
  // instructions only.
  write("factor.h", "#define FACTOR 3.0f\n");
  const fs::path source = write("k.cu", kKernel);
  const std::string ptx = text_of(build_with({"-ptx", source.string()}, "k.ptx"));
  EXPECT_THAT(ptx, Not(HasSubstr(", debug")));
  EXPECT_THAT(ptx, HasSubstr("mul"));
}

TEST_F(CompileTest, ASecondBuildComesFromTheCacheUntilAnIncludedFileChanges) {
  write("factor.h", "#define FACTOR 3.0f\n");
  const fs::path source = write("k.cu", kKernel);
  EXPECT_FALSE(build_with({"-c", source.string()}, "k.o").from_cache);
  EXPECT_TRUE(build_with({"-c", source.string()}, "k.o").from_cache);
  EXPECT_FALSE(build_with({"-c", "-DOTHER", source.string()}, "k.o").from_cache);
  write("factor.h", "#define FACTOR 4.0f\n");
  EXPECT_FALSE(build_with({"-c", source.string()}, "k.o").from_cache);
  EXPECT_TRUE(build_with({"-c", source.string()}, "k.o").from_cache);
}

TEST_F(CompileTest, ManyBuildsAtOnceGiveTheSameProduct) {
  write("factor.h", "#define FACTOR 3.0f\n");
  const fs::path source = write("k.cu", kKernel);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] { build_with({"-ptx", source.string()}, "k" + std::to_string(i) + ".ptx"); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(read_file(folder_ / "k0.ptx", 1 << 26), read_file(folder_ / "k1.ptx", 1 << 26));
  EXPECT_EQ(read_file(folder_ / "k0.ptx", 1 << 26), read_file(folder_ / "k2.ptx", 1 << 26));
}

TEST_F(CompileTest, BlanksInLaunchBracketsCompileAndNamesStayInMessages) {
  const fs::path source =
      write("k.cu",
            "__global__ void k(int* p) { *p = 1; }\nint main() { k << < 1, 1 >> > (nullptr); return 0; }\n");
  EXPECT_NO_THROW(build_with({"-c", source.string()}, "k.o"));
}

TEST_F(CompileTest, AlignmentsMayStandBehindTheirMemory) {
  const fs::path source = write("k.cu", R"(
template <int N> __global__ void k(float* p) {
  __shared__ alignas(N) float s[64];
  __shared__ alignas(float4) alignas(8) float t[64];
  extern __shared__ alignas(32) float x[];
  struct alignas(16) { float a; } own{1};
  s[threadIdx.x] = t[*(int*)p] = x[0] = own.a;
  *p = s[*(int*)p] + t[0] + x[1];
}
__constant__ alignas(128) float c[4];
int main() { k<64><<<1, 1>>>(nullptr); }
)");
  const std::string ptx = text_of(build_with({"-ptx", source.string()}, "k.ptx"));
  for (const char* declared :
       {".shared .align 64 ", ".shared .align 16 ", ".extern .shared .align 32 ", ".const .align 128 "})
    EXPECT_THAT(ptx, HasSubstr(declared));
  EXPECT_NO_THROW(build_with({"-c", source.string()}, "k.o"));
  const fs::path wrong =
      write("wrong.cu", "__global__ void k() {\n  __shared__ alignas(16) float s[N];\n}\n");
  BuildRequest request;
  request.arguments = {"-ptx", wrong.string()};
  request.output = folder_ / "w.ptx";
  request.cache = folder_ / "cache";
  std::string said;
  request.tell = [&](const std::string& text) { said += text; };
  EXPECT_THROW(build(request), Error);
  EXPECT_THAT(said, HasSubstr("wrong.cu:2:34: error"));
  EXPECT_THAT(said, HasSubstr("  __shared__ alignas(16) float s[N];"));
}

TEST_F(CompileTest, LoopsAreNotCopiedWithoutEnd) {
  const std::string loop = "\n  for (int i = 0; i < n; ++i) a[i] = a[i] * 2.0f + i;\n";
  const auto told = [&](const std::string& text, unsigned seconds, long loads) {
    const fs::path source = write("k.cu", text);
    BuildRequest request;
    request.arguments = {"-ptx", source.string()};
    request.output = folder_ / "k.ptx";
    request.cache = folder_ / "cache";
    request.unroll_seconds = seconds;
    std::string said;
    request.tell = [&](const std::string& more) { said += more; };
    EXPECT_EQ(loads_of(text_of(build(request)), "k"), loads);
    return said;
  };
  const std::string kernel = "extern \"C\" __global__ void k(float* a, int n) {\n";
  for (const char* copies : {"100000", "-1", "4000000000", "0"})
    EXPECT_THAT(told(kernel + "#pragma unroll " + copies + loop + "}\n", 60, 4 + 1),
                HasSubstr("k.cu:2: warning: #pragma unroll is ignored"))
        << copies;
  EXPECT_EQ(told(kernel + "#pragma unroll 8" + loop + "}\n", 60, 8 + 1), "");
  // Of a number that only clang knows, in a second.
  EXPECT_THAT(told("template <int N> __device__ void f(float* a, int n) {\n#pragma unroll N" + loop + "}\n" +
                       kernel + "  f<20000>(a, n);\n#pragma unroll 8" + loop + "}\n",
                   1, 4 + 1 + 8 + 1),
              HasSubstr("k.cu:2: warning: #pragma unroll is ignored: the copies take the compiler too long"));
}

TEST_F(CompileTest, RegisterLimitsReachThePtx) {
  const fs::path source = write("k.cu", "__global__ void k(int* p) { *p = 1; }\n");
  EXPECT_THAT(text_of(build_with({"-ptx", "-maxrregcount=32", source.string()}, "k.ptx")),
              HasSubstr(".maxnreg 32"));
}

// nvcc 13 makes as many loads of these kernels, but for long_one: 8, not 4.
constexpr const char* kLoops = R"(
#define LOOP(name, pragma, turns)                                                   \
  extern "C" __global__ void name(const float* p, float* o, int n) {                \
    float s = 0;                                                                    \
    _Pragma(pragma) for (int i = 0; i < turns; ++i) s += p[i * n];                  \
    *o = s;                                                                         \
  }
LOOP(fully, "unroll", 200)
LOOP(by_four, "unroll 4", n)
LOOP(not_by_one, "unroll 1", 16)
LOOP(not_at_all, "nounroll", 16)
LOOP(short_one, "", 64)
LOOP(long_one, "", 200)
LOOP(open_end, "", n)
)";
constexpr const char* kArray = R"(
extern "C" __global__ void turned(const float* p, float* o) {
  float a[200];
  for (int i = 0; i < 200; ++i) a[i] = p[7 * i];
  for (int i = 0; i < 200; ++i) o[i] = a[199 - i];
}
)";

TEST_F(CompileTest, LoopsAreUnrolledAsNvccAndItsPragmasDo) {
  const fs::path source = write("k.cu", kLoops);
  const std::string ptx = text_of(build_with({"-ptx", source.string()}, "k.ptx"));
  EXPECT_EQ(loads_of(ptx, "fully"), 200);
  EXPECT_EQ(loads_of(ptx, "by_four"), 4 + 1);  // and what is left over
  EXPECT_EQ(loads_of(ptx, "not_by_one"), 1);
  EXPECT_EQ(loads_of(ptx, "not_at_all"), 1);
  EXPECT_EQ(loads_of(ptx, "short_one"), 64);
  EXPECT_EQ(loads_of(ptx, "long_one"), 4);
  EXPECT_EQ(loads_of(ptx, "open_end"), 4 + 1);
  const fs::path array = write("a.cu", kArray);
  const std::string without = text_of(build_with({"-ptx", array.string()}, "a.ptx"));
  EXPECT_EQ(loads_of(without, "turned"), 200);
  EXPECT_EQ(local_bytes(without), 0u);
}

TEST_F(CompileTest, OnlyDeviceDebuggingKeepsDeviceCodeAsItIs) {
  const fs::path source = write("k.cu", kArray);
  const auto local = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"-ptx", source.string()});
    return local_bytes(text_of(build_with(options, "k.ptx")));
  };
  EXPECT_EQ(local({"-O0", "-Xptxas=-O0"}), 0u);  // of the host, and of the assembler
  EXPECT_GT(local({"-G"}), 0u);
  EXPECT_EQ(local({"-G", "-dopt=on"}), 0u);
}

TEST_F(CompileTest, QualifiersReachThePtx) {
  const fs::path source = write("k.cu", R"(
extern "C" __global__ void both(const float* __restrict__ p, float* __restrict__ o) { *o = *p; }
extern "C" __global__ void one(const float* __restrict__ p, float* o) { *o = *p; }
extern "C" __global__ void neither(const float* p, float* o) { *o = *p; }
extern "C" __global__ void written(float* __restrict__ p, const float* q) { *p += *q; }
extern "C" __global__ void __launch_bounds__(96) bounded(float* o) { *o = 1; }
extern "C" __global__ void __launch_bounds__(2 * 64, 3) crowded(float* o) { *o = 1; }
extern "C" __global__ void plain(float* o) { *o = 1; }
__device__ __noinline__ float far_away(float x) { return x * x; }
__device__ __forceinline__ float here(float x) { for (int i = 0; i < 300; ++i) x = x * x + sqrtf(x); return x; }
__device__ float long_one(float x) {
#pragma unroll
  for (int i = 0; i < 600; ++i) x = x * x + sqrtf(x);
  return x;
}
extern "C" __global__ void twice(float* o) { *o = long_one(long_one(*o)); }
extern "C" __global__ void calls(float* o) { *o = far_away(*o); }
extern "C" __global__ void holds(float* o) { *o = here(o[0]) + here(o[1]); }
)");
  const std::string ptx = text_of(build_with({"-ptx", "-maxrregcount=40", source.string()}, "k.ptx"));
  const auto has = [&](const char* kernel, const char* text) {
    return body_of(ptx, kernel).find(text) != std::string::npos;
  };
  EXPECT_TRUE(has("both", "ld.global.nc") && has("one", "ld.global.nc"));
  EXPECT_FALSE(has("neither", "ld.global.nc") || has("written", "ld.global.nc"));
  EXPECT_TRUE(has("bounded", ".maxntid 96") && has("crowded", ".maxntid 128"));
  EXPECT_TRUE(has("crowded", ".minnctapersm 3") && !has("bounded", ".minnctapersm"));
  EXPECT_TRUE(has("plain", ".maxnreg 40"));
  EXPECT_FALSE(has("bounded", ".maxnreg") || has("crowded", ".maxnreg"));
  EXPECT_TRUE(has("calls", "call"));
  EXPECT_FALSE(has("holds", "call") || has("twice", "call"));
}

TEST_F(CompileTest, MathsFunctionsLeaveNothingUnresolved) {
  const fs::path source =
      write("m.cu",
            "__global__ void k(float* f, double* d) { f[0] = sinf(f[1]) + powf(f[2], f[3]) + erff(f[4]); "
            "d[0] = exp(d[1]) + tgamma(d[2]) + fmod(d[3], d[4]); f[5] = __fdividef(f[6], f[7]) + "
            "rsqrtf(f[8]); }\n");
  const std::string ptx = text_of(build_with({"-ptx", source.string()}, "m.ptx"));
  EXPECT_THAT(ptx, Not(HasSubstr(".extern .func  (.param .b32 func_retval0) __nv_")));
  EXPECT_THAT(ptx, Not(HasSubstr(".extern .func  (.param .b64 func_retval0) __nv_")));
}

TEST_F(CompileTest, FastMathsLinksWithTheDeviceMaths) {
  const fs::path source = write("k.cu", "__global__ void k(float* p) { *p = erff(*p) + tanhf(*p); }\n");
  const std::string ptx = text_of(build_with({"-use_fast_math", "-ptx", source.string()}, "k.ptx"));
  EXPECT_THAT(ptx, HasSubstr(".ftz.f32"));
  EXPECT_THAT(text_of(build_with({"-ftz=true", "-ptx", source.string()}, "k.ptx")), HasSubstr(".ftz.f32"));
}

TEST_F(CompileTest, ALeadersValueMayBeShuffledToLanesThatHaveNone) {
  const fs::path source =
      write("k.cu",
            "__global__ void k(int* p) { int v; if (threadIdx.x % 32 == 0) v = atomicAdd(p, 1);\n"
            "  p[threadIdx.x] = __shfl_sync(~0u, v, 0); }\n");
  // The atomic stays conditional: a branch around it, or a guard.
  EXPECT_THAT(text_of(build_with({"-ptx", source.string()}, "k.ptx")), testing::ContainsRegex("@%p[0-9]+"));
}

TEST_F(CompileTest, AnInputIsNeverTheOutput) {
  const fs::path source = write("k.cu", "int main() { return 0; }\n");
  EXPECT_THROW(build_with({source.string()}, "k.cu"), Error);
  EXPECT_EQ(read_file(source, 1000), "int main() { return 0; }\n");
}

TEST_F(CompileTest, ALinkAsOutputKeepsItsPlace) {
  const fs::path source = write("k.cu", "int main() { return 0; }\n");
  write("target", "");
  fs::create_symlink(folder_ / "target", folder_ / "link");
  build_with({"-ptx", source.string()}, "link");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_GT(fs::file_size(folder_ / "target"), 0u);
}

TEST_F(CompileTest, OpenMpOnTheHostSideNeedsGccOnly) {
  if (find_program("gcc").empty()) GTEST_SKIP() << "gcc is not installed";
  const fs::path source =
      write("k.cu",
            "#include <omp.h>\n__global__ void k(int* p) { *p = 1; }\n"
            "int main() { k<<<1, 1>>>(nullptr); return omp_get_max_threads() > 0 ? 0 : 1; }\n");
  EXPECT_NO_THROW(build_with({"-Xcompiler", "-fopenmp", "-c", source.string()}, "k.o"));
}

TEST_F(CompileTest, WhatTheCompilerRefusesIsBadInput) {
  const fs::path source = write("bad.cu", "__global__ void k( {\n");
  try {
    build_with({"-c", "-w", source.string()}, "bad.o");
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_EQ(e.id(), "compile-failed");
  }
}

TEST_F(BuildTest, AMissingCompilerIsNamedWithItsPackage) {
  const fs::path source = write("k.cu", "int main() {}\n");
  setenv("SIMTLAB_CLANG", "/nonexistent/clang", 1);
  try {
    build_with({source.string()}, "k");
    ADD_FAILURE() << "built";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::unavailable);
    EXPECT_THAT(e.format(), HasSubstr("clang 19"));
  }
  unsetenv("SIMTLAB_CLANG");
}

TEST_F(BuildTest, ACacheThatCannotBeWrittenIsSaid) {
  write("cache", "a file where the folder should be");
  const fs::path source = write("k.cu", "int main() {}\n");
  try {
    build_with({source.string()}, "k");
    FAIL() << "built";
  } catch (const Error& e) { EXPECT_THAT(e.format(), HasSubstr("SIMTLAB_CACHE")); }
}

TEST_F(BuildTest, AStoredProductIsFoundUntilItOrItsSourcesAreDamaged) {
  const BuildCache cache(folder_ / "cache");
  const fs::path source = write("source", "one");
  EXPECT_FALSE(cache.find("key"));
  const fs::path stored = cache.store("key", write("product.o", "object"), {source});
  ASSERT_TRUE(cache.find("key"));
  EXPECT_EQ(read_file(*cache.find("key"), 100), "object");
  std::ofstream(source) << "two";
  EXPECT_FALSE(cache.find("key"));
  std::ofstream(source) << "one";
  EXPECT_TRUE(cache.find("key"));
  std::ofstream(stored) << "obj";
  EXPECT_FALSE(cache.find("key"));
}

TEST_F(BuildTest, DependencyFilesAreReadWithTheirEscapes) {
  EXPECT_THAT(read_dependencies("out.o: a.cu b\\ c.h \\\n  d$$e.h \\\n  a.cu\n"),
              ElementsAre(fs::path("a.cu"), fs::path("b c.h"), fs::path("d$e.h")));
  EXPECT_TRUE(read_dependencies("").empty());
}

TEST(PtxImage, OneTextEndsWithNulAndSeveralMakeAContainerThatReadsBack) {
  EXPECT_EQ(make_image({{"sm_70", "text"}}), std::string("text\0", 5));
  const std::string image =
      make_image({{"sm_60", ".version 7.8\n.target sm_60\n"}, {"sm_80", ".version 7.8\n.target sm_80\n"}});
  const std::vector<FatbinEntry> entries = read_fatbin(image.data(), image.size(), "test");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].major, 6u);
  EXPECT_EQ(entries[1].major, 8u);
  EXPECT_EQ(ptx_text(entries[1], "test"), ".version 7.8\n.target sm_80\n");
}

TEST(PtxImage, RegisterLimitsGoToKernelsThatHaveNone) {
  std::string ptx =
      ".visible .entry a(\n)\n{\n}\n.visible .entry b(\n)\n.maxnreg 16\n{\n}\n.func c()\n{\n}\n";
  limit_registers(ptx, 32);
  EXPECT_EQ(ptx,
            ".visible .entry a(\n)\n.maxnreg 32\n{\n}\n.visible .entry b(\n)\n.maxnreg 16\n{\n}\n.func "
            "c()\n{\n}\n");
  // Launch bounds come before the option, and the assembler takes 24 at least.
  ptx = ".visible .entry a(\n)\n.maxntid 128, 1, 1\n{\n}\n.visible .entry b(\n)\n{\n}\n";
  limit_registers(ptx, 8);
  EXPECT_EQ(ptx,
            ".visible .entry a(\n)\n.maxntid 128, 1, 1\n{\n}\n.visible .entry b(\n)\n.maxnreg "
            "24\n{\n}\n");
}

TEST(DeviceCode, LocalBytesAreThoseThatAreDeclared) {
  EXPECT_EQ(local_bytes(""), 0u);
  EXPECT_EQ(local_bytes("\t.local .align 4 .b8 \t__local_depot0[288];\n\tmov.u64 \t%SPL, __local_depot0;\n"
                        "\t.local .align 16 .b8 \t__local_depot12[32];\n\tmov.u64 \t%SPL, __local_depot12"),
            320u);
}

TEST(DeviceCode, TheLowestLimitThatLeavesTheFewestLocalBytesIsTaken) {
  // Bytes at the three limits, and how many of them are tried.
  const auto taken = [](std::array<int, 3> bytes) {
    int tried = 0;
    const std::string ptx = unrolled_as_nvcc([&](const Options& options) {
      EXPECT_EQ(options.size(), 2u);
      const int now = tried++;
      return std::to_string(now) + "__local_depot0[" + std::to_string(bytes[static_cast<std::size_t>(now)]) +
             "];";
    });
    return ptx.substr(0, 1) + " of " + std::to_string(tried);
  };
  EXPECT_EQ(taken({0, 0, 0}), "0 of 1");
  EXPECT_EQ(taken({8, 0, 0}), "1 of 2");
  EXPECT_EQ(taken({8, 4, 0}), "2 of 3");
  EXPECT_EQ(taken({8, 4, 4}), "1 of 3");
  EXPECT_EQ(taken({8, 8, 8}), "0 of 3");
}

TEST(Process, ItsTimeMayBeLimited) {
  const ProcessResult r = run_process({"sh", "-c", "while :; do :; done"}, Capture::all, 1);
  EXPECT_TRUE(was_killed(r));
  EXPECT_FALSE(was_killed(run_process({"true"}, Capture::all, 1)));
}

TEST(Process, OutputStatusAndMissingProgramsAreReported) {
  EXPECT_EQ(run_process({"printf", "a b"}, Capture::output).output, "a b");
  EXPECT_EQ(run_process({"sh", "-c", "exit 3"}).status, 3);
  EXPECT_THROW(run_process({"/nonexistent/program"}), Error);
  EXPECT_EQ(find_program("no-such-program-here"), "");
}

}  // namespace
}  // namespace simtlab::compile
