// The parts of simtlab suite that need no compiler: what is found, copied, read out of output and remembered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/temporary.h"
#include "studies/suite/find.h"
#include "studies/suite/make_variables.h"
#include "studies/suite/state.h"
#include "studies/suite/step.h"
#include "studies/suite/tree.h"
#include "studies/suite/words.h"
#include "studies/toolkit/toolkit.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SuiteTest : public ::testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& content = "") {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> found() {
    std::vector<std::string> out;
    for (const Project& p : find_projects(list_tree(root_)).all)
      out.push_back(std::string(name_of(p.kind)) + " " + p.name);
    return out;
  }

  TemporaryFolder temporary_{fs::temp_directory_path()};
  fs::path root_ = fs::canonical(temporary_.path()) / "user",
           work_ = fs::canonical(temporary_.path()) / "work";
  void SetUp() override { fs::create_directories(root_), fs::create_directories(work_); }
};

constexpr const char* program = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n";

TEST_F(SuiteTest, EachKindOfProjectIsFound) {
  file("single/a.cu", program), file("single/helper.cu", "__device__ int f();\n"),
      file("single/k.cl", "kernel void k() {}\n");
  file("apps/one/Makefile", "one: one.cu\n\tnvcc one.cu -o one\n"), file("apps/one/one.cu", program),
      file("apps/one/deep/two.cu", program);
  file("apps/Makefile", "all:\n\t$(MAKE) -C one\n");
  file("cmake/CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\nPROJECT (demo LANGUAGES CUDA)\n"),
      file("cmake/src/a.cu", program);
  file("docs/Makefile", "all:\n\techo a page\n"), file("docs/sample.cu", program);
  EXPECT_THAT(found(), ElementsAre("make apps/one", "cmake cmake", "cuda docs/sample.cu", "cuda single/a.cu",
                                   "opencl single/k.cl"));
  const Projects all = find_projects(list_tree(root_));
  ASSERT_EQ(all.skipped.size(), 1u);
  EXPECT_EQ(all.skipped[0].file, "single/helper.cu");
}

TEST_F(SuiteTest, AMakefileOfTheRootTakesAllAndAnEmptyFolderHasNothing) {
  EXPECT_THAT(found(), IsEmpty());
  file("Makefile", "all:\n\tnvcc src/a.cu\n"), file("src/a.cu", program);
  EXPECT_THAT(found(), ElementsAre("make user"));
}

TEST_F(SuiteTest, LongRunsOfBlanksDoNotHurt) {
  file("a.cu", "int main" + std::string(1 << 20, ' ') + "() {}"), file("b.cu", "int domain() {} /* main */");
  EXPECT_THAT(found(), ElementsAre("cuda a.cu"));
}

TEST_F(SuiteTest, LoopsOfLinksPipesAndUnreadableFilesAreLeftOut) {
  file("a.cu", program);
  fs::create_symlink(root_, root_ / "round"), fs::create_symlink("y", root_ / "x"),
      fs::create_symlink("x", root_ / "y");
  ASSERT_EQ(::mkfifo((root_ / "pipe.cu").c_str(), 0600), 0);
  file("it's a \x1b[31m\nname \xff.cu", program);
  const Tree tree = list_tree(root_);
  EXPECT_THAT(tree.notes, ElementsAre(HasSubstr("pipe.cu: neither a file nor a folder")));
  EXPECT_EQ(find_projects(tree).all.size(), 2u);
  copy_tree(tree, work_ / "tree");
  EXPECT_TRUE(fs::exists(work_ / "tree/it's a \x1b[31m\nname \xff.cu"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(work_ / "tree/pipe.cu")));
}

