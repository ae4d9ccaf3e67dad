// nvcc's command line as simtlab reads it.

#include "compile/nvcc_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "compile/dependencies.h"
#include "compile/frontend.h"

namespace simtlab::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NvccOptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("simtlab-options-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    for (const char* name : {"a.cu", "b.cpp", "c.c", "d.o", "odd.txt"}) std::ofstream(path(name)) << "\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  NvccOptions parse(std::vector<std::string> arguments) const {
    arguments.push_back(path("a.cu"));
    return parse_nvcc_options(arguments);
  }
  Error refusal(const std::vector<std::string>& arguments) const {
    try {
      parse_nvcc_options(arguments);
    } catch (const Error& e) { return e; }
    ADD_FAILURE() << "accepted";
    return {ExitCode::ok, "none", "none"};
  }

  std::filesystem::path folder_;
};

TEST_F(NvccOptionsTest, ArchitecturesAreMappedSortedAndListedOnce) {
  EXPECT_THAT(parse({}).architectures, ElementsAre("sm_70"));
  EXPECT_THAT(parse({"-arch=sm_80"}).architectures, ElementsAre("sm_80"));
  EXPECT_THAT(parse({"-arch", "compute_35"}).architectures, ElementsAre("sm_35"));
  EXPECT_THAT(
      parse({"-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_60,code=[sm_60,compute_60]",
             "--generate-code", "arch=compute_80,code=compute_80"})
          .architectures,
      ElementsAre("sm_60", "sm_80"));
}

TEST_F(NvccOptionsTest, ArchitecturesNewerThanTheCompilerAreReplacedWithANote) {
  const NvccOptions o = parse({"-arch=sm_120"});
  EXPECT_THAT(o.architectures, ElementsAre("sm_90"));
  ASSERT_EQ(o.notes.size(), 1u);
  EXPECT_THAT(o.notes[0], HasSubstr("sm_90"));
}

TEST(ArchitectureFor, IsTheNewestThatTheCompilerKnowsAndTheGpuHas) {
  EXPECT_EQ(architecture_for(8, 0), "sm_80");
  EXPECT_EQ(architecture_for(8, 8), "sm_87");
  EXPECT_EQ(architecture_for(9, 0), "sm_90");
  EXPECT_EQ(architecture_for(12, 0), "sm_90");
  EXPECT_EQ(architecture_for(2, 0), "sm_70");
}

TEST_F(NvccOptionsTest, AnArchitectureOfTheArgumentsComesBeforeTheDefault) {
  EXPECT_THAT(parse_nvcc_options({path("a.cu")}, "sm_80").architectures, ElementsAre("sm_80"));
  EXPECT_THAT(parse_nvcc_options({"-arch=sm_75", path("a.cu")}, "sm_80").architectures, ElementsAre("sm_75"));
}

TEST_F(NvccOptionsTest, UnknownArchitecturesAreUsageErrors) {
  EXPECT_EQ(refusal({"-arch=sm_33", path("a.cu")}).code(), ExitCode::usage);
  EXPECT_EQ(refusal({"-arch=volta", path("a.cu")}).code(), ExitCode::usage);
}

TEST_F(NvccOptionsTest, SearchPathsAndMacrosKeepTheirOrderJoinedOrSeparate) {
  EXPECT_THAT(parse({"-Ix", "-I", "y", "-DA=1", "-D", "B", "-std=c++14"}).common,
              ElementsAre("-I", "x", "-I", "y", "-D", "A=1", "-D", "B", "-std=c++14"));
}

TEST_F(NvccOptionsTest, HostOptionsAreSplitAtCommas) {
  const NvccOptions o =
      parse({"-Xcompiler", "-Wall,-march=native", "-Xcompiler=-fopenmp", "-Xlinker", "--wrap=f"});
  EXPECT_THAT(o.host, ElementsAre("-Wall", "-march=native"));
  EXPECT_TRUE(o.openmp);
  EXPECT_THAT(o.link, ElementsAre("-Wl,--wrap=f"));
}

TEST_F(NvccOptionsTest, FastMathSetsWhatNvccSaysItSets) {
  const NvccOptions o = parse({"-use_fast_math"});
  EXPECT_TRUE(o.fast_math && o.flush_denormals && !o.precise_division && !o.precise_sqrt &&
              o.fuse_multiply_add);
  EXPECT_FALSE(parse({"-fmad=false"}).fuse_multiply_add);
  EXPECT_FALSE(parse({"--prec-div=false"}).precise_division);
}

TEST_F(NvccOptionsTest, OurOwnRuntimeNeedsNoLibraryOption) {
  EXPECT_THAT(parse({"-lcudart", "-lcuda", "-cudart", "shared"}).link, IsEmpty());
  EXPECT_THAT(parse({"-lm"}).link, ElementsAre("-lm"));
}

TEST_F(NvccOptionsTest, LanguagesFollowTheExtensionOrTheOption) {
  const NvccOptions o = parse_nvcc_options({path("a.cu"), path("b.cpp"), path("c.c"), path("d.o")});
  ASSERT_EQ(o.inputs.size(), 4u);
  EXPECT_EQ(o.inputs[0].language, Language::cuda);
  EXPECT_EQ(o.inputs[1].language, Language::cxx);
  EXPECT_EQ(o.inputs[2].language, Language::c);
  EXPECT_EQ(o.inputs[3].language, Language::link);
  EXPECT_EQ(parse_nvcc_options({"-x", "cu", path("b.cpp")}).inputs[0].language, Language::cuda);
}

TEST_F(NvccOptionsTest, WhatSimtlabCannotDoIsSaidAsUnsupported) {
  for (const char* option : {"-rdc=true", "-dc", "-m32", "-lcublas", "-cubin", "-dryrun"})
    EXPECT_EQ(refusal({option, path("a.cu")}).code(), ExitCode::unsupported) << option;
  EXPECT_THAT(refusal({"-rdc=true", path("a.cu")}).format(), HasSubstr("relocatable device code"));
  EXPECT_NO_THROW(parse({"-rdc=false"}));
}

TEST_F(NvccOptionsTest, MistakesAreUsageErrorsThatName) {
  EXPECT_THAT(refusal({"-use_fast_maht", path("a.cu")}).format(), HasSubstr("-use_fast_math"));
  EXPECT_EQ(refusal({"-o"}).code(), ExitCode::usage);
  EXPECT_EQ(refusal({"-o", "x", "-o", "y", path("a.cu")}).code(), ExitCode::usage);
  EXPECT_EQ(refusal({}).code(), ExitCode::usage);
  EXPECT_EQ(refusal({"-maxrregcount=lots", path("a.cu")}).code(), ExitCode::usage);
  EXPECT_EQ(refusal({"-c", "-o", "x.o", path("a.cu"), path("b.cpp")}).code(), ExitCode::usage);
  EXPECT_EQ(refusal({path("odd.txt")}).code(), ExitCode::usage);
}

TEST_F(NvccOptionsTest, MissingFilesAndFoldersAreBadInput) {
  EXPECT_EQ(refusal({path("missing.cu")}).id(), "file-missing");
  std::filesystem::create_directory(folder_ / "folder.cu");
  EXPECT_EQ(refusal({path("folder.cu")}).id(), "file-directory");
}

TEST_F(NvccOptionsTest, NumbersOfRegistersThatNoThreadHasAreIgnoredWithAWarning) {
  for (const char* option : {"-maxrregcount=1000", "-maxrregcount=-5", "-maxrregcount=256",
                             "-Xptxas=-maxrregcount=1000", "--maxrregcount=0x100"}) {
    const NvccOptions o = parse({option});
    EXPECT_EQ(o.max_registers, 0) << option;
    EXPECT_EQ(o.warnings.size(), 1u) << option;
  }
  EXPECT_EQ(parse({"-maxrregcount", "0x20"}).max_registers, 32);
  EXPECT_THAT(parse({"-maxrregcount=255"}).warnings, IsEmpty());
  for (const char* wrong : {"-maxrregcount=4000000000", "-maxrregcount=32x", "-maxrregcount=0x"})
    EXPECT_EQ(refusal({wrong, path("a.cu")}).code(), ExitCode::usage) << wrong;
}