// What a build does to its copy, also through links, the user's folder does not feel.
TEST_F(SuiteTest, NothingInACopyLeadsBackToTheUsersFolder) {
  file("app/Makefile", "nvcc"), file("common/deep/x.h", "one"), file("other/y.h", "two");
  const fs::path outside = fs::canonical(temporary_.path()) / "outside";
  fs::create_directories(outside);
  std::ofstream(outside / "data.bin") << "data";
  fs::create_directory_symlink(root_ / "common", root_ / "app/absolute"),
      fs::create_directory_symlink("../common", root_ / "app/relative");
  fs::create_directory_symlink(outside, root_ / "app/outside"),
      fs::create_symlink(outside / "data.bin", root_ / "app/data.bin");
  const Tree tree = list_tree(root_);
  copy_tree(tree, work_ / "tree");
  copy_project(work_ / "tree", "app", true, work_ / "copy");
  EXPECT_EQ(text(work_ / "copy/app/data.bin"), "data");
  EXPECT_FALSE(fs::exists(fs::symlink_status(work_ / "copy/app/outside")));
  EXPECT_EQ(text(work_ / "copy/app/../common/deep/x.h"), "one");
  for (const char* link : {"absolute", "relative"}) {
    const fs::path meant = fs::canonical(work_ / "copy/app" / link);
    EXPECT_EQ(meant.string().find(root_.string()), std::string::npos) << meant;
    EXPECT_EQ(text(meant / "deep/x.h"), "one");
  }
  for (const char* name : {"copy/app/absolute/deep/x.h", "copy/other/y.h", "copy/app/Makefile"})
    std::ofstream(work_ / name) << "changed";
  fs::remove_all(work_ / "copy"), fs::remove_all(work_ / "tree");
  EXPECT_EQ(text(root_ / "common/deep/x.h"), "one");
  EXPECT_EQ(text(root_ / "other/y.h"), "two");
  EXPECT_EQ(text(root_ / "app/Makefile"), "nvcc");
  EXPECT_EQ(text(outside / "data.bin"), "data");
}

TEST_F(SuiteTest, AListIsReadAndItsMistakesAreNamed) {
  file("sub/app.c");
  const Tree tree = list_tree(root_);
  const auto read = [&](const std::string& content) { return read_list(file("list.toml", content), tree); };
  const Projects all = read(
      "[[program]]\nname = \"one\"\nfolder = \"sub/\"\nbuild = \"make\"\nrun = \"./one 3\"\nexpect = "
      "\"OK\"\nlimit = \"2 s\"\n[[program]]\nrun = \"./two\"\n");
  ASSERT_EQ(all.all.size(), 2u);
  EXPECT_EQ(all.all[0].folder, "sub");
  EXPECT_EQ(all.all[0].limit_s, 2);
  EXPECT_EQ(all.all[1].name, "./two");
  const std::pair<const char*, const char*> wrong[] = {
      {"", "no [[program]]"},
      {"[[program]]\nname = \"x\"\n", "neither 'build' nor 'run'"},
      {"[[program]]\nrun = 3\n", "'run' is no text"},
      {"[[program]]\nrun = \"a\"\nspeed = 1\n", "speed"},
      {"[[program]]\nrun = \"a\"\nfolder = \"../..\"\n", "outside"},
      {"[[program]]\nrun = \"a\"\nfolder = \"/etc\"\n", "outside"},
      {"[[program]]\nrun = \"a\"\nfolder = \"none\"\n", "no folder 'none'"},
      {"[[program]]\nrun = \"a\"\nlimit = \"0 s\"\n", "no time above 0"},
      {"[[program]]\nrun = \"a\"\n[[program]]\nrun = \"a\"\n", "two programs"},
      {"[= 1", ""},
  };
  for (const auto& [content, says] : wrong) {
    try {
      read(content);
      ADD_FAILURE() << content;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input) << content;
      EXPECT_THAT(e.format(), HasSubstr(says));
    }
  }
}