TEST_F(NvccOptionsTest, AMachineIsAWidthOrAFile) {
  const std::string source = path("a.cu");
  std::vector<std::string> words = {"-I", "--machine", "--machine=64", "-m", "64", "-m", source, "-O3"};
  EXPECT_EQ(take_machine(words), source);
  EXPECT_THAT(words, ElementsAre("-I", "--machine", "--machine=64", "-m", "64", "-O3"));
  words = {"--machine=" + source, "-arch", "sm_80"};
  EXPECT_EQ(take_machine(words), source);
  EXPECT_THAT(words, ElementsAre("-arch", "sm_80"));
  words = {"--machine", "64", "-m64", source};
  EXPECT_EQ(take_machine(words), "");
  EXPECT_EQ(words.size(), 4u);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--machine"}, {"-m", "16"}, {"-m", source, "-m", source}}) {
    words = wrong;
    EXPECT_THROW(take_machine(words), Error);
  }
  EXPECT_EQ(refusal({"--machine=32", source}).code(), ExitCode::unsupported);
  const std::string said = refusal({"--machine", "16", source}).format();
  EXPECT_THAT(said, HasSubstr("takes 64"));
  EXPECT_THAT(said, HasSubstr("a source file"));
}

TEST_F(NvccOptionsTest, OptionsWithoutEffectAreNotedOnce) {
  EXPECT_THAT(parse({"-Xptxas", "-v", "-Xptxas", "-v", "-keep"}).notes,
              ElementsAre("-Xptxas -v has no effect", "-keep has no effect"));
}

TEST_F(NvccOptionsTest, LevelsOfHostCompilerAndAssemblerAreApart) {
  const NvccOptions o = parse({"-O0", "-Xptxas", "-O1,-v", "-dopt=on"});
  EXPECT_EQ(o.optimisation, "-O0");
  EXPECT_EQ(o.assembler_level, 1);
  EXPECT_TRUE(o.device_optimised);
  EXPECT_EQ(parse({"--optimize=3"}).optimisation, "-O3");
  EXPECT_EQ(parse({"-O5"}).optimisation, "-O3");
  EXPECT_EQ(parse({}).assembler_level, 3);
  EXPECT_EQ(parse({"--ptxas-options=--opt-level=0"}).assembler_level, 0);
  EXPECT_EQ(parse({"-Xptxas", "-maxrregcount=40"}).max_registers, 40);
  EXPECT_EQ(parse({"-Xptxas=-maxrregcount=10"}).notes.size(), 1u);
  for (const char* wrong :
       {"-Ox", "-O12", "-Xptxas=-O5", "-Xptxas=-Ox", "-Xptxas=-maxrregcount", "-dopt=off"})
    EXPECT_EQ(refusal({wrong, path("a.cu")}).code(), ExitCode::usage) << wrong;
}

TEST_F(NvccOptionsTest, WhatMakefilesAndCMakePassIsTaken) {
  const NvccOptions o = parse({"-lcudadevrt", "-Werror", "all-warnings", "-t4", "--split-compile=0",
                               "-allow-unsupported-compiler", "-Xnvlink", "-v", "--default-stream=per-thread",
                               "-forward-unknown-to-host-compiler", "-march=native"});
  EXPECT_THAT(o.link, IsEmpty());
  EXPECT_THAT(o.host, ElementsAre("-march=native"));
  EXPECT_THAT(o.common, ElementsAre("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"));
  EXPECT_EQ(refusal({"--default-stream=mine", path("a.cu")}).code(), ExitCode::usage);
}