TEST_F(SuiteTest, PathsOfAToolkitInMakefilesBecomeOurs) {
  file("common.mk", "CUDA_PATH ?= /usr/local/cuda-11.8\n");
  const fs::path makefile =
      file("Makefile",
           "include common.mk\n-include none.mk\nNVCC := /opt/nvidia/cuda/bin/nvcc -O3 -arch=sm_70   # ours\n"
           "export LIBS = /usr/local/cuda/lib64\nNOT = /usr/local/barracuda\nALSO = nvcc -O2\nTHIS = "
           "$(CUDA_PATH)/bin/nvcc\n"
           "INC=/usr/local/cuda/include\nSAMPLES = /usr/local/cuda/samples\n" +
               std::string(100000, 'x') + " = /usr/local/cuda\n");
  EXPECT_THAT(
      toolkit_variables(makefile, "/tk"),
      ElementsAre("CUDA_PATH=/tk", "INC=/tk/include", "LIBS=/tk/lib64", "NVCC=/tk/bin/nvcc -O3 -arch=sm_70"));
}

TEST_F(SuiteTest, TheFirstErrorIsTheReason) {
  EXPECT_EQ(
      first_error("compiling\n\x1b[1ma.cu:3:5: \x1b[0;31merror: \x1b[0muse of x\nmake: *** [a] Error 1\n"),
      "a.cu:3:5: error: use of x");
  EXPECT_EQ(first_error("one\ntwo\n\n"), "two");
  EXPECT_EQ(first_error(""), "");
  EXPECT_EQ(first_error("/bin/sh: 1: nvcc: not found\nmake: *** [all] Error 127"),
            "/bin/sh: 1: nvcc: not found");
}

TEST_F(SuiteTest, WhatAProgramSaysOfItself) {
  const auto verdict = [](const char* text) {
    const Said said = verdict_of(text);
    return (said.verdict == Verdict::passed ? "+" : said.verdict == Verdict::failed ? "-" : "0") + said.words;
  };
  EXPECT_EQ(verdict("Result = PASS\n"), "+PASS");
  EXPECT_EQ(verdict("Test passed\n"), "+passed");
  EXPECT_EQ(verdict("vectorAdd: FAILED"), "-FAILED");
  EXPECT_EQ(verdict("PASSED\nverification failed at 3\nPASSED\n"), "-failed");
  EXPECT_EQ(verdict("12 tests passed, 0 failed\n"), "+passed");
  EXPECT_EQ(verdict("tests failed: 0\n"), "0");
  EXPECT_EQ(verdict("test did not pass, result NOT CORRECT"), "-pass");
  EXPECT_EQ(verdict("result NOT CORRECT"), "-CORRECT");
  EXPECT_EQ(verdict("the bypass failed to matter, in passing"), "0");
  EXPECT_EQ(verdict("time 3.2 ms\n"), "0");
}

TEST_F(SuiteTest, StateIsKeptAndADamagedFileCountsAsNone) {
  const fs::path path = work_ / "state.json";
  result::SuiteProgram p;
  p.name = "a\xff\n", p.kind = "cuda", p.built = result::SuiteStep::yes, p.ran = result::SuiteStep::no,
  p.reason = "x", p.simulated_ns = 2.5;
  SuiteState(path).keep("a\xff\n", {"s1", {p}});
  const SuiteState again(path);
  ASSERT_NE(again.find("a\xff\n", "s1"), nullptr);
  EXPECT_EQ(again.find("a\xff\n", "s2"), nullptr);
  EXPECT_EQ(again.find("b", "s1"), nullptr);
  const result::SuiteProgram& read = again.find("a\xff\n", "s1")->programs.at(0);
  EXPECT_EQ(read.name, p.name);
  EXPECT_EQ(read.ran, result::SuiteStep::no);
  EXPECT_EQ(read.simulated_ns, 2.5);
  for (const char* content :
       {"", "{", "[]", "{\"version\": 1, \"projects\": {\"x\": 3}}", "{\"version\": 99, \"projects\": {}}"}) {
    std::ofstream(path) << content;
    EXPECT_EQ(SuiteState(path).find("a\xff\n", "s1"), nullptr) << content;
  }
}

class StepTest : public SuiteTest {
 protected:
  StepEnd run(const std::string& script, double seconds = 20, std::uint64_t memory = std::uint64_t{1} << 30,
              std::uint64_t output = 1 << 20, const volatile bool* stop = nullptr) {
    Step s;
    s.argv = {"/bin/sh", "-c", script}, s.folder = root_, s.output = work_ / "out", s.errors = work_ / "err";
    s.environment = {"GIVEN=yes", "HOME"};
    s.seconds = seconds, s.memory_bytes = memory, s.output_bytes = output;
    return run_step(s, stop);
  }