TEST_F(NvccOptionsTest, AnOptionsFileStandsForItsWordsAndMayNotNameItself) {
  std::ofstream(folder_ / "more.txt") << "-DA=1\n-O3 -DB\n";
  EXPECT_THAT(parse({"--options-file", path("more.txt"), "-DC"}).common,
              ElementsAre("-D", "A=1", "-D", "B", "-D", "C"));
  std::ofstream(folder_ / "self.txt") << "-optf " << path("self.txt");
  EXPECT_EQ(refusal({"-optf", path("self.txt"), path("a.cu")}).code(), ExitCode::usage);
}

// All options of nvcc 13 that take a value: whatever the value looks like, it stays with its option.
TEST_F(NvccOptionsTest, AValueStaysWithItsOption) {
  for (const char* option : {"-o",
                             "--output-file",
                             "-include",
                             "--pre-include",
                             "-l",
                             "--library",
                             "-D",
                             "--define-macro",
                             "-U",
                             "--undefine-macro",
                             "-I",
                             "--include-path",
                             "-isystem",
                             "--system-include",
                             "-L",
                             "--library-path",
                             "-odir",
                             "--output-directory",
                             "-ccbin",
                             "--compiler-bindir",
                             "-arbin",
                             "--archiver-binary",
                             "-ldir",
                             "--libdevice-directory",
                             "-target-dir",
                             "--target-directory",
                             "-opt-info",
                             "--optimization-info",
                             "--optimize",
                             "-Ofc",
                             "--Ofast-compile",
                             "-dopt",
                             "--dopt",
                             "-ftemplate-backtrace-limit",
                             "--ftemplate-backtrace-limit",
                             "-ftemplate-depth",
                             "--ftemplate-depth",
                             "-Xcompiler",
                             "--compiler-options",
                             "-Xlinker",
                             "--linker-options",
                             "-Xarchive",
                             "--archive-options",
                             "-Xptxas",
                             "--ptxas-options",
                             "-Xnvlink",
                             "--nvlink-options",
                             "-t",
                             "--threads",
                             "-split-compile",
                             "--split-compile",
                             "-split-compile-extended",
                             "--split-compile-extended",
                             "-fdevice-time-trace",
                             "--fdevice-time-trace",
                             "-keep-dir",
                             "--keep-dir",
                             "-time",
                             "--time",
                             "-run-args",
                             "--run-args",
                             "-idp",
                             "--input-drive-prefix",
                             "-ddp",
                             "--dependency-drive-prefix",
                             "-dp",
                             "--drive-prefix",
                             "-MT",
                             "--dependency-target-name",
                             "-MF",
                             "--dependency-output",
                             "-arch",
                             "--gpu-architecture",
                             "-code",
                             "--gpu-code",
                             "-gencode",
                             "--generate-code",
                             "-e",
                             "--entries",
                             "-maxrregcount",
                             "--maxrregcount",
                             "-Werror",
                             "--Werror",
                             "-diag-error",
                             "--diag-error",
                             "-diag-suppress",
                             "--diag-suppress",
                             "-diag-warn",
                             "--diag-warn",
                             "-jtd",
                             "--jump-table-density",
                             "-frandom-seed",
                             "--frandom-seed",
                             "-sanitize",
                             "--sanitize",
                             "-optf",
                             "--options-file",
                             "-cudart",
                             "--cudart",
                             "-cudadevrt",
                             "--cudadevrt",
                             "-x",
                             "--x",
                             "-std",
                             "--std",
                             "-m",
                             "--machine",
                             "-rdc",
                             "--relocatable-device-code",
                             "-ftz",
                             "--ftz",
                             "-prec-div",
                             "--prec-div",
                             "-prec-sqrt",
                             "--prec-sqrt",
                             "-fmad",
                             "--fmad",
                             "-default-stream",
                             "--default-stream",
                             "-hls",
                             "--host-linker-script",
                             "-static-global-template-stub",
                             "-device-entity-has-hidden-visibility",
                             "-brief-diag",
                             "--brief-diagnostics"}) {
    EXPECT_TRUE(is_nvcc_option(option)) << option;
    EXPECT_THAT(with_values_joined({"a.cu", option, "-v", "-g"}),
                ElementsAre("a.cu", std::string(option) + "=-v", "-g"));
    EXPECT_THAT(with_values_joined({"a.cu", option, "-v"}, {option}), ElementsAre("a.cu", option, "-v"));
  }
  EXPECT_THAT(with_values_joined({"-v", "-Xptxas=-v", "-O3", "-Xcompiler"}),
              ElementsAre("-v", "-Xptxas=-v", "-O3", "-Xcompiler"));
  EXPECT_FALSE(is_nvcc_option("--gpu"));
}