  static bool is_gone(pid_t process) {
    for (int i = 0; i < 200; ++i) {
      // A killed process of which nobody took notice yet is gone, too.
      const std::string status = text(fs::path("/proc") / std::to_string(process) / "stat");
      if (status.empty() || status.find(") Z ") != std::string::npos) return true;
      ::usleep(10000);
    }
    return false;
  }
};

TEST_F(StepTest, OutputEnvironmentAndStatus) {
  const StepEnd end = run("echo $GIVEN${HOME-none}; echo bad >&2; exit 7");
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(text(work_ / "out"), "yesnone\n");
  EXPECT_EQ(text(work_ / "err"), "bad\n");
}

TEST_F(StepTest, LimitsEndIt) {
  EXPECT_EQ(run("sleep 60", 0.3).stopped, StepEnd::Stopped::time);
  EXPECT_EQ(run("trap '' TERM; while :; do :; done", 0.3).stopped, StepEnd::Stopped::time);
  EXPECT_EQ(run("while :; do echo a long line of text; done", 20, std::uint64_t{1} << 30, 100000).stopped,
            StepEnd::Stopped::output);
  EXPECT_EQ(run("x=a; while :; do x=$x$x; done", 30, std::uint64_t{64} << 20).stopped,
            StepEnd::Stopped::memory);
  const volatile bool stop = true;
  EXPECT_EQ(run("sleep 60", 20, std::uint64_t{1} << 30, 1 << 20, &stop).stopped, StepEnd::Stopped::wish);
}

// Also of one that left the process group and the session.
TEST_F(StepTest, WhatAProgramLeavesBehindIsEnded) {
  const fs::path mark = work_ / "pid";
  EXPECT_EQ(run("setsid sh -c 'echo $$ > " + mark.string() +
                "; exec sleep 300' > /dev/null 2>&1 & while [ ! -s " + mark.string() + " ]; do :; done")
                .status,
            0);
  const pid_t left = std::atoi(text(mark).c_str());
  ASSERT_GT(left, 1);
  EXPECT_TRUE(is_gone(left));
}

// It has no environment at the moment at which it becomes another program.
TEST_F(StepTest, WhatIsLeftBehindAsItBecomesAnotherProgramIsEnded) {
  const fs::path mark = work_ / "pid", script = file("again.sh", "exec sh $0\n");
  for (int i = 0; i < 25; ++i) {
    fs::remove(mark);
    run("setsid sh -c 'echo $$ > " + mark.string() + "; exec sh " + script.string() +
        "' > /dev/null 2>&1 & while [ ! -s " + mark.string() + " ]; do :; done; sleep 0.00" +
        std::to_string(i % 10));
    const pid_t left = std::atoi(text(mark).c_str());
    ASSERT_GT(left, 1);
    ASSERT_TRUE(is_gone(left)) << i;
  }
}

TEST_F(SuiteTest, AToolkitIsLaidOutAgainButNeverOverOtherFiles) {
  const ToolkitParts parts{"/bin/true", root_, root_};
  file("libcudart.so.12");
  for (int i = 0; i < 2; ++i) lay_out_toolkit(work_ / "tk", parts);
  EXPECT_EQ(fs::read_symlink(work_ / "tk/bin/nvcc"), "/bin/true");
  EXPECT_THAT(text(work_ / "tk/lib64/libcudart_static.a"),
              HasSubstr((work_ / "tk/lib64/libcudart.so.12").string()));
  file("mine/notes.txt", "mine");
  EXPECT_THROW(lay_out_toolkit(root_ / "mine", parts), Error);
  EXPECT_THROW(lay_out_toolkit(root_ / "libcudart.so.12", parts), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "mine"), {}), 1);
}

}  // namespace
}  // namespace simtlab::studies