// -MD and its kind, as CMake and makefiles write them.
TEST_F(NvccOptionsTest, DependenciesAreWished) {
  const DependencyWish with =
      parse({"-MD", "-MT", "app.dir/a.cu.o", "-MF", "app.dir/a.cu.o.d", "-c"}).dependencies;
  EXPECT_TRUE(with.wanted && with.system && !with.only && !with.phony);
  EXPECT_EQ(with.target, "app.dir/a.cu.o");
  EXPECT_EQ(with.file, "app.dir/a.cu.o.d");
  const DependencyWish user = parse({"-MMD", "-MP"}).dependencies;
  EXPECT_TRUE(user.wanted && !user.system && user.phony);
  EXPECT_TRUE(parse({"-M"}).dependencies.only);
  EXPECT_FALSE(parse({"-MM"}).dependencies.system);
  EXPECT_FALSE(parse({}).dependencies.wanted);
}

TEST_F(NvccOptionsTest, TheRuleNamesEveryFileAsMakeReadsIt) {
  DependencyWish wish;
  const std::vector<std::filesystem::path> read = {"/p/a b.h", "/p/$x.h", "/usr/include/stdio.h",
                                                   "/own/include/cuda_runtime.h",
                                                   std::filesystem::absolute("a.cu")};
  EXPECT_EQ(dependency_rule(wish, "out dir/a.o", "a.cu", read, "/own/include"),
            "out\\ dir/a.o: a.cu \\\n  /p/a\\ b.h \\\n  /p/$$x.h \\\n  /usr/include/stdio.h \\\n  "
            "/own/include/cuda_runtime.h\n");
  wish.system = false, wish.phony = true;
  EXPECT_EQ(dependency_rule(wish, "a.o", "a.cu", read, "/own/include"),
            "a.o: a.cu \\\n  /p/a\\ b.h \\\n  /p/$$x.h\n\n/p/a\\ b.h:\n\n/p/$$x.h:\n");
}

TEST_F(NvccOptionsTest, AJoinedValueMeansTheSame) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-Xptxas", "-v"},
                                             {"-Xcompiler", "-v,-O1"},
                                             {"-Xlinker", "--as-needed"},
                                             {"-D", "X=1"},
                                             {"-I", "dir"},
                                             {"-arch", "sm_80"},
                                             {"-l", "m"},
                                             {"-L", "."},
                                             {"-o", "x"},
                                             {"-std", "c++17"},
                                             {"-maxrregcount", "32"},
                                             {"-ftemplate-depth", "9"},
                                             {"--optimize", "3"},
                                             {"-m", "64"},
                                             {"-diag-suppress", "20012"}}) {
    const NvccOptions apart = parse(words), joined = parse(with_values_joined(words));
    EXPECT_EQ(apart.common, joined.common) << words[0];
    EXPECT_EQ(apart.host, joined.host) << words[0];
    EXPECT_EQ(apart.link, joined.link) << words[0];
    EXPECT_EQ(apart.notes, joined.notes) << words[0];
    EXPECT_EQ(apart.architectures, joined.architectures) << words[0];
    EXPECT_EQ(apart.output + apart.optimisation, joined.output + joined.optimisation) << words[0];
    EXPECT_EQ(apart.max_registers, joined.max_registers) << words[0];
  }
  EXPECT_EQ(refusal({"-sanitize", "memcheck", path("a.cu")}).code(), ExitCode::unsupported);
  EXPECT_EQ(refusal({"-m", "32", path("a.cu")}).code(), ExitCode::unsupported);
}

}  // namespace
}  // namespace simtlab::compile
